"""Schemas of Avro: made whole, compared, and refused where they cannot be read."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import header_schema_id_serializer
from confluent_kafka.schema_registry.serde import SchemaId
from confluent_kafka.serialization import MessageField, SerializationContext

from ingest.registry.compatibility import why_not_readable
from ingest.registry.references import inlined
from ingest.registry.unsupported import unsupported
from ingest.registry.wire_format import Headers, forms, headers_in, id_number, id_text, number_of


def schema(*fields: tuple[str, Any], name: str = "R", **more: Any) -> str:
    """A record, with fields as (name, type)."""
    told = [{"name": one, "type": kind} for one, kind in fields]
    return json.dumps({"type": "record", "name": name, "fields": told, **more})


def test_names_of_other_subjects_are_defined_where_they_first_come() -> None:
    money = schema(("units", "long"), name="Money", namespace="shop")
    order = schema(("price", "shop.Money"), ("tax", ["null", "Money"]), namespace="shop")
    fields = json.loads(inlined(order, [money]))["fields"]
    assert fields[0]["type"]["fields"] == [{"name": "units", "type": "long"}]
    assert fields[1]["type"] == ["null", "Money"]
    assert inlined(order, []) == order


@pytest.mark.parametrize(
    ("writer", "reader", "is_readable"),
    [
        (schema(("a", "int")), schema(("a", "long")), True),
        (schema(("a", "long")), schema(("a", "int")), False),
        (schema(("a", "int")), schema(("a", "int"), ("b", "int")), False),
        (schema(("a", "int")), schema(("a", "int"), name="Other"), False),
        (
            schema(("a", "int"), name="Old", namespace="n"),
            schema(("a", "int"), name="New", namespace="n", aliases=["Old"]),
            True,
        ),
    ],
)
def test_reader_schema_follows_avro_resolution(writer: str, reader: str, is_readable: bool) -> None:
    assert (why_not_readable(writer, reader) is None) is is_readable


def test_invalid_schema_is_reported() -> None:
    with pytest.raises(ValueError, match="not a schema of Avro"):
        why_not_readable('{"type": "nothing"}', '"int"')


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (schema(("next", ["null", "R"])), "holds itself"),
        (schema(("next", "n.R"), namespace="n"), "holds itself"),
        (schema(("a", {"type": "array", "items": "null"})), "without bytes"),
        (schema(("a", {"type": "array", "items": json.loads(schema())})), "without bytes"),
        (
            schema(
                ("e", {"type": "fixed", "name": "E", "size": 0}),
                ("a", {"type": "array", "items": "E"}),
            ),
            "without bytes",
        ),
        (schema(("a", {"type": "array", "items": "int"})), ""),
    ],
)
def test_a_schema_that_cannot_be_columns_is_refused(wrong: str, why: str) -> None:
    assert why in unsupported(json.loads(wrong)) if why else not unsupported(json.loads(wrong))


@pytest.mark.parametrize(
    ("value", "headers", "number"),
    [
        (b"\0\0\0\1\0body", None, 256),
        (b"\1\0\0\1\0body", None, None),
        (b"\0\0\0\1", None, None),
        (b"body", [("CE_SchemaId", b"17")], 17),
        # Python does not make a number of so many digits.
        (b"body", [("ce_schemaid", b"7" * 5000)], None),
        (b"body", [("ce_schemaid", b"007")], None),
        (b"body", [("apicurio.value.globalId", bytes(7) + b"\5")], 5),
        (b"body", [("__value_schema_id", b"\0\0\0\0\7")], 7),
        # Not what Confluent's serializers write there; and the key's.
        (b"\0\0\0\0\7body", [("__value_schema_id", b"9")], 7),
        (b"\0\0\0\0\7body", [("__value_schema_id", b"\1" + bytes(15))], 7),
        (b"\0\0\0\0\7body", [("__key_schema_id", b"\1" + bytes(16))], 7),
        (b"\0\0\0\0\7body", [("__value_schema_id", None)], 7),
        # A GUID stands in its own header only.
        (b"\1" + bytes(16), [("ce_schemaid", b"\1" + bytes(16))], None),
        # A version, not an id: what stands in front counts.
        (b"\0\0\0\0\7body", [("ce_schemaid", b"v2")], 7),
    ],
)
def test_an_id_is_found_where_it_may_stand(
    value: bytes, headers: Headers, number: int | None
) -> None:
    assert number_of(value, headers)[0] == number


def test_each_message_has_its_own_headers() -> None:
    kind = pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()}))
    told = [[("a", b"1"), ("b", None)], None, [], [("a", b"2")]]
    headers = pa.array(
        [one and [{"key": key, "value": value} for key, value in one] for one in told], kind
    )
    assert headers_in(headers) == told
    assert headers_in(headers.slice(1, 3)) == told[1:]
    assert headers_in(headers.slice(1, 1)) == [None]


@pytest.mark.parametrize(
    ("header", "told", "body"),
    [
        # The attribute says again what stands in front.
        ("ce_schemaid", b"7", b"body"),
        ("ce_schemaid", b"8", b"\0\0\0\0\7body"),
        # Of a serializer that writes ids to headers, the bytes are the message's own.
        ("apicurio.value.globalId", b"7", b"\0\0\0\0\7body"),
    ],
)
def test_an_id_in_front_is_no_part_of_the_message(header: str, told: bytes, body: bytes) -> None:
    found = number_of(b"\0\0\0\0\7body", [(header, told)])
    assert found == (int(told), body)


def test_schema_id_may_be_a_guid_before_the_message() -> None:
    guid = "00000000-7653-4a2d-9e32-b1a2c3d4e5f6"
    told = b"\1" + UUID(guid).bytes
    number, body = number_of(b"\0\0\0\0\7body", [("__value_schema_id", told)])
    assert number is not None
    assert (id_text(number), body) == (guid, b"\0\0\0\0\7body")
    assert id_number(guid) == number
    assert forms(number) == [told]


def test_guid_is_formatted_like_confluents_client() -> None:
    guid, headers = str(uuid4()), dict[str, str | bytes | None]()
    context = SerializationContext("orders", MessageField.VALUE, headers)
    value = header_schema_id_serializer(b"body", context, SchemaId("AVRO", None, guid))
    told = [(name, one) for name, one in headers.items() if isinstance(one, bytes)]
    number, body = number_of(value, told)
    assert number is not None
    assert (id_text(number), body) == (guid, b"body")
