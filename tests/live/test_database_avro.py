"""Changes of a real PostgreSQL in Avro, by schemas that the connector registers."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from ingest.databases.connect import Connect
from ingest.errors import ConnectorFailed, GapFound
from ingest.stack.addresses import connect_api
from tests.live.avro import client, record, registered
from tests.live.topics import Topics


def follow(topics: Topics, compatibility: str) -> None:
    """Declare the table of the database `bank`."""
    avro = {"compatibility": compatibility}
    topics.follow("loans", source="bank", format="avro", avro=avro)


def assert_the_same(topics: Topics, database: psycopg.Connection[Any], columns: str) -> None:
    """Land what was committed; the living rows are those of the database."""
    topics.catch_up("loans")
    path = topics.lake.bronze("bank__loans__current")
    found = topics.spark.read.format("delta").load(path)
    names = [one.strip() for one in columns.split(",")]
    there = database.execute(f"select {columns} from loans").fetchall()
    assert {tuple(row) for row in found.select(*names).collect()} == set(there)
    assert (
        topics.spark.read.format("delta")
        .load(topics.lake.bronze("bank__loans__quarantine"))
        .isEmpty()
    )


def test_a_database_lands_in_avro_under_the_declared_compatibility(topics: Topics) -> None:
    with psycopg.connect(topics.database, autocommit=True) as database:
        database.execute("create table loans (id int primary key, owner text, sum numeric(12,2))")
        database.execute(
            "insert into loans select i, 'o' || i, i * 1.01 from generate_series(1, 99) i"
        )
        # A schema of two subjects has one id, and two by which Apicurio counts versions.
        for name in ("lent-value", "borrowed-value"):
            registered(topics, name, record("Lent", ("x", "int")))
        follow(topics, "backward")
        assert_the_same(topics, database, "id, owner, sum")
        subject = "bank.public.loans-value"
        assert client(topics).get_compatibility(subject) == "BACKWARD"
        database.execute("delete from loans where id % 9 = 0")
        database.execute("alter table loans add column country text")
        database.execute("update loans set country = 'fr', sum = -0.01 where id < 5")
        assert_the_same(topics, database, "id, owner, sum, country")
        assert client(topics).get_versions(subject) == [1, 2]
        a_slot_that_is_gone(topics, database)
        a_schema_that_is_refused(topics, database)


def a_slot_that_is_gone(topics: Topics, database: psycopg.Connection[Any]) -> None:
    """The message that removes old rows is of Avro, too."""
    Connect(connect_api(topics.lake)).stop("headwater_bank")
    database.execute("delete from loans where id > 90")
    database.execute("select pg_drop_replication_slot('headwater_bank')")
    with pytest.raises(GapFound):
        topics.catch_up("loans")
    assert topics.recover("loans") == []
    assert_the_same(topics, database, "id, owner, sum, country")


def a_schema_that_is_refused(topics: Topics, database: psycopg.Connection[Any]) -> None:
    """The connector stops, and who lands its changes says why, until the mode allows it."""
    database.execute("alter table loans alter column country type int using 1")
    database.execute("update loans set owner = 'later' where id = 1")
    with pytest.raises(
        ConnectorFailed, match=r"refuses the new schema of subject bank\.public\.loans-value"
    ):
        topics.catch_up("loans")
    follow(topics, "none")
    assert_the_same(topics, database, "id, owner, sum")
