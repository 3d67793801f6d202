"""How old rows are counted to be where a table has them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from live.latency import latencies

MODEL = "gold.agg_live_page_views_minutely"


def moment(seconds: float) -> datetime:
    """A moment of Unix time."""
    return datetime.fromtimestamp(seconds, UTC)


def append(lake: Path, schema: str, name: str, **columns: Any) -> None:
    """Append rows to a table."""
    write_deltalake(lake / schema / name, pa.table(columns), mode="append")


def times(*seconds: float) -> pa.Array:
    """Moments of Unix time."""
    return pa.array(list(map(moment, seconds)), pa.timestamp("us", "UTC"))


def test_a_row_is_in_a_model_where_its_table_has_it(tmp_path: Path) -> None:
    """Marks are written down when all models of a build are done."""
    now = time.time()
    for batch, made in ((1, now - 100), (1, now - 100), (1, now - 100), (2, now - 50)):
        append(tmp_path, "bronze", "live__page_views", _batch_id=[batch], viewed_at=times(made))
    append(tmp_path, *MODEL.split("."), page=["a"])
    # The second build found nothing that it had to write.
    recorded = times(now + 1_000, now + 2_000)
    marks = {"model": [MODEL] * 2, "mark": [1, 2], "recorded_at": recorded}
    append(tmp_path, "ops", "model_marks", **marks)
    found = {one.what: one for one in latencies(str(tmp_path), now - 120)}
    bronze, model = found["live.page_views: made to bronze"], found[f"{MODEL}: made to model"]
    graph = found["the whole graph: made to the end of a build"]
    assert 100 <= bronze.parts[-1] < 500
    assert 100 <= model.parts[0] < 500
    assert round(model.parts[-1]) == 2_050
    assert [round(one) for one in graph.by_minute] == [1_100, 2_050]
    assert model.text.endswith(" s; p95 by minute: {:.1f} {:.1f}".format(*model.by_minute))
