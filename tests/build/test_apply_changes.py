"""The materialization: what dbt adds to the SQL of macros/changes, over several builds."""

from __future__ import annotations

from typing import Any

from tests.build.lake import Lake, order

HISTORY = ("order_id", "order_status", "valid_from", "valid_to")


def sequence(number: int) -> str:
    """A change's sequence as the source writes it."""
    return f"{number:035d}"


def test_a_late_change_splits_a_version(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 10), order(1, 30, status="shipped"), order(2, 10)])
    lake.build("+orders_history")
    lake.land("shop__orders", [order(1, 20, status="paid"), order(1, 40, "D"), order(2, 15)])
    results = lake.build("+orders_history")

    assert lake.rows("silver.orders_history", *HISTORY) == [
        (1, "paid", sequence(20), sequence(30)),
        (1, "placed", sequence(10), sequence(20)),
        (1, "shipped", sequence(30), sequence(40)),
        (2, "placed", sequence(10), None),
    ]
    assert results["orders_history"].message == "3 upserted, 1 closed, 1 late"


def test_what_a_build_did_is_said_and_recorded(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 10), order(2, 10)])
    lake.build("+orders_current")
    nobody = {**order(3, 30), "order_id": None}
    tie = [order(2, 20, status="paid"), order(2, 20, status="cancelled")]
    lake.land("shop__orders", [order(1, 5), *tie, order(4, 9, "D"), nobody])
    results = lake.build("+orders_current")

    said = "1 upserted, 1 deleted, 1 late, 1 tied, 1 quarantined"
    assert results["orders_current"].message == said
    [recorded] = lake.spark.sql(
        "select rows_upserted, rows_deleted, rows_closed, rows_late, rows_tied, rows_quarantined "
        f"from ops.model_runs where message = '{said}'"
    ).collect()
    assert recorded == (1, 1, 0, 1, 1, 1)
    [refused] = lake.spark.table("silver.orders_current__quarantine").collect()
    assert (refused["_reason_code"], refused["_reason"]) == ("NULL_KEY", "null in order_id")
    assert '"order_id":null' in refused["_row"]


def test_a_build_that_was_not_recorded_may_be_repeated(lake: Lake) -> None:
    """What a build that is killed after its writes leaves behind."""
    lake.land("shop__orders", [order(1, 10), order(2, 10)])
    lake.build("+orders_current", "+orders_history")
    recorded = lake.version("ops.model_marks")
    lake.land("shop__orders", [order(1, 20), order(2, 20, "D"), order(3, 5, "D")])
    lake.build("+orders_current", "+orders_history")
    tables = ("silver.orders_current", "silver.orders_history", "silver.orders_history__memory")
    before = {table: lake.version(table) for table in tables}
    rows = {table: lake.rows(table) for table in tables}
    lake.spark.sql(f"restore table ops.model_marks to version as of {recorded}")
    lake.build("+orders_current", "+orders_history")

    assert {table: lake.rows(table) for table in tables} == rows
    # The history finds before it writes that nothing would change.
    assert lake.version(tables[1]) == before[tables[1]]


def test_a_type_that_does_not_fit_fails_that_model_alone(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 1)])
    lake.build("+orders_current", "+orders_history")
    lake.spark.sql(
        "create or replace table silver.orders_current using delta as "
        "select * except (order_status), date'2026-01-01' as order_status "
        "from silver.orders_current"
    )
    lake.land("shop__orders", [order(1, 2, status="paid")])
    answer: Any = lake.dbt("run", "--select", "orders_current", "orders_history").result
    messages = {result.node.name: str(result.message) for result in answer}

    assert "order_status is date in the table and string in the input" in messages["orders_current"]
    assert "cast it in the model, or build the table anew" in messages["orders_current"]
    assert messages["orders_history"] == "1 upserted, 1 closed"
