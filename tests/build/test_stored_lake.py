"""Models built by commit c02def0 are continued by today's macros."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date

import pytest

from tests.build.lake import NOON, SCHEMAS, Lake, order
from tests.stored import unpack

SELECT = "+agg_sales_daily"
CHANGED = ("silver.orders_current", "silver.orders_history", "gold.fct_sales")
UNCHANGED = ("silver.customers_history", "silver.vehicles_current", "silver.vehicles_history")


@pytest.fixture(scope="module")
def stored(shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """The stored lake as the lake of these tests."""
    shared_lake.empty()
    root = tmp_path_factory.mktemp("a stored lake")
    unpack(root)
    for schema in (*SCHEMAS, "bronze_test"):
        shutil.copytree(root / "lake" / schema, shared_lake.path / schema)
    # Batches of the stored lake have lower numbers.
    shared_lake._batch = 100
    yield shared_lake
    shared_lake.spark.sql("drop schema if exists bronze_test cascade")
    shutil.rmtree(shared_lake.path / "bronze_test", ignore_errors=True)
    shared_lake.empty()


def operations(lake: Lake, table: str, since: int) -> list[str]:
    """Operations of the commits of a table past a version."""
    history = lake.spark.sql(f"describe history {table}").collect()
    return [row["operation"] for row in history if row["version"] > since]


@pytest.mark.long
def test_stored_models_continue_incrementally(stored: Lake) -> None:
    before = {table: stored.version(table) for table in (*CHANGED, *UNCHANGED)}
    # Nothing is new: tables that older code built get their change data feed.
    stored.build(SELECT)
    _, second = stored.rows("gold.agg_sales_daily", "placed_date", "order_count")
    assert tuple(second) == (date(2026, 3, 3), 2)

    shipped = order(1, 30, status="shipped", amount=100, placed_at=NOON)
    late = order(2, 19, status="paid", amount=200)
    stored.land("shop__orders", [shipped, late, order(4, 31, "I", amount=7, placed_at=NOON)])
    stored.build(SELECT)

    for table in CHANGED:
        found = operations(stored, table, before[table])
        assert "MERGE" in found, table
        assert not [one for one in found if "REPLACE" in one], table
    for table in UNCHANGED:
        assert operations(stored, table, before[table]) == ["SET TBLPROPERTIES"], table
    current = stored.rows("silver.orders_current", "order_id", "order_status", "is_deleted")
    assert [tuple(row) for row in current] == [
        (1, "shipped", False),
        (2, "placed", True),
        (3, "placed", False),
        (4, "placed", False),
    ]
    history = stored.rows("silver.orders_history", "order_id", "order_status")
    statuses = [row["order_status"] for row in history if row["order_id"] == 1]
    assert sorted(statuses) == ["paid", "placed", "shipped"]
    daily = stored.rows("gold.agg_sales_daily", "placed_date", "order_count")
    assert [tuple(row) for row in daily] == [(date(2026, 3, 2), 2), (date(2026, 3, 3), 2)]
