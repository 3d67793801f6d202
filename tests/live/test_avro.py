"""Messages of Avro, with a real registry: by the writer's schema, resolved to the reader's."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from ingest.errors import RegistryUnreachable
from ingest.registry.client import SchemaRegistry
from ingest.stack.stack import Stack
from ingest.storage import delta_log
from tests.live.avro import client, encoded, framed, record, registered
from tests.live.topics import EVENT, Topics
from tests.spark.test_checkpoints import stop_at

JSON_SUITE = Path(__file__).parent.parent / "data" / "json-test-suite"
OLD = record("Order", ("id", "long"), ("amount", "int"), ("customer", "string"))
NEW = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "amount", "type": "double"},
            {"name": "buyer", "aliases": ["customer"], "type": "string"},
            {"name": "currency", "type": "string", "default": "EUR"},
        ],
    }
)


def test_messages_of_any_writer_are_read_as_the_newest_schema_says(topics: Topics) -> None:
    topics.make("orders")
    topics.subscribe("orders", format="avro", key=["id"])
    first = registered(topics, "orders-value", OLD)
    topics.send("orders", [framed(first, OLD, {"id": 1, "amount": 5, "customer": "ann"})])
    topics.land("orders")
    assert [tuple(row) for row in topics.rows("orders", "id", "amount", "customer")] == [
        (1, 5, "ann")
    ]
    client(topics).set_compatibility("orders-value", "NONE")
    second = registered(topics, "orders-value", NEW)
    newer = {"id": 3, "amount": 2.5, "buyer": "cid", "currency": "USD"}
    mixed = [
        framed(first, OLD, {"id": 2, "amount": 7, "customer": "bob"}),
        framed(second, NEW, newer),
    ]
    topics.send("orders", mixed)
    topics.land("orders")
    found = topics.rows("orders", "id", "amount", "buyer", "currency", "_schema_id", "_rescued")
    assert [tuple(row) for row in found] == [
        (1, 5, None, None, str(first), None),
        # The column is a whole number, since the first batch brought one.
        (2, None, "bob", "EUR", str(first), '{"amount":"7.0"}'),
        (3, None, "cid", "USD", str(second), '{"amount":"2.5"}'),
    ]


def test_the_declared_schema_is_the_reader(topics: Topics, tmp_path: Path) -> None:
    file = tmp_path / "order.avsc"
    file.write_text(NEW, "utf-8")
    topics.make("declared")
    topics.subscribe("declared", format="avro", avro={"schema": str(file)})
    number = registered(topics, "declared-value", OLD)
    topics.send("declared", [framed(number, OLD, {"id": 1, "amount": 5, "customer": "ann"})])
    topics.land("declared")
    found = topics.rows("declared", "id", "amount", "buyer", "currency")
    assert [tuple(row) for row in found] == [(1, 5.0, "ann", "EUR")]


def test_types_of_avro_become_types_of_the_table(topics: Topics) -> None:
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    item = {"type": "record", "name": "Item", "fields": [{"name": "sku", "type": "string"}]}
    schema = record(
        "Everything",
        ("price", decimal),
        ("at", {"type": "long", "logicalType": "timestamp-millis"}),
        ("day", {"type": "int", "logicalType": "date"}),
        ("kind", {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}),
        ("either", ["null", "int", "string"]),
        ("items", {"type": "array", "items": item}),
        ("counts", {"type": "map", "values": "long"}),
        ("raw", "bytes"),
    )
    topics.make("everything")
    topics.subscribe("everything", format="avro")
    number = registered(topics, "everything-value", schema)
    value = {
        "price": Decimal("12.34"),
        "at": datetime(2026, 11, 1, 12, tzinfo=UTC),
        "day": date(1066, 10, 14),
        "kind": "B",
        "either": "text",
        "items": [{"sku": "x"}],
        "counts": {"n": 1},
        "raw": b"\xff",
    }
    topics.send("everything", [framed(number, schema, value)])
    topics.land("everything")
    kinds = {name: kind for name, kind in topics.table("everything").dtypes if name in value}
    assert kinds == {
        "price": "decimal(9,2)",
        "at": "timestamp",
        "day": "date",
        "kind": "string",
        "either": "struct<member_int:int,member_string:string>",
        "items": "array<struct<sku:string>>",
        "counts": "map<string,bigint>",
        "raw": "binary",
    }
    (row,) = topics.rows(
        "everything", "price", "cast(at as string) at", "cast(day as string) day", "kind", "either"
    )
    assert row.price == Decimal("12.34")
    assert (row.at, row.day, row.kind) == ("2026-11-01 12:00:00", "1066-10-14", "B")
    assert tuple(row.either) == (None, "text")


def test_an_id_may_stand_in_a_header(topics: Topics) -> None:
    topics.make("headed")
    topics.subscribe("headed", format="avro")
    number = registered(topics, "headed-value", OLD)
    body = encoded(OLD, {"id": 1, "amount": 5, "customer": "ann"})
    topics.send("headed", [body], headers={"ce_schemaid": str(number)})
    topics.send("headed", [body], headers={"apicurio.value.contentId": number.to_bytes(8, "big")})
    # The attribute says again what stands in front.
    again = framed(number, OLD, {"id": 1, "amount": 5, "customer": "ann"})
    topics.send("headed", [again], headers={"ce_schemaid": str(number)})
    topics.land("headed")
    assert topics.values("headed", "_schema_id") == [str(number)] * 3
    assert topics.values("headed", "customer") == ["ann", "ann", "ann"]


@pytest.mark.long
def test_an_id_may_be_a_guid(topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    topics.make("guided")
    topics.subscribe("guided", format="avro")
    guid = str(uuid4())
    header = {"__value_schema_id": b"\1" + UUID(guid).bytes}
    bodies = [encoded(OLD, {"id": one, "amount": 5, "customer": "ann"}) for one in (1, 2)]
    topics.send("guided", bodies[:1], headers=header)
    # This registry knows numbers only.
    topics.land("guided")
    waiting = topics.rows("guided__quarantine", "_schema_id", "_reason_code")
    assert waiting == [(guid, "SCHEMA_UNKNOWN")]
    known = {guid: OLD}
    monkeypatch.setattr(SchemaRegistry, "schema_of_guid", lambda _, told: known.get(told))
    topics.land("guided")
    topics.send("guided", bodies[1:], headers=header)
    topics.land("guided")
    assert topics.rows("guided", "id", "customer", "_schema_id") == [
        (1, "ann", guid),
        (2, "ann", guid),
    ]
    assert topics.rows("guided__quarantine", "_schema_id") == []


def test_schema_docs_become_comments_without_another_commit(
    topics: Topics,
) -> None:
    topics.make("described")
    topics.subscribe("described", {"id": "int"}, format="avro")
    fields: list[dict[str, Any]] = [
        {"name": "id", "type": "int", "doc": "The yml has this one."},
        {"name": "total", "type": "int", "doc": 'What it cost; the buyer\'s "all".'},
        {"name": "plain", "type": "int"},
    ]
    later = {"name": "paid", "type": ["null", "int"], "default": None, "doc": "Paid so far."}
    path, versions = topics.lake.bronze("test__described"), []
    for known in (fields, [*fields, later], [*fields, later]):
        schema = json.dumps({"type": "record", "name": "Told", "fields": known})
        values = {str(one["name"]): 1 for one in known}
        number = registered(topics, "described-value", schema)
        topics.send("described", [framed(number, schema, values)])
        topics.land("described")
        versions.append(delta_log.version(path))
    comments = {one.name: one.metadata.get("comment") for one in topics.table("described").schema}
    assert [comments[name] for name in ("id", "total", "plain", "paid")] == [
        *(None, 'What it cost; the buyer\'s "all".', None, "Paid so far."),
    ]
    # No commit but the batch's own.
    assert versions[2] == versions[1] + 1


def test_poison_goes_to_quarantine_and_its_neighbours_land(topics: Topics) -> None:
    topics.make("poison")
    topics.subscribe("poison", format="avro", key=["id"])
    number = registered(topics, "poison-value", NULLABLE)
    good, empty = framed(number, NULLABLE, {"id": 7, "text": "x"}), {"id": None, "text": None}
    holds_itself = record("Node", ("next", ["null", "Node"]))
    recursive = registered(topics, "poison-node", holds_itself)
    frame = b"\0" + number.to_bytes(4, "big")
    poison = {
        "NOT_FRAMED": [b"", b"\0\0", b'{"id":1}'],
        "SCHEMA_UNKNOWN": [b"\0\xff\xff\xff\xff" + b"x"],
        "SCHEMA_UNSUPPORTED": [framed(recursive, holds_itself, {"next": {"next": None}})],
        # Cut off; a text of two gigabytes; a branch that the union does not have.
        "MALFORMED_AVRO": [good[:-1], frame + b"\0\x02\xfe\xff\xff\xff\x0f", frame + b"\x10"],
        "NULL_KEY": [framed(number, NULLABLE, empty)],
    }
    suite = [path.read_bytes() for path in sorted(JSON_SUITE.glob("*.json"))]
    values = [value for values in poison.values() for value in values]
    topics.send("poison", [good, None, *values, *suite, good])
    topics.land("poison")
    assert topics.values("poison", "id") == [7, 7, None]
    rejects = topics.rows("poison__quarantine", "_offset", "_reason_code", "_raw", "_reason")
    assert len(rejects) == len(values) + len(suite)
    found = {row._offset: (row._reason_code, bytes(row._raw)) for row in rejects}
    expected = [(code, value) for code, values in poison.items() for value in values]
    # One of them begins with a zero, and what follows could be an id.
    expected += [
        ("SCHEMA_UNKNOWN" if value[:1] == b"\0" else "NOT_FRAMED", value) for value in suite
    ]
    assert [found[offset + 2] for offset in range(len(expected))] == expected


NULLABLE = record("Poison", ("id", ["null", "long"]), ("text", ["null", "string"]))


def test_what_is_known_flows_while_the_registry_is_away(topics: Topics) -> None:
    topics.make("away")
    topics.subscribe("away", format="avro")
    number = registered(topics, "away-value", OLD)
    one, two = ({"id": key, "amount": 1, "customer": "c"} for key in (1, 2))
    topics.send("away", [framed(number, OLD, one)])
    topics.land("away")
    other = registered(topics, "away-other", NULLABLE)
    stack = Stack(topics.lake)
    stack.down(lambda _: None, only=["registry"])
    try:
        topics.send("away", [framed(number, OLD, two)])
        topics.land("away")
        assert topics.values("away", "id") == [1, 2]
        topics.send("away", [framed(other, NULLABLE, {"id": 3, "text": "t"})])
        assert isinstance(topics.run("away"), RegistryUnreachable)
    finally:
        stack.up(lambda _: None, only=["registry"])
    topics.land("away")
    assert topics.values("away", "id") == [1, 2, 3]
    assert registered(topics, "away-value", OLD) == number


@pytest.mark.parametrize("step", ["after_first_write", "after_second_write"])
def test_a_batch_that_was_stopped_half_way_lands_once(
    topics: Topics, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"avro_{step}"
    topics.make(name)
    topics.subscribe(name, format="avro", key=["id"])
    number = registered(topics, f"{name}-value", OLD)
    topics.send(name, [framed(number, OLD, {"id": 1, "amount": 1, "customer": "c"})])
    topics.land(name)
    other = registered(topics, f"{name}-other", NULLABLE)
    mixed = [
        framed(number, OLD, {"id": 2, "amount": 1, "customer": "c"}),
        framed(other, NULLABLE, {"id": 3, "text": "t"}),
        b"rubbish",
    ]
    topics.send(name, mixed)
    stop_at(topics, name, step, monkeypatch)
    topics.land(name)
    assert topics.values(name, "id") == [1, 2, 3]
    assert topics.values(f"{name}__quarantine", "_offset") == [3]


def test_messages_of_schemas_that_are_not_the_newest_land_in_the_second_pass(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.schemas.stream_schema._MOST_AT_ONCE", 1)
    topics.make("many")
    topics.subscribe("many", format="avro")
    schemas = [record("Many", ("id", "int"), (f"only_{one}", "int")) for one in range(3)]
    numbers = [registered(topics, f"many-{one}", text) for one, text in enumerate(schemas)]
    for first in (0, 3):
        told = zip(numbers, schemas, strict=True)
        values = [
            framed(number, text, {"id": first + one, f"only_{one}": one})
            for one, (number, text) in enumerate(told)
        ]
        topics.send("many", values)
        topics.land("many")
    assert topics.rows("many", "id", "only_0", "only_1", "only_2") == [
        *[(0, 0, None, None), (1, None, 1, None), (2, None, None, 2)],
        *[(3, 0, None, None), (4, None, 1, None), (5, None, None, 2)],
    ]


def test_events_in_binary_mode_are_those_of_structured_mode(topics: Topics) -> None:
    topics.make("binary")
    topics.subscribe("binary", envelope="cloudevents")
    json_kind = {"content-type": "application/json; charset=utf-8"}
    structured = {"content-type": "application/cloudevents+json"}
    told = {"specversion": "1.0", "id": "4", "source": "shop", "type": "sold", "data": {"n": 4}}
    extended = {"ce_schemaversion": "2", "ce_tenant": "north"}
    sold = {**EVENT, "ce_type": "sold"}
    topics.send("binary", [{"n": 1}], headers={**sold, **extended, "ce_id": "1"})
    topics.send(
        "binary", [{"n": 2}], headers={**EVENT, **json_kind, "ce_id": "2", "ce_type": "sold"}
    )
    plain = {**EVENT, "content-type": "text/plain", "ce_id": "3", "ce_type": "said"}
    topics.send("binary", [b"hello"], headers=plain)
    topics.send("binary", [told], headers=structured)
    broken = {**EVENT, "ce_id": "5", "ce_type": "sold"}
    topics.send("binary", [b'{"n":5},"id":"x"', b'{"n":'], headers=broken)
    topics.send("binary", [None], headers={**EVENT, "ce_id": "6", "ce_type": "left"})
    topics.land("binary")
    texts = ("cast(time as string) time", "to_json(data) data")
    found = topics.rows("binary", "id", "type", *texts, "schemaversion", "tenant")
    at = "2026-11-01 10:00:00"
    assert [tuple(row) for row in found] == [
        ("1", "sold", at, '{"n":1}', "2", "north"),
        ("2", "sold", at, '{"n":2}', None, None),
        ("3", "said", at, '"hello"', None, None),
        ("4", "sold", None, '{"n":4}', None, None),
        ("6", "left", at, None, None, None),
    ]
    rejects = topics.rows("binary__quarantine", "_reason_code", "_raw")
    assert [tuple(row) for row in rejects] == [
        ("MALFORMED_JSON", bytearray(b'{"n":')),
        ("MALFORMED_JSON", bytearray(b'{"n":5},"id":"x"')),
    ]
    assert topics.type_table("sold", "binary").selectExpr("n").collect() == [(1,), (2,), (4,)]


def test_events_of_avro_have_a_table_for_each_type(topics: Topics) -> None:
    topics.make("typed")
    topics.subscribe("typed", format="avro", envelope="cloudevents")
    at = {"type": "long", "logicalType": "timestamp-millis"}
    sold, moved = record("Sold", ("price", "double"), ("at", at)), record("Moved", ("km", "long"))
    for kind, schema, value in (
        ("sold", sold, {"price": 2.5, "at": datetime(2026, 11, 1, tzinfo=UTC)}),
        ("moved", moved, {"km": 7}),
    ):
        number = registered(topics, f"typed-{kind}", schema)
        topics.send(
            "typed",
            [framed(number, schema, value), b"poison"],
            headers={**EVENT, "ce_id": kind, "ce_type": kind},
        )
    topics.land("typed")
    prices = topics.type_table("sold", "typed").selectExpr("price", "cast(at as string) at")
    assert [tuple(row) for row in prices.collect()] == [(2.5, "2026-11-01 00:00:00")]
    assert topics.type_table("moved", "typed").selectExpr("km").collect() == [(7,)]
    assert topics.table("typed").columns[-1] == "data"
    rejects = topics.rows("typed__quarantine", "_reason_code", "_raw")
    assert [tuple(row) for row in rejects] == [("NOT_FRAMED", bytearray(b"poison"))] * 2
