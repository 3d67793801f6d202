"""The catalog is made from the lake's folders, before anything has landed and after a loss."""

from __future__ import annotations

import shutil

import deltalake

from tests.build.lake import SCHEMAS, Lake, change, order


def test_a_project_builds_before_anything_has_landed(lake: Lake) -> None:
    results = lake.build(tests=True)
    assert {result.status for result in results.values()} <= {"success", "pass", "no-op"}
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


def test_a_stream_becomes_a_table_when_its_first_batch_lands(lake: Lake) -> None:
    lake.build("+orders_current")
    assert lake.spark.catalog.getTable("bronze.shop__orders").tableType == "VIEW"
    lake.land("shop__orders", [order(1, 10)])
    lake.build("+orders_current")

    assert lake.spark.catalog.getTable("bronze.shop__orders").tableType == "EXTERNAL"
    assert len(lake.rows("silver.orders_current")) == 1


def test_a_lost_catalog_costs_no_rebuild(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 10)])
    lake.build("+agg_sales_daily")
    tables = ("silver.orders_current", "gold.fct_sales", "gold.agg_sales_daily")
    before = {table: lake.version(table) for table in tables}
    lose_the_catalog(lake)
    results = lake.build("+agg_sales_daily")

    assert {table: lake.version(table) for table in tables} == before
    assert results["orders_current"].message == "nothing new"
    lake.land("shop__orders", [order(2, 10)])
    lake.build("+fct_sales")
    assert len(lake.rows("gold.fct_sales")) == 2


def test_a_view_is_made_again_only_when_its_text_changes(lake: Lake) -> None:
    lake.land("shop__customers", [change(1, customer_id=1)])
    lake.build("stg_shop__customers")
    lake.spark.sql("alter view silver.stg_shop__customers unset tblproperties ('headwater.code')")
    assert lake.build("stg_shop__customers")["stg_shop__customers"].message == "OK"
    results = lake.build("stg_shop__customers")

    assert results["stg_shop__customers"].message == "unchanged"


def test_every_run_is_recorded_for_people(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 10)])
    lake.build("+orders_current")
    lake.land("shop__orders", [order(1, 20), order(2, 20)])
    lake.build("+orders_current")

    runs = deltalake.DeltaTable(str(lake.path / "ops" / "model_runs")).to_pyarrow_table()
    found = [row for row in runs.to_pylist() if row["node"] == "model.headwater.orders_current"]
    assert [row["status"] for row in found] == ["success", "success"]
    assert sorted(row["rows_affected"] for row in found) == [1, 2]
    assert all(row["seconds"] > 0 and row["started_at"] for row in found)


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
