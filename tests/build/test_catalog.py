"""The catalog is made from the lake's folders, before anything has landed and after a loss."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.build.lake import SCHEMAS, Lake, order


@pytest.fixture(scope="module")
def before_anything(shared_lake: Lake) -> Any:
    """What a build with its tests says of a lake into which nothing has landed."""
    shared_lake.empty()
    return shared_lake.build(tests=True)


@pytest.fixture(scope="module")
def kinds(shared_lake: Lake, before_anything: Any) -> tuple[str, str]:
    """What the catalog calls the orders before their first batch, and when it has been built."""
    assert before_anything

    def kind() -> str:
        return str(shared_lake.spark.catalog.getTable("bronze.shop__orders").tableType)

    before = kind()
    shared_lake.land("shop__orders", [order(1, 10)])
    shared_lake.build("+agg_sales_daily")
    return before, kind()


def test_a_project_builds_before_anything_has_landed(
    shared_lake: Lake, before_anything: Any
) -> None:
    lake = shared_lake
    assert {result.status for result in before_anything.values()} <= {"success", "pass", "no-op"}
    assert lake.rows("silver.orders_current") == []
    assert lake.rows("gold.agg_sales_daily") == []
    for table, columns in {
        "silver.app_events": ["event_date", "event_type"],
        "silver.orders_current": ["order_id"],
        "gold.dim_customers": ["customer_id"],
        "gold.agg_sales_daily": ["placed_date"],
    }.items():
        detail = lake.spark.sql(f"describe detail {table}").collect()[0]
        assert detail["clusteringColumns"] == columns, "clustered as the model says"

    for command in (
        ["source", "freshness"],
        ["docs", "generate", "--static"],
        ["test", "--select", "orders_current"],
    ):
        answer = lake.dbt(*command)
        assert answer.success, (command, answer.exception)


def test_a_stream_becomes_a_table_when_its_first_batch_lands(
    shared_lake: Lake, kinds: tuple[str, str]
) -> None:
    assert kinds == ("VIEW", "EXTERNAL")
    assert len(shared_lake.rows("silver.orders_current")) == 1


@pytest.mark.usefixtures("kinds")
def test_a_view_is_made_again_only_when_its_text_changes(shared_lake: Lake) -> None:
    view = "stg_shop__orders"
    shared_lake.spark.sql(f"alter view silver.{view} unset tblproperties ('headwater.code')")
    assert shared_lake.build(view)[view].message == "OK"
    assert shared_lake.build(view)[view].message == "unchanged"


@pytest.mark.long
@pytest.mark.usefixtures("kinds")
def test_a_lost_catalog_costs_no_rebuild(shared_lake: Lake) -> None:
    lake = shared_lake
    tables = ("silver.orders_current", "gold.fct_sales", "gold.agg_sales_daily")
    before = {table: lake.version(table) for table in tables}
    lose_the_catalog(lake)
    results = lake.build("+agg_sales_daily")

    assert {table: lake.version(table) for table in tables} == before
    assert results["orders_current"].message == "nothing new"
    lake.land("shop__orders", [order(2, 10)])
    lake.build("+fct_sales")
    assert len(lake.rows("gold.fct_sales")) == 2


def lose_the_catalog(lake: Lake) -> None:
    """What a deleted `_catalog` folder means, without a new process: nothing is known."""
    for folder in (lake.path / schema for schema in SCHEMAS):
        if not folder.is_dir():
            continue
        aside = folder.rename(lake.path / f"_{folder.name}")
        lake.spark.sql(f"drop schema {folder.name} cascade")
        shutil.rmtree(folder, ignore_errors=True)
        aside.rename(folder)
    lake.forget_logs()
