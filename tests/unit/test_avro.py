"""Avro's records become JSON that carries their schema, as Kafka Connect writes it."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import types as T

from ingest.envelopes.avro_as_json import AvroText, avro_texts, why_no_avro
from ingest.envelopes.connect import ConnectMessages
from ingest.errors import SourceUnreadable
from ingest.parse.json_exact import Known, Refused
from ingest.parse.json_shapes import shape_text
from ingest.registry.columns import columns
from ingest.schemas.evolution import inferred
from ingest.schemas.shape import parse_shape
from tests.avro_lattice import Drawn
from tests.fuzzing import cases, seed


def record(*fields: tuple[str, Any], name: str = "root") -> dict[str, Any]:
    """A schema of a record."""
    members = [{"name": name, "type": kind} for name, kind in fields]
    return {"type": "record", "name": name, "fields": members}


def written(path: Path, schema: Any, records: list[Any], codec: str = "null") -> str:
    """A container file."""
    buffer = io.BytesIO()
    fastavro.writer(buffer, schema, records, codec=codec)
    path.write_bytes(buffer.getvalue())
    return str(path)


def documents(path: str) -> list[dict[str, Any]]:
    """What lands of a file."""
    reader = ConnectMessages(T.StructType())
    return [reader.document(text) for text in avro_texts(path)]


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
def test_records_are_read_whatever_their_codec(tmp_path: Path, codec: str) -> None:
    path = written(tmp_path / "a.avro", record(("n", "long")), [{"n": 1}, {"n": 2}], codec)
    assert documents(path) == [{"n": "1"}, {"n": "2"}]


LOGICAL = {
    "a date": ("int", "date", 19782, "2024-02-29", "DATE"),
    "a moment": ("long", "timestamp-millis", 1, "1970-01-01T00:00:00.001Z", "TIMESTAMP"),
    "a finer one": ("long", "timestamp-micros", 1, "1970-01-01T00:00:00.000001Z", "TIMESTAMP"),
    "a local one": ("long", "local-timestamp-micros", 0, "1970-01-01T00:00:00Z", "TIMESTAMP"),
}


@pytest.mark.parametrize(
    ("kind", "logical", "value", "text", "known"), LOGICAL.values(), ids=LOGICAL
)
def test_logical_types_are_known(
    tmp_path: Path, kind: str, logical: str, value: int, text: str, known: str
) -> None:
    # Written by their encoding, which fastavro takes where it finds no datetime.
    path = written(
        tmp_path / "a.avro", record(("x", {"type": kind, "logicalType": logical})), [{"x": value}]
    )
    [document] = documents(path)
    assert (document["x"], document["x"].kind) == (text, known)


def test_decimals_keep_their_digits(tmp_path: Path) -> None:
    kind = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3}
    path = written(
        tmp_path / "a.avro", record(("x", ["null", kind])), [{"x": b"\xff"}, {"x": None}]
    )
    found = [one["x"] for one in documents(path)]
    assert found == ["-0.001", None]
    assert isinstance(found[0], Known)
    assert found[0].kind == "DECIMAL(9,3)"


def test_values_that_json_has_no_word_for(tmp_path: Path) -> None:
    schema = record(("f", "float"), ("d", "double"), ("b", "bytes"), ("u", ["bytes", "double"]))
    rows = [
        {"f": 0.1, "d": float("nan"), "b": b"\x00\xff", "u": b"a"},
        {"f": float("inf"), "d": float("-inf"), "b": b"", "u": 1.5},
    ]
    first, second = documents(written(tmp_path / "a.avro", schema, rows))
    assert first == {"f": "0.1", "d": "NaN", "b": "AP8=", "u": "YQ=="}
    assert second == {"f": "Infinity", "d": "-Infinity", "b": "", "u": "1.5"}


def test_types_are_found_by_their_names(tmp_path: Path) -> None:
    day = {"type": "int", "logicalType": "date"}
    first = record(("day", day), name="leaf") | {"namespace": "one"}
    second = record(("b", "bytes"), name="leaf") | {"namespace": "two"}
    schema = record(("a", first), ("b", second), ("c", "one.leaf"), ("d", "two.leaf"))
    value = {"a": {"day": 0}, "b": {"b": b"a"}, "c": {"day": 1}, "d": {"b": b"b"}}
    [document] = documents(written(tmp_path / "a.avro", schema, [value]))
    assert document == {
        "a": {"day": "1970-01-01"},
        "b": {"b": "YQ=="},
        "c": {"day": "1970-01-02"},
        "d": {"b": "Yg=="},
    }


def test_a_type_that_holds_itself_is_refused(tmp_path: Path) -> None:
    node = record(("n", "long"), ("next", ["null", "node"]), name="node")
    path = written(tmp_path / "a.avro", node, [{"n": 1, "next": {"n": 2, "next": None}}])
    with pytest.raises(SourceUnreadable, match="node holds itself"):
        why_no_avro(path)


def test_connects_metadata_does_not_hide_avros(tmp_path: Path) -> None:
    kind: dict[str, Any] = {
        "type": "bytes",
        "logicalType": "decimal",
        "precision": 4,
        "scale": 2,
        "connect.parameters": {"__debezium.source.column.type": "NUMERIC"},
    }
    text: dict[str, Any] = kind | {"type": "string"}
    schema: dict[str, Any] = record(("x", kind), ("y", text))
    [document] = documents(written(tmp_path / "a.avro", schema, [{"x": b"\x01", "y": "1234"}]))
    assert document == {"x": "0.01", "y": "1234"}


@pytest.mark.parametrize("codec", ["null", "deflate", "snappy", "zstandard"])
def test_damaged_file_is_reported(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "a.avro"
    written(path, record(("n", "string")), [{"n": "x" * 50 + str(n)} for n in range(10)], codec)
    whole = path.read_bytes()
    why_no_avro(str(path))
    broken = [b"", b"no Avro", whole[:-30], whole[: len(whole) // 2]]
    # Every byte but those of the schema, whose words may change.
    start = whole.index(b"fields") + 60
    broken += [
        whole[:at] + bytes([whole[at] ^ 0xA5]) + whole[at + 1 :] for at in range(start, len(whole))
    ]
    told = 0
    for content in broken:
        path.write_bytes(content)
        try:
            why_no_avro(str(path))
        except SourceUnreadable:
            told += 1
    assert told > len(broken) / 3


def test_a_schema_that_is_none_is_refused() -> None:
    reader = ConnectMessages(T.StructType())
    schemas: tuple[Any, ...] = ({"type": "array"}, [], "x")
    for schema in schemas:
        with pytest.raises(Refused) as refused:
            reader.document(json.dumps({"schema": schema, "payload": 1}))
        assert refused.value.code in ("MALFORMED_SCHEMA", "NOT_AN_OBJECT")


def as_files_have_it(kind: T.DataType) -> T.DataType:
    """A type of other messages: files have one of whole numbers, and one of others."""
    if isinstance(kind, T.StructType):
        members = {one.name: as_files_have_it(one.dataType) for one in kind.fields}
        return T.StructType([T.StructField(name, members[name]) for name in sorted(members)])
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(as_files_have_it(kind.elementType))
    if isinstance(kind, T.MapType):
        return T.MapType(kind.keyType, as_files_have_it(kind.valueType))
    if isinstance(kind, T.IntegerType):
        return T.LongType()
    return T.DoubleType() if isinstance(kind, T.FloatType) else kind


def test_empty_list_has_the_column_of_its_schema() -> None:
    rng = random.Random(seed())
    for _ in range(cases(300)):
        items = Drawn(rng, messages=True).kind(rng.randrange(4)).schema
        schema = record(("x", {"type": "array", "items": items}))
        text = AvroText(fastavro.parse_schema(schema)).text({"x": []})
        shape = shape_text(ConnectMessages(T.StructType()).document(text), T.StructType())
        found = inferred(parse_shape(shape), infer_types=True)
        assert found == as_files_have_it(columns(json.dumps(schema))), json.dumps(schema)


def test_a_map_of_several_types_is_a_map_of_what_it_holds() -> None:
    schema = record(("x", {"type": "map", "values": ["long", "string"]}))
    text = AvroText(fastavro.parse_schema(schema))
    shapes = [
        shape_text(ConnectMessages(T.StructType()).document(text.text({"x": one})), T.StructType())
        for one in ({}, {"a": 1}, {"a": 1, "b": "x"})
    ]
    assert shapes == [f"OBJECT<x: MAP<{one}>>" for one in ("VOID", "BIGINT", "VARIANT")]
    kinds = [inferred(parse_shape(one), infer_types=True) for one in shapes]
    assert [kind.simpleString() for kind in kinds if kind] == [
        *("struct<x:map<string,string>>", "struct<x:map<string,bigint>>"),
        "struct<x:map<string,string>>",
    ]


def test_the_last_nanosecond_is_a_time_but_of_postgresql_its_infinity(tmp_path: Path) -> None:
    last, nanos = 2**63 - 1, {"type": "long", "logicalType": "timestamp-nanos"}
    debezium = {"type": "long", "connect.name": "io.debezium.time.NanoTimestamp"}
    path = written(
        tmp_path / "a.avro", record(("x", nanos), ("y", debezium)), [{"x": last, "y": last}]
    )
    [document] = documents(path)
    assert document["x"] == "2262-04-11T23:47:16.854775807Z"
    assert document["y"].startswith("not in the years 1 to 9999")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (T.TimestampNTZType(), "1970-01-01T00:00:00.001"),
        (T.TimestampType(), "1970-01-01T00:00:00.001Z"),
    ],
)
@pytest.mark.parametrize("logical", ["local-timestamp-millis", "timestamp-millis"])
def test_a_column_without_a_zone_takes_times_without_one(
    tmp_path: Path, logical: str, kind: T.DataType, text: str
) -> None:
    schema = record(("x", {"type": "long", "logicalType": logical}))
    path = written(tmp_path / "a.avro", schema, [{"x": 1}])
    reader = ConnectMessages(T.StructType([T.StructField("x", kind)]))
    assert [reader.document(one)["x"] for one in avro_texts(path)] == [text]
