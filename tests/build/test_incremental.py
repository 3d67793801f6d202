"""Incremental models over several builds: merge truth needs more than one."""

from __future__ import annotations

from tests.build.lake import Lake, change, event, names, order


def test_a_late_change_does_not_overwrite_a_newer_one(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 20, status="paid")])
    lake.build("+orders_current")
    lake.land("shop__orders", [order(1, 10, status="placed"), order(2, 0)])
    lake.build("+orders_current")

    found = lake.rows("silver.orders_current", "order_id", "order_status")
    assert found == [(1, "paid"), (2, "placed")]


def test_a_delete_does_not_come_back(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 20, "D", status="paid")])
    lake.build("+orders_current")
    lake.land("shop__orders", [order(1, 10, "I"), order(1, 0)])
    lake.build("+orders_current")

    assert lake.rows("silver.orders_current", "order_id", "is_deleted") == [(1, True)]


def test_a_build_with_nothing_new_writes_nothing(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 10)])
    lake.land("market__app_events", [event("a", "page_viewed")])
    lake.build("+agg_sales_daily", "+app_events")
    tables = (
        "silver.orders_current",
        "silver.app_events",
        "gold.fct_sales",
        "gold.agg_sales_daily",
    )
    before = {table: lake.version(table) for table in tables}
    marks = lake.version("ops.model_marks")
    results = lake.build("+agg_sales_daily", "+app_events")

    assert {table: lake.version(table) for table in tables} == before
    assert lake.version("ops.model_marks") == marks
    messages = {name: results[name].message for name in ("orders_current", "fct_sales")}
    assert messages == {"orders_current": "nothing new", "fct_sales": "nothing new"}
    assert results["stg_shop__orders"].message == "unchanged"


def test_an_event_that_comes_again_in_a_later_build_lands_once(lake: Lake) -> None:
    lake.land("market__app_events", [event("a", "page_viewed", page="home")])
    lake.build("+page_view_events")
    again = event("a", "page_viewed", page="home")
    lake.land("market__app_events", [again, again, event("b", "page_viewed")])
    lake.build("+page_view_events")

    assert names(lake.rows("silver.app_events", "event_id"), "event_id") == ["a", "b"]
    assert names(lake.rows("silver.page_view_events", "event_id"), "event_id") == ["a", "b"]


def test_either_of_two_sources_brings_a_model_up_to_date(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 0, vehicle_id=7), order(2, 0, vehicle_id=8)])
    lake.land("shop__vehicles", [change(0, None, vehicle_id=7, make="Kia", price_eur_cents=100)])
    lake.build("+fct_sales")
    lake.land("shop__vehicles", [change(5, vehicle_id=7, make="Kia", price_eur_cents=90)])
    lake.build("+fct_sales")
    columns = ("order_id", "order_status", "asking_price_eur_cents")
    assert lake.rows("gold.fct_sales", *columns) == [(1, "placed", 90), (2, "placed", None)]

    lake.land("shop__orders", [order(2, 6, vehicle_id=7, status="paid")])
    lake.build("+fct_sales")
    assert lake.rows("gold.fct_sales", *columns) == [(1, "placed", 90), (2, "paid", 90)]


def test_a_roll_up_replaces_only_the_days_that_were_touched(lake: Lake) -> None:
    lake.land("shop__orders", [order(i, 0, status="paid", amount=1) for i in (1, 2, 3)])
    lake.build("+agg_sales_daily")
    lake.land("shop__orders", [order(1, 9, status="cancelled", amount=1)])
    results = lake.build("+agg_sales_daily")

    assert results["agg_sales_daily"].status == "success"
    found = lake.rows("gold.agg_sales_daily", "order_count", "sale_count", "cancelled_count")
    assert found == [(1, 0, 1), (1, 1, 0), (1, 1, 0)]
    history = lake.spark.sql("describe history gold.agg_sales_daily limit 1").collect()[0]
    assert "placed_date" in history["operationParameters"]["predicate"]


def test_a_build_whose_marks_were_not_recorded_may_be_repeated(lake: Lake) -> None:
    """What a build that is killed after its writes leaves behind, once and once more."""
    lake.land("shop__orders", [order(1, 10), order(2, 10)])
    lake.build("+agg_sales_daily")
    lake.land("shop__orders", [order(1, 20, status="paid"), order(2, 20, "D")])
    recorded = lake.version("ops.model_marks")
    for did in ("1 upserted, 1 deleted", "nothing changed", "nothing changed"):
        built = lake.build("+agg_sales_daily")
        assert built["orders_current"].message == did
        assert lake.rows("silver.orders_current", "order_id", "order_status", "is_deleted") == [
            (1, "paid", False),
            (2, "placed", True),
        ]
        assert sum(names(lake.rows("gold.agg_sales_daily", "sale_count"), "sale_count")) == 1
        lake.spark.sql(f"restore table ops.model_marks to version as of {recorded}")
