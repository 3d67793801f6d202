"""Which columns a query reads, and which models and exposures read a column of a stream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest import settings
from ingest.declarations.project import parsed
from ingest.lineage.queries import read_by
from ingest.lineage.readers import Readers, readers_of
from ingest.lineage.relations import Unresolvable
from ingest.lineage.rendering import events_table, renderer

# Of these columns it is asked: a plain one, one in a struct, one in structs of an array.
ASKED = {
    "bronze.orders": frozenset({("amount",), ("buyer", "city")}),
    "bronze.baskets": frozenset({("items", "price")}),
}
ORDERS, BASKETS = "from bronze.orders", "from bronze.baskets"
READS = {
    "a star": (f"select * {ORDERS}", "amount buyer.city"),
    "its name": (f"select amount {ORDERS}", "amount"),
    "its name in capitals": (f"select `AMOUNT` as a {ORDERS}", "a"),
    "a name with the table's": ("select o.amount from bronze.orders as o", "amount"),
    "a name with schema and table": (f"select bronze.orders.amount {ORDERS}", "amount"),
    "an expression": (f"select id, amount * 2 as twice {ORDERS}", "twice"),
    "an expression of an alias": (f"select amount as a, a + 1 as b {ORDERS}", "a b"),
    "a condition": (f"select id {ORDERS} where amount > 1", ""),
    "an order": (f"select id {ORDERS} order by amount", ""),
    "a window": (f"select id, rank() over (order by amount) as n {ORDERS}", "n"),
    "a CTE that nobody uses": (f"with a as (select amount {ORDERS}) select 1 as one", ""),
    "a CTE that is used": (
        f"with a as (select * {ORDERS}), b as (select * from a) select amount from b",
        "amount",
    ),
    "a subquery": (f"select (select max(amount) {ORDERS}) as most", "most"),
    "a subquery's condition": (
        "select id from a where exists (select 1 from bronze.orders as o where o.amount = a.n)",
        "",
    ),
    "a join's condition": (
        "select a.id from a left semi join bronze.orders as o on a.n = o.amount",
        "",
    ),
    "a column of the same name on both sides": (
        "select id from refunds inner join bronze.orders using (amount)",
        "",
    ),
    "a union by place": (f"select n from a union all select amount {ORDERS}", "n"),
    "rows that are taken away": (f"select n from a except select amount {ORDERS}", ""),
    "names of a subquery": (f"select * from (select id, amount {ORDERS}) as a (b, c)", "c"),
    "a struct around it": (f"select buyer as b {ORDERS}", "b.city"),
    "a struct of it": (f"select struct(amount) as s, s.amount as t {ORDERS}", "s t"),
    "all fields of a struct": (f"select buyer.* {ORDERS}", "city"),
    "a field": (f"select buyer.city {ORDERS}", "city"),
    "a function of all columns": (f"select to_json(struct(*)) as j {ORDERS}", "j"),
    "what a variant holds": (f"select variant_get(buyer, '$.city', 'string') as c {ORDERS}", "c"),
    "a field of items": (f"select items[0].price as p {BASKETS}", "p"),
    "rows of items": (f"select i.price as p {BASKETS} lateral view explode(items) t as i", "p"),
    "all but it, by its name": (f"select * except (amount) {ORDERS}", "buyer.city"),
}
READS_NOT = {
    "another name": f"select id {ORDERS}",
    "another field": f"select buyer.name {ORDERS}",
    "another field of items": f"select items[0].name {BASKETS}",
    "another key of a variant": f"select variant_get(buyer, '$.name', 'string') as n {ORDERS}",
    "a star that nobody uses": f"with a as (select * {ORDERS}) select id from a",
    "a count": f"select count(*) as n {ORDERS}",
    "existence": f"select id from a where exists (select * {ORDERS} where id = a.id)",
    "a semi join of other columns": "select * from a left semi join bronze.orders o on a.i = o.i",
    "that name of another table": "select r.amount from r join bronze.orders as o on r.i = o.i",
    "that name in a subquery": f"select id {ORDERS} where id in (select amount from refunds)",
    "that table in another schema": "select amount from silver.orders",
    "a CTE of that name": "with orders as (select 1 as amount) select amount from orders",
}


@pytest.mark.parametrize(("sql", "carried"), READS.values(), ids=READS)
def test_a_query_reads_a_column_by(sql: str, carried: str) -> None:
    is_read, found = read_by(sql, ASKED)
    assert is_read
    assert {".".join(path) for path in found} == set(carried.split())


@pytest.mark.parametrize("sql", READS_NOT.values(), ids=READS_NOT)
def test_a_query_does_not_read_a_column_by(sql: str) -> None:
    assert read_by(sql, ASKED) == (False, frozenset())


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("select from where", "Expected"),
        ("with recursive r as (select 1) select * from r", "recursive"),
        (f"select * {ORDERS} pivot (sum(amount) for id in (1))", "pivots"),
        (f"select * {ORDERS} natural join a", "natural"),
        (f"select * from (select * {ORDERS}) as a (b, c)", "a star hides"),
    ],
)
def test_unresolvable_readers_are_reported(sql: str, why: str) -> None:
    with pytest.raises(Unresolvable, match=why):
        read_by(sql, ASKED)


Ask = Callable[..., Readers]


@pytest.fixture(scope="module")
def house() -> Ask:
    """Asks who reads a column of this project."""
    manifest = parsed()
    rendered = renderer(manifest)

    def ask(table: str, *path: str) -> Readers:
        return readers_of(manifest, rendered, {table: frozenset({path})})

    return ask


def test_the_readers_of_a_column_are_found_however_far_they_are(house: Ask) -> None:
    amount = house("bronze.shop__orders", "amount")
    between = ("fct_sales", "orders_current", "orders_history", "stg_shop__orders")
    assert amount == Readers(models=("agg_sales_daily", *between), exposures=("sales_report",))
    # The roll-up reads fct_sales, but nothing that comes from this one.
    customer = house("bronze.shop__orders", "customer_id")
    assert customer == Readers(models=between, exposures=("sales_report",))
    page = house("bronze.market__app_events", "jsonpayload", "page")
    assert page.models == ("app_events", "page_view_events", "stg_market__app_events")
    assert house("bronze.shop__orders", "commit_timestamp") == Readers()


def test_columns_that_apply_changes_makes_come_from_its_keys(house: Ask) -> None:
    # valid_from of the history.
    assert "fct_sales" in house("bronze.shop__orders", "ar_h_change_seq").models


FILES = {
    "dbt_project.yml": "name: small\nversion: '1.0'\nconfig-version: 2\nprofile: small\n",
    "profiles.yml": """
small: {target: t, outputs: {t: {type: spark, method: session, host: none, schema: s}}}
""",
    "models/sources.yml": """
sources:
  - {name: web, schema: bronze, tables: [{name: events, identifier: web__events}]}
exposures:
  - {name: board, type: dashboard, owner: {name: Me}, depends_on: ["ref('by_python')"]}
  - {name: wall, type: dashboard, owner: {name: Me}, depends_on: ["source('web', 'events')"]}
""",
    "macros/events_of.sql": "{% macro events_of(source_name, event_type, stream_name='events') %}"
    "{{ source(source_name, stream_name) }}{% endmacro %}",
    "models/inner.sql": "{{ config(materialized='ephemeral') }}"
    "select price from {{ source('web', 'events') }}",
    "models/outer.sql": "select price * 2 as twice from {{ ref('inner') }}",
    "models/typed.sql": "select cost from {{ events_of('web', 'sold') }}",
    "models/later.sql": "{{ config(materialized='incremental') }}"
    "select 1 as one from {{ source('web', 'events') }}"
    "{% if is_incremental() %} where price > 1 {% endif %}",
    "models/by_python.py": "def model(dbt, session):\n    return dbt.ref('outer')\n",
    "models/after_python.sql": "select 1 as one from {{ ref('by_python') }}",
    "models/apart.sql": "select id from {{ source('web', 'events') }}",
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A project with what the house does not have."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    monkeypatch.setattr(settings, "project_dir", lambda: tmp_path)
    return parsed()


def test_ephemeral_incremental_typed_and_python_models_are_read(small: Any) -> None:
    asked = {
        "bronze.web__events": frozenset({("price",)}),
        events_table("web", "events"): frozenset({("cost",)}),
    }
    assert readers_of(small, renderer(small), asked) == Readers(
        models=("inner", "later", "outer", "typed"),
        exposures=("wall",),
        unresolved={
            "after_python": "it reads by_python",
            "board": "it depends on by_python",
            "by_python": "it is written in python",
        },
    )
