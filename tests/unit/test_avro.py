"""Avro's records become JSON that carries their schema, as Kafka Connect writes it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest
from pyspark.sql import types as T

from ingest.declarations.stream import DebeziumOptions, Format
from ingest.decode.avro_texts import avro_texts
from ingest.decode.connect_messages import ConnectMessages
from ingest.decode.exact_json import Known, Refused
from ingest.errors import SourceUnreadable
from ingest.files.headers import why_unreadable


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
    reader = ConnectMessages(T.StructType(), DebeziumOptions())
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


def test_types_are_found_by_their_names_also_inside_of_themselves(tmp_path: Path) -> None:
    day = {"type": "int", "logicalType": "date"}
    node = record(("day", day), ("next", ["null", "node"]), name="node")
    schema = record(("a", node), ("b", "node"), ("m", {"type": "map", "values": "node"}))
    leaf = {"day": 1, "next": None}
    value = {"a": {"day": 0, "next": leaf}, "b": leaf, "m": {"k": leaf}}
    [document] = documents(written(tmp_path / "a.avro", schema, [value]))
    assert (document["a"]["day"], document["b"]["day"]) == ("1970-01-01", "1970-01-02")
    assert document["m"] == {"k": {"day": "1970-01-02", "next": None}}
    # What a type says of itself inside of itself is not followed further.
    assert document["a"]["next"]["day"] == "1"


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.avro"
    written(path, record(("n", "string")), [{"n": "x" * 50}] * 10)
    whole = path.read_bytes()
    why_unreadable(str(path), Format.AVRO)
    for content in (b"", b"no Avro", whole[:-30], whole[: len(whole) // 2]):
        path.write_bytes(content)
        with pytest.raises(SourceUnreadable, match=r"a\.avro: ."):
            why_unreadable(str(path), Format.AVRO)


def test_a_schema_that_is_none_is_refused() -> None:
    reader = ConnectMessages(T.StructType(), DebeziumOptions())
    for schema in ({"type": "array"}, [], "x"):
        with pytest.raises(Refused) as refused:
            reader.document(json.dumps({"schema": schema, "payload": 1}))
        assert refused.value.code in ("MALFORMED_SCHEMA", "NOT_AN_OBJECT")
