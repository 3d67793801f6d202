"""Payloads of Connect are written as what a reader of their messages would understand."""

from __future__ import annotations

from typing import Any

import fastavro
import pytest
from pyspark.sql import types as T

from ingest.envelopes.avro_as_json import AvroText
from ingest.envelopes.connect import ConnectMessages
from ingest.parse.json_exact import Refused, written


def as_read(text: str) -> str:
    """What the way over the text of a message gives."""
    return written(ConnectMessages(T.StructType()).document(text))


def told(kind: Any, value: Any) -> tuple[AvroText, dict[str, Any]]:
    """A record of one column, of a type of Avro."""
    schema = {"type": "record", "name": "R", "fields": [{"name": 'a "name" ü', "type": kind}]}
    return AvroText(fastavro.parse_schema(schema)), {'a "name" ü': value}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", -5),
        ("long", 2**63 - 1),
        ("boolean", True),
        ("string", 'quoted "ü" \\ \n \u2028'),
        ("double", 0.1),
        ("double", -0.0),
        ("double", 1e300),
        ("double", float("nan")),
        ("double", float("-inf")),
        ("float", 0.10000000149011612),
        ("float", float("inf")),
        ("bytes", b"\0\xff"),
        (["null", "string"], None),
        (["null", "string"], "one"),
        (["int", "string", "double"], 1.5),
        ({"type": "array", "items": ["null", "long"]}, [1, None, 3]),
        ({"type": "array", "items": "string"}, []),
        ({"type": "map", "values": "double"}, {"ü": 1.0, "x": float("nan")}),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "A"),
        ({"type": "fixed", "name": "F", "size": 2}, b"ab"),
        ({"type": "int", "logicalType": "date"}, 20_000),
        ({"type": "int", "logicalType": "date"}, -(2**31)),
        ({"type": "int", "logicalType": "time-millis"}, 86_399_999),
        ({"type": "long", "logicalType": "time-micros"}, -1),
        ({"type": "long", "logicalType": "timestamp-millis"}, 1_764_000_000_123),
        ({"type": "long", "logicalType": "timestamp-micros"}, -(2**63)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, b"\x04\xd2"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, b""),
        ({"type": "string", "connect.name": "io.debezium.time.ZonedTimestamp"}, "no moment"),
        ({"type": "int", "connect.name": "somebody's own"}, 7),
        (
            {
                "type": "record",
                "name": "V",
                "connect.name": "io.debezium.data.VariableScaleDecimal",
                "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
            },
            {"scale": 1, "value": b"\x04\xd2"},
        ),
        (
            {
                "type": "record",
                "name": "S",
                "fields": [{"name": "b", "type": ["null", {"type": "map", "values": "int"}]}],
            },
            {"b": {"c": 1}},
        ),
    ],
)
def test_what_is_written_is_what_would_be_read(kind: Any, value: Any) -> None:
    avro, record = told(kind, value)
    assert avro.document(record) == as_read(avro.text(record))


def nested(levels: int) -> tuple[Any, Any]:
    """A type of arrays in each other, and a value."""
    kind: Any = "int"
    value: Any = 1
    for _ in range(levels):
        kind, value = {"type": "array", "items": kind}, [value]
    return kind, value


def test_a_schema_that_is_nested_deep_is_read_as_any() -> None:
    kind, value = nested(60)
    avro, record = told(kind, value)
    assert avro.document(record) == as_read(avro.text(record))


@pytest.mark.parametrize(
    ("schema", "record", "why"),
    [
        ("string", "text", "not a schema of Connect"),
        (["null", {"type": "record", "name": "R", "fields": []}], None, "is not an object"),
        (
            {
                "type": "record",
                "name": "R",
                "fields": [
                    {
                        "name": "a",
                        "type": {
                            "type": "bytes",
                            "connect.name": "org.apache.kafka.connect.data.Decimal",
                            "connect.parameters": {"scale": "x"},
                        },
                    }
                ],
            },
            {"a": b"1"},
            "not a schema of Connect",
        ),
        (
            {
                "type": "record",
                "name": "R",
                "fields": [{"name": "a", "type": ["string", nested(199)[0]]}],
            },
            {"a": nested(199)[1]},
            "nested deeper",
        ),
    ],
    ids=["no record", "nothing", "no scale", "too deep"],
)
def test_what_a_message_would_be_refused_for_is_refused(schema: Any, record: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        AvroText(fastavro.parse_schema(schema)).document(record)
