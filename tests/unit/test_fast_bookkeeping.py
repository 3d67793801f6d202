"""What `ingest serve` writes down and looks up for its own dbt, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, TableFeatures, write_deltalake

from ingest.serve.fast_bookkeeping import FastBookkeeping
from ingest.storage import delta_log
from ingest.storage.layout import Lake

NOW = datetime(2026, 11, 26, 22, 41, 0, 5, UTC)
RUNS = pa.schema(
    [("node", pa.string()), ("rows", pa.int64()), ("started_at", pa.timestamp("us", "UTC"))]
)


@pytest.fixture
def records(tmp_path: Path) -> FastBookkeeping:
    """Of a lake with one table of bookkeeping, which has no rows."""
    lake = Lake(str(tmp_path))
    write_deltalake(lake.ops("model_runs"), RUNS.empty_table())
    return FastBookkeeping(lake, lambda: True)


def test_rows_are_written_in_one_commit(records: FastBookkeeping) -> None:
    # As dbt has them: whole numbers as decimals, times in UTC that do not say so.
    rows: list[list[Any]] = [
        ["model.a", Decimal(3), NOW.replace(tzinfo=None)],
        ["model.b", None, None],
    ]
    assert records.append("model_runs", rows)
    path = records.lake.ops("model_runs")
    assert delta_log.version(path) == 1
    assert sorted(delta_log.rows(path).to_pylist(), key=lambda row: str(row["node"])) == [
        {"node": "model.a", "rows": 3, "started_at": NOW},
        {"node": "model.b", "rows": None, "started_at": None},
    ]


def test_a_table_that_asks_more_of_writers_is_left_to_spark(records: FastBookkeeping) -> None:
    path = records.lake.ops("model_runs")
    DeltaTable(path).alter.add_feature(
        TableFeatures.RowTracking, allow_protocol_versions_increase=True
    )
    version = delta_log.version(path)
    assert not records.append("model_runs", [["model.a", 3, NOW]])
    assert delta_log.version(path) == version


def test_where_another_dbt_may_write_spark_does(records: FastBookkeeping) -> None:
    beside = FastBookkeeping(records.lake, lambda: False)
    assert not beside.append("model_runs", [["model.a", 3, NOW]])
    assert delta_log.version(records.lake.ops("model_runs")) == 0


def test_newest_commit_is_reported(records: FastBookkeeping) -> None:
    path = records.lake.table("silver", "orders")
    write_deltalake(path, pa.table({"id": [1, 2]}))
    # A text may have what Python takes for the end of a line.
    told = CommitProperties(custom_metadata={"about": "one\u2028two"})
    rows = pa.table({"id": [3, 4, 5]})
    write_deltalake(path, rows, mode="append", commit_properties=told)
    DeltaTable(path).create_checkpoint()
    commit = records.last_commit("silver", "orders")
    assert commit
    assert commit["operation"] == "WRITE"
    assert commit["operationMetrics"]["num_added_rows"] == 3
    assert commit["version"] == 1


def test_a_table_is_as_large_as_its_files(records: FastBookkeeping) -> None:
    path = records.lake.table("silver", "orders")
    for rows in ([1, 2], [3]):
        write_deltalake(path, pa.table({"id": rows}), mode="append")
    files = Path(path).glob("*.parquet")
    assert records.table_bytes("silver", "orders") == sum(one.stat().st_size for one in files)


def test_table_outside_the_lake_is_not_reported(records: FastBookkeeping) -> None:
    assert records.last_commit("silver", "customers") is None
    assert records.table_bytes("silver", "customers") is None


VIEWED = [datetime(2026, 11, 26, 22, minute, tzinfo=UTC) for minute in (41, 42, 43)]


@pytest.fixture
def views(records: FastBookkeeping) -> FastBookkeeping:
    """A lake with a table of views: two in a file of batch 1, one each of the batches 2 and 3."""
    path = records.lake.table("silver", "views")
    for batches, minutes in (([1, 1], VIEWED[1::-1]), ([2, 3], [VIEWED[2], None])):
        times = pa.array(minutes, pa.timestamp("us", "UTC"))
        numbers = pa.array(batches, pa.int64())
        rows = pa.table({"minute": times, "page": ["a"] * len(times), "_batch_id": numbers})
        write_deltalake(path, rows, mode="append")
    return records


@pytest.mark.parametrize(
    ("after", "up_to", "found"),
    [(0, 1, VIEWED[:2]), (1, 3, [VIEWED[2], None]), (2, 3, [None]), (3, 3, [])],
)
def test_values_are_those_of_unread_batches(
    views: FastBookkeeping, after: int, up_to: int, found: list[datetime | None]
) -> None:
    texts = [one.isoformat(" ") if one else None for one in found]
    told = views.affected_values(("silver", "views"), "minute", "_batch_id", (after, up_to))
    assert told == ("timestamp", texts)


@pytest.mark.parametrize("column", ["page", "date(minute)", "gone"])
def test_spark_scans_for_values_without_statistics(views: FastBookkeeping, column: str) -> None:
    assert views.affected_values(("silver", "views"), column, "_batch_id", (0, 3)) is None


def test_spark_looks_for_values_of_many_rows(
    views: FastBookkeeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.serve.fast_bookkeeping._MOST_ROWS", 2)
    assert views.affected_values(("silver", "views"), "minute", "_batch_id", (1, 2))
    assert views.affected_values(("silver", "views"), "minute", "_batch_id", (0, 2)) is None


def test_a_file_from_before_the_column_has_nulls_of_it(views: FastBookkeeping) -> None:
    path = views.lake.table("silver", "views")
    rows = pa.table({"_batch_id": pa.array([4], pa.int64()), "page_number": [7]})
    write_deltalake(path, rows, mode="append", schema_mode="merge")
    assert views.affected_values(("silver", "views"), "page_number", "_batch_id", (0, 4)) == (
        "bigint",
        ["7", None],
    )


def test_spark_looks_where_columns_have_other_names_in_files(views: FastBookkeeping) -> None:
    path = views.lake.table("silver", "views")
    first = min(Path(path, "_delta_log").glob("*.json"))
    mapped = '"configuration":{"delta.columnMapping.mode":"name"}'
    assert '"configuration":{}' in first.read_text()
    first.write_text(first.read_text().replace('"configuration":{}', mapped))
    assert views.affected_values(("silver", "views"), "minute", "_batch_id", (0, 3)) is None
