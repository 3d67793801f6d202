"""Changes of a real PostgreSQL, through Debezium and Kafka, to the rows that it has itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.live.topics import Topics

CONNECTOR = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "127.0.0.1",
    "database.user": "postgres",
    "database.dbname": "shop",
    "plugin.name": "pgoutput",
    "publication.autocreate.mode": "filtered",
    "topic.prefix": "bank",
    "table.include.list": "public.accounts",
    "skipped.operations": "none",
    "provide.transaction.metadata": "true",
    "heartbeat.interval.ms": "500",
}
LONG = "md5(i::text) || repeat(md5((i + 1)::text), 200)"


@pytest.fixture(scope="module")
def database(topics: Topics) -> Iterator[psycopg.Connection[Any]]:
    """The shop's database, whose accounts a connector follows."""
    with psycopg.connect(topics.database, autocommit=True) as database:
        database.execute(
            "create table accounts (id int primary key, owner text, balance numeric(12,2), "
            "note text, seen_at timestamptz)"
        )
        database.execute("alter table accounts alter column note set storage external")
        database.execute(
            f"insert into accounts select i, 'owner ' || i, i * 1.01, {LONG}, now() "
            "from generate_series(1, 200) i"
        )
        port = database.info.port
        asked = {"name": "bank", "config": CONNECTOR | {"database.port": port}}
        topics.post("/connectors", asked)
        yield database


def settled(topics: Topics, database: psycopg.Connection[Any]) -> None:
    """Land changes until one that was made last has come. A snapshot may have overtaken a first."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        mark = 1_000_000 + int(time.monotonic())
        database.execute("insert into accounts (id, owner) values (%s, 'mark')", [mark])
        database.execute("delete from accounts where id = %s", [mark])
        time.sleep(1.5)
        topics.land("accounts")
        if not topics.table("accounts").where(f"id = {mark} and op = 'd'").isEmpty():
            return
    raise AssertionError("the mark has not come")


def assert_the_same(topics: Topics, database: psycopg.Connection[Any]) -> None:
    there = database.execute(
        "select id, owner, balance, md5(note), "
        "to_char(seen_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US') from accounts"
    )
    found = topics.rows(
        "accounts__current",
        *("id", "owner", "balance", "md5(cast(note as binary))"),
        "date_format(seen_at, 'yyyy-MM-dd HH:mm:ss.SSSSSS')",
    )
    assert {tuple(row) for row in found} == set(there.fetchall())


def test_the_living_rows_are_those_of_the_database(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    topics.subscribe(
        "accounts",
        {"id": "bigint", "balance": "decimal(12,2)", "seen_at": "timestamp"},
        topic="bank.public.accounts",
        envelope="debezium",
        key=["id"],
        keep_current=True,
    )
    settled(topics, database)
    assert_the_same(topics, database)
    with database.transaction():
        # What is long and does not change is not sent.
        database.execute("update accounts set balance = balance + 1 where id % 2 = 0")
        database.execute("update accounts set note = 'short' where id % 7 = 0")
        database.execute("delete from accounts where id % 10 = 3")
        database.execute("insert into accounts values (3, 'came back', -1, null, null)")
    database.execute("update accounts set id = id + 5000, note = owner where id in (10, 20, 30)")
    settled(topics, database)
    assert_the_same(topics, database)
    database.execute("alter table accounts add column country text default 'de'")
    database.execute("update accounts set country = 'fr' where id = 1")
    settled(topics, database)
    assert_the_same(topics, database)
    country = topics.table("accounts__current").where("id = 1").selectExpr("country").collect()
    assert [row.country for row in country] == ["fr"]
    database.execute("truncate accounts")
    database.execute("insert into accounts (id, owner) values (1, 'alone')")
    settled(topics, database)
    assert_the_same(topics, database)
