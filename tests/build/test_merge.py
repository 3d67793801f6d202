"""The merge that this project writes, and the day on which dbt-spark's own will do."""

from __future__ import annotations

import re
from pathlib import Path

import dbt.include.spark

from tests.build.lake import Lake, event, order

ADAPTER = Path(next(iter(dbt.include.spark.__path__)))


def test_a_merge_searches_only_the_days_of_its_input(lake: Lake) -> None:
    lake.land("market__app_events", [event("a", "page_viewed")])
    lake.build("+app_events")
    lake.land("market__app_events", [event("b", "page_viewed")])
    lake.build("+app_events")

    merge = lake.spark.sql("describe history silver.app_events limit 1").collect()[0]
    assert merge["operation"] == "MERGE"
    assert re.search(r"event_date#\d+ >= 2026-03-02", merge["operationParameters"]["predicate"])


def test_a_merge_by_number_searches_only_the_keys_of_its_input(lake: Lake) -> None:
    lake.land("shop__orders", [order(number, 0) for number in range(5)])
    lake.build("+orders_current")
    lake.land("shop__orders", [order(3, 9), order(4, 9)])
    lake.build("+orders_current")

    merge = lake.spark.sql("describe history silver.orders_current limit 1").collect()[0]
    assert re.search(r"order_id#\d+L? >= 3", merge["operationParameters"]["predicate"])
    assert merge["operationMetrics"]["numTargetRowsUpdated"] == "2"


def test_dbt_spark_still_knows_no_matched_condition() -> None:
    """When this goes red: remove macros/merge/spark__get_merge_sql.sql, or what of it remains."""
    strategies = ADAPTER / "macros" / "materializations" / "incremental" / "strategies.sql"
    assert "matched_condition" not in strategies.read_text()
