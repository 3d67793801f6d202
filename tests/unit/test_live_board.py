"""What the table of `make live` says of each stream and model."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from ingest.runtime.progress import StreamProgress, save_totals
from ingest.storage.layout import Lake
from live import board
from live.board import STREAMS, Board
from live.newest import age_when_landed


def append(table: Path, column: str, *seconds: float) -> None:
    """Append rows that were made at these seconds of Unix time."""
    if column == "source_ts_ms":
        made = pa.array([round(one * 1e3) for one in seconds])
    else:
        moments = [datetime.fromtimestamp(one, UTC) for one in seconds]
        made = pa.array(moments, pa.timestamp("us", "UTC"))
    write_deltalake(table, pa.table({column: made}), mode="append")


@pytest.mark.parametrize("column", ["source_ts_ms", "viewed_at"])
def test_a_latency_is_that_of_the_oldest_row_of_the_newest_batch(
    tmp_path: Path, column: str
) -> None:
    now = time.time()
    append(tmp_path, column, now - 90_000)
    append(tmp_path, column, now - 5_000, now - 1_000)
    # Its files are written anew, and no row is.
    DeltaTable(tmp_path).optimize.compact()
    age = age_when_landed(str(tmp_path), column)
    assert age is not None
    assert 5_000 <= age < 10_000


def test_latency_needs_landed_rows_with_a_time(tmp_path: Path) -> None:
    assert age_when_landed(str(tmp_path / "none"), "viewed_at") is None
    append(tmp_path, "viewed_at", time.time())
    assert age_when_landed(str(tmp_path), "recorded_at") is None


def test_each_stream_and_model_has_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    append(Path(lake.bronze("live__orders")), STREAMS["orders"], time.time() - 90_000)
    totals = StreamProgress(
        stream="live.orders",
        table="live__orders",
        state="running",
        landed=1_234,
        quarantined=5,
        lag=6_789,
        last_batch_at=now,
    )
    save_totals(lake, totals)
    built = {"model": "live_orders_current", "state": "built", "built_at": now, "seconds": 2.5}
    (tmp_path / "_progress" / "_models.json").write_text(json.dumps([built]), "utf-8")
    monkeypatch.setattr(board, "_ago", lambda at: "just now" if at == now else "")
    shown = Board(lake).table()
    names = [str(column.header) for column in shown.columns]
    cells = zip(*(column.cells for column in shown.columns), strict=True)
    lines = {line[0]: dict(zip(names, line, strict=True)) for line in cells}
    assert list(lines) == [*(f"live.{name}" for name in STREAMS), "live_orders_current"]
    orders = lines["live.orders"]
    hours = float(str(orders.pop("latency")).removesuffix(" s").replace(",", "")) / 3_600
    assert round(hours) == 25
    assert orders == {
        "stream, model": "live.orders",
        "state": "running",
        "rows/s": "0",
        "rows": "1,234",
        "lag": "6,789",
        "quarantined": "5",
        "last": "just now",
    }
    events, model = lines["live.events"], lines["live_orders_current"]
    assert (events["state"], events["lag"], events["latency"]) == ("never ran", "", "")
    assert (model["state"], model["last"]) == ("built", "just now")
