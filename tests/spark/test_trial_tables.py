"""Tables of trials: what is compared of two of them, and what is copied for a trial."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ingest.event_types import ops_table
from ingest.event_types.ops_table import Registered
from ingest.serve.driver_state import DriverState
from ingest.spark import delta_tables
from ingest.storage.layout import Lake
from ingest.trials.comparison import ColumnChange, TableChange, compared
from ingest.trials.scratch import Scratch

MOST = 2**63 - 1


def change(
    spark: SparkSession,
    columns: str,
    before: list[tuple[Any, ...]],
    after: list[tuple[Any, ...]],
    *key: str,
) -> TableChange:
    old, new = (spark.createDataFrame(rows, columns) for rows in (before, after))
    return compared("silver.t", old, new, key)


def test_versions_of_a_key_are_compared_by_their_start(spark: SparkSession) -> None:
    columns = "id int, __START_AT int, name string"
    before = [(1, start, "a") for start in range(3)]
    after = [(1, 0, "a"), (1, 1, "b"), (1, 2, "a"), (1, 3, "a")]
    found = change(spark, columns, before, after, "id", "__START_AT")
    assert (found.added, found.removed, found.changed) == (1, 0, 1)
    assert found.columns == {"name": ColumnChange(1)}


def test_rows_that_repeat_a_key_are_compared_whole(spark: SparkSession) -> None:
    twice, once = [(1, "a"), (1, "b"), (1, "b")], [(1, "a")]
    for before, after, added, removed in ((twice, once, 0, 2), (once, twice, 2, 0)):
        found = change(spark, "id int, name string", before, after, "id")
        assert (found.added, found.removed, found.changed) == (added, removed, 0)


def test_a_null_is_a_key_like_any_other(spark: SparkSession) -> None:
    found = change(spark, "id int, name string", [(None, "a")], [(None, "b")], "id")
    assert (found.added, found.removed, found.changed) == (0, 0, 1)
    found = change(spark, "id int, name string", [(None, "a")] * 2, [(None, "b")], "id")
    assert (found.added, found.removed, found.changed) == (1, 2, 0)


def test_timestamps_differ_by_a_microsecond(spark: SparkSession) -> None:
    early = datetime(2026, 3, 1, 12, 0, 0, 1)  # noqa: DTZ001
    late = early.replace(microsecond=2)
    for kind in ("timestamp", "timestamp_ntz"):
        found = change(spark, f"id int, at {kind}", [(1, early)], [(1, late)], "id")
        assert found.changed == 1
        found = change(spark, f"id int, at {kind}", [(1, early)], [(1, late)])
        assert (found.added, found.removed) == (1, 1)


def test_sums_overflow_no_type_and_are_of_numbers_only(spark: SparkSession) -> None:
    found = change(spark, "id int, size bigint", [(1, MOST), (2, MOST)], [(1, MOST), (2, 0)], "id")
    assert found.columns == {"size": ColumnChange(1, 2.0**64, 2.0**63)}
    old = spark.createDataFrame([(1, "many")], "id int, size string")
    new = spark.createDataFrame([(1, 3)], "id int, size int")
    assert compared("silver.t", old, new, ["id"]).columns == {"size": ColumnChange(1)}


def test_a_type_with_a_table_of_its_own_is_a_view_in_a_trial(
    spark: SparkSession, tmp_path: Path
) -> None:
    real, lake = Lake(str(tmp_path / "real")), Lake(str(tmp_path / "trial"))
    delta_tables.register(real, [("shop__events", "shop.events", "bronze")])
    ops_table.ensured(spark, real)
    now = datetime.now(UTC)
    ops_table.replace_types(real, "shop.events", [registered(now)])
    Scratch("check", str(tmp_path), real, lake, NoLease()).copy_ops(spark, ["shop__events"])
    (copied,) = ops_table.registered(lake)
    assert copied.newest("/nowhere") == "select * except (_payload)\nfrom (select 1 as _payload)"
    state = DriverState(lake, []).for_macros()
    assert state["tables"] == ["ops.event_types", "shop__events"]
    assert "filled_batch_id" not in state["types"][0]


class NoLease:
    """A lease that nobody asks for."""

    def check(self) -> None:
        """See Lease."""


def registered(now: datetime) -> Registered:
    """A type whose own table holds what landed up to a batch."""
    return Registered(
        stream="shop.events",
        event_type="sold",
        table_schema="bronze_shop",
        table_name="sold",
        bronze_table="bronze.shop__events",
        per_type="tables",
        event_group="all",
        version=1,
        schema="{}",
        rescued=[],
        pending=None,
        is_pinned=False,
        variations=[],
        events=1,
        first_seen=now,
        last_seen=now,
        counted_batch_id=8,
        last_grown=now,
        changed_at=now,
        query="select 1 as _payload",
        table_columns="id",
        filled_batch_id=8,
        filled_version=1,
        layout="a",
        filled_layout="a",
    )
