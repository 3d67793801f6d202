"""Changes of a real PostgreSQL in Avro, by schemas that the connector registers."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from ingest.client_properties import connect_api
from ingest.connectors.connect import Connect
from ingest.errors import ConnectorFailed, GapFound
from tests.live.avro import client, framed, record, registered
from tests.live.topics import Topics, masked
from tests.spark.workshop import node

# What nobody may see, and how it is hidden.
SECRET = "a-private-text"
MASKS = {"iban": "hash", "remark": "redact"}


def follow(topics: Topics, compatibility: str) -> None:
    """Declare the table of the database `bank`."""
    avro = {"compatibility": compatibility}
    topics.follow("loans", source="bank", masks=MASKS, format="avro", avro=avro)


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


def test_what_is_masked_is_in_no_table(topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_MASK_KEY", "secret")
    hidden = {"iban": SECRET, "remark": SECRET}
    schema = record("Till", ("id", "long"), ("iban", "string"), ("remark", "string"))
    for table, form in (("tills", "json"), ("coins", "avro")):
        declared = {"from": "kafka", "topic": table, "format": form}
        topics.declare(table, masked(node(f"test.{table}", declared), MASKS))
    topics.make("tills")
    topics.send("tills", [{"id": 1, **hidden}, {"IBAN": SECRET}, f'{{"iban":"{SECRET}'.encode()])
    topics.make("coins")
    number = registered(topics, "coins-value", schema)
    whole = framed(number, schema, {"id": 1, **hidden})
    topics.send("coins", [whole, whole[:-1], whole.replace(number.to_bytes(4, "big"), b"none")])
    for table, landed, refused in (("tills", 2, 1), ("coins", 1, 2)):
        topics.land(table)
        assert topics.table(table).count() == landed
        assert topics.table(f"{table}__quarantine").count() == refused
        assert_hidden(topics, f"test__{table}")


def assert_hidden(topics: Topics, table: str, *more: str) -> None:
    """The secret is nowhere, and what stands for it is where it should be."""
    names = (table, f"{table}__quarantine", *more)
    assert topics.mentions(SECRET, "ops/event_schemas", *(f"bronze/{one}" for one in names)) == []
    for one in (table, *more):
        rows = topics.spark.read.format("delta").load(topics.lake.bronze(one))
        (shown,) = rows.where("id = 1").selectExpr("length(iban)", "remark").distinct().collect()
        assert tuple(shown) == (64, "[redacted]")


@pytest.mark.long
def test_a_database_lands_in_avro_under_the_declared_compatibility(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_MASK_KEY", "secret")
    with psycopg.connect(topics.database, autocommit=True) as database:
        database.execute(
            "create table loans (id int primary key, owner text, sum numeric(12,2), iban text, "
            "remark text)"
        )
        # What was there before is sent, too.
        database.execute("alter table loans replica identity full")
        database.execute(
            f"insert into loans select i, 'o' || i, i * 1.01, '{SECRET}', '{SECRET}' "
            "from generate_series(1, 99) i"
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
        a_message_that_is_none(topics)


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


def a_message_that_is_none(topics: Topics) -> None:
    """In quarantine it has no bytes."""
    topics.send("bank.public.loans", [SECRET.encode()])
    topics.catch_up("loans")
    assert_hidden(topics, "bank__loans", "bank__loans__current")
