"""Builds one after the other on one lake: merge truth needs more than one."""

from __future__ import annotations

import datetime as dt
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row

from tests.build import process
from tests.build.lake import NOON, SCHEMAS, Lake, Record, change, event, names, order

MODELS = ("+agg_sales_daily", "+page_view_events")
TABLES = (
    *("silver.orders_current", "silver.orders_current__quarantine", "silver.orders_history"),
    *("silver.orders_history__memory", "silver.app_events", "silver.page_view_events"),
    *("gold.fct_sales", "gold.agg_sales_daily"),
)
MARKS = "ops.model_marks"
DAYS = [NOON + dt.timedelta(days=number) for number in (10, 11, 12)]


@dataclass(frozen=True, slots=True)
class Built:
    """What a build said, and the versions of the tables that it left."""

    lake: Lake
    results: Any
    versions: dict[str, int]

    def rows(self, table: str, *columns: str) -> list[Row]:
        """Rows of a table as this build left it, in one order."""
        return self.lake.rows(table, *columns, version=self.versions[table])

    def orders(self, table: str, *columns: str, ids: tuple[int, ...]) -> list[Row]:
        """Those rows of a table that are about some orders."""
        return [row for row in self.rows(table, "order_id", *columns) if row["order_id"] in ids]

    def said(self, model: str) -> str:
        """The message of a model."""
        return str(self.results[model].message)

    def newest_commit(self, table: str) -> Any:
        """What Delta knows about the commit that made this version."""
        [commit] = [
            row
            for row in self.lake.spark.sql(f"describe history {table}").collect()
            if row["version"] == self.versions[table]
        ]
        return commit


@dataclass(frozen=True, slots=True)
class Builds:
    """Builds in the order in which they were made, and a lake as it was before one of them."""

    first: Built
    of_other_streams: Built
    of_orders: Built
    of_nothing: Built
    repeated: tuple[Built, Built]
    before_orders: Path


def first_records() -> dict[str, list[Record]]:
    """What lands before the first build."""
    paid = [
        order(number, 0, status="paid", amount=1, placed_at=at)
        for number, at in zip((11, 12, 13), DAYS, strict=True)
    ]
    orders = [
        order(1, 20, status="paid"),
        order(2, 20, "D", status="paid"),
        *(order(3, 10), order(3, 30, status="shipped"), order(4, 10)),
        *(order(6, 10), order(7, 10), *paid),
        *(order(21, 0, vehicle_id=70), order(22, 0, vehicle_id=80), order(30, 0)),
    ]
    vehicle = change(0, None, vehicle_id=70, make="Kia", price_eur_cents=100)
    page = event("a", "page_viewed", page="home")
    return {"shop__orders": orders, "shop__vehicles": [vehicle], "market__app_events": [page]}


def later_orders() -> list[Record]:
    """What lands before the third build: orders alone."""
    nobody = {**order(9, 30), "order_id": None}
    return [
        *(order(1, 10, status="placed"), order(2, 10, "I"), order(2, 0)),
        *(order(3, 20, status="paid"), order(3, 40, "D"), order(4, 15)),
        *(order(6, 20, status="paid"), order(6, 20, status="cancelled")),
        *(order(7, 5), order(8, 9, "D"), nobody),
        order(11, 9, status="cancelled", amount=1, placed_at=DAYS[0]),
        order(22, 6, vehicle_id=70, status="paid"),
    ]


@pytest.fixture(scope="module")
def builds(shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    """All builds of this file, each after something else has landed."""
    lake = shared_lake
    lake.empty()

    def built() -> Built:
        results = lake.build(*MODELS)
        found = [
            table for table in (*TABLES, MARKS) if (lake.folder(table) / "_delta_log").is_dir()
        ]
        return Built(lake, results, {table: lake.version(table) for table in found})

    for table, records in first_records().items():
        lake.land(table, records)
    first = built()
    lake.land("shop__vehicles", [change(5, vehicle_id=70, make="Kia", price_eur_cents=90)])
    again = event("a", "page_viewed", page="home")
    lake.land("market__app_events", [again, again, event("b", "page_viewed")])
    of_other_streams = built()
    lake.land("shop__orders", later_orders())
    before_orders = tmp_path_factory.mktemp("before") / "lake"
    for schema in SCHEMAS:
        shutil.copytree(lake.path / schema, before_orders / schema)
    of_orders, of_nothing = built(), built()
    repeated = []
    for _ in range(2):
        recorded = of_other_streams.versions[MARKS]
        lake.spark.sql(f"restore table {MARKS} to version as of {recorded}")
        repeated.append(built())
    return Builds(
        first, of_other_streams, of_orders, of_nothing, (repeated[0], repeated[1]), before_orders
    )


def test_a_late_change_does_not_overwrite_a_newer_one(builds: Builds) -> None:
    found = builds.of_orders.orders("silver.orders_current", "order_status", ids=(1,))
    assert found == [(1, "paid")]


def test_a_delete_does_not_come_back(builds: Builds) -> None:
    found = builds.of_orders.orders("silver.orders_current", "is_deleted", ids=(2,))
    assert found == [(2, True)]


def test_a_late_change_splits_a_version(builds: Builds) -> None:
    columns = ("order_status", "valid_from", "valid_to")
    found = builds.of_orders.orders("silver.orders_history", *columns, ids=(3, 4))
    assert found == [
        (3, "paid", f"{20:035d}", f"{30:035d}"),
        (3, "placed", f"{10:035d}", f"{20:035d}"),
        (3, "shipped", f"{30:035d}", f"{40:035d}"),
        (4, "placed", f"{10:035d}", None),
    ]
    said = "9 upserted, 1 deleted, 4 closed, 5 late, 1 tied, 1 quarantined"
    assert builds.of_orders.said("orders_history") == said


def test_build_effects_are_reported_and_recorded(builds: Builds) -> None:
    said = "4 upserted, 2 deleted, 3 late, 1 tied, 1 quarantined"
    assert builds.of_orders.said("orders_current") == said
    runs = builds.first.lake.spark.sql(
        "select * from ops.model_runs where node = 'model.headwater.orders_current' "
        "order by started_at"
    ).collect()
    assert [row["status"] for row in runs] == ["success"] * 6
    assert all(row["seconds"] > 0 for row in runs)
    assert (runs[0]["rows_affected"], runs[2]["rows_affected"]) == (11, 6)
    third = runs[2]
    assert third["message"] == said
    counted = ("upserted", "deleted", "closed", "late", "tied", "quarantined")
    assert [third[f"rows_{name}"] for name in counted] == [4, 2, 0, 3, 1, 1]


def test_a_row_without_a_key_is_kept_with_its_reason(builds: Builds) -> None:
    [refused] = builds.of_orders.rows("silver.orders_current__quarantine")
    assert (refused["_reason_code"], refused["_reason"]) == ("NULL_KEY", "null in order_id")
    assert '"order_id":null' in refused["_row"]


def test_a_build_with_nothing_new_writes_nothing(builds: Builds) -> None:
    assert builds.of_nothing.versions == builds.of_orders.versions
    for model in ("orders_current", "orders_history", "app_events", "fct_sales"):
        assert builds.of_nothing.said(model) == "nothing new"
    assert builds.of_nothing.said("stg_shop__orders") == "unchanged"


def test_an_event_that_comes_again_in_a_later_build_lands_once(builds: Builds) -> None:
    for table in ("silver.app_events", "silver.page_view_events"):
        found = builds.of_other_streams.rows(table, "event_id")
        assert names(found, "event_id") == ["a", "b"]


def test_either_of_two_sources_brings_a_model_up_to_date(builds: Builds) -> None:
    columns = ("order_status", "asking_price_eur_cents")
    found = builds.of_other_streams.orders("gold.fct_sales", *columns, ids=(21, 22))
    assert found == [(21, "placed", 90), (22, "placed", None)]
    assert builds.of_other_streams.said("orders_current") == "nothing new"
    found = builds.of_orders.orders("gold.fct_sales", *columns, ids=(21, 22))
    assert found == [(21, "placed", 90), (22, "paid", 90)]


def test_a_roll_up_replaces_only_the_days_that_were_touched(builds: Builds) -> None:
    days = {at.date(): at for at in DAYS}
    columns = ("placed_date", "order_count", "sale_count", "cancelled_count")
    rows = builds.of_orders.rows("gold.agg_sales_daily", *columns)
    assert [tuple(row)[1:] for row in rows if row["placed_date"] in days] == [
        *((1, 0, 1), (1, 1, 0), (1, 1, 0))
    ]
    commit = builds.of_orders.newest_commit("gold.agg_sales_daily")
    predicate = commit["operationParameters"]["predicate"]
    assert "placed_date" in predicate
    assert [str(day) in predicate for day in days] == [True, False, False]


def test_a_merge_searches_only_the_days_of_its_input(builds: Builds) -> None:
    merge = builds.of_other_streams.newest_commit("silver.app_events")
    assert merge["operation"] == "MERGE"
    assert re.search(r"event_date#\d+ >= 2026-03-02", merge["operationParameters"]["predicate"])


def test_a_merge_by_number_searches_only_the_keys_of_its_input(builds: Builds) -> None:
    merge = builds.of_orders.newest_commit("silver.orders_current")
    assert re.search(r"order_id#\d+L? <= 22", merge["operationParameters"]["predicate"])
    assert merge["operationMetrics"]["numTargetRowsUpdated"] == "5"


def test_build_without_recorded_watermark_can_be_repeated(builds: Builds) -> None:
    """What a build that is killed after its writes leaves behind, once and once more."""
    once = builds.of_orders
    for again in builds.repeated:
        assert again.said("orders_current") == "3 late, 1 tied, 1 quarantined"
        assert set(again.versions) == {*TABLES, MARKS}
        for table in TABLES:
            assert again.rows(table) == once.rows(table), table
        # The history finds before it writes that nothing would change.
        table = "silver.orders_history"
        assert again.versions[table] == once.versions[table]


@pytest.mark.long
def test_a_build_that_is_killed_in_a_merge_and_repeated_ends_the_same(builds: Builds) -> None:
    # A model of gold as well: dbt makes the schemas of what it runs, and tables lie in both.
    apart, models = builds.before_orders, "+orders_current agg_sales_daily"
    killed = process.dbt(apart, models, kill_in="silver.orders_current")
    assert killed.returncode == -signal.SIGKILL
    again = process.dbt(apart, models)
    assert again.returncode == 0, again.stdout

    found = Lake(path=apart, target=apart).rows("silver.orders_current")
    assert found == builds.of_orders.rows("silver.orders_current")
