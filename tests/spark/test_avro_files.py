"""Files of Avro land as an independent reader reads them, or go to quarantine."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import fastavro
import pytest
from pyspark.sql import Row

from tests.avro_lattice import Drawn, differences
from tests.fuzzing import cases, seed
from tests.spark.workshop import Workshop


def record(*fields: tuple[str, Any], name: str = "root") -> dict[str, Any]:
    """A schema of a record."""
    members = [{"name": name, "type": kind} for name, kind in fields]
    return {"type": "record", "name": name, "fields": members}


def file(schema: Any, *records: Any, codec: str = "null") -> bytes:
    """A container file."""
    buffer = io.BytesIO()
    fastavro.writer(buffer, schema, records, codec=codec)
    return buffer.getvalue()


def as_python(value: Any) -> Any:
    """A value of Spark without Rows."""
    if isinstance(value, Row):
        return {name: as_python(one) for name, one in value.asDict().items()}
    if isinstance(value, dict):
        return {name: as_python(one) for name, one in value.items()}
    if isinstance(value, bytearray):
        # Of Spark before 4.1.
        return bytes(value)
    return [as_python(one) for one in value] if isinstance(value, list) else value


def lost(row: Any) -> list[str]:
    """Paths of what was rescued of a row."""
    return list(json.loads(row["_rescued"] or "{}"))


@pytest.mark.long
def test_files_of_any_types_land_as_fastavro_reads_them(workshop: Workshop) -> None:
    rng, wanted = random.Random(seed()), {}
    workshop.stream("avro_lattice", format="avro", max_columns=10_000)
    for number in range(cases(60)):
        column, kind = f"c{number}", Drawn(rng).kind(rng.randrange(3))
        values = [kind.draw(rng) for _ in range(3)]
        schema = record(("id", "int"), (column, kind.schema))
        rows = [{"id": place, column: value} for place, value in enumerate(values)]
        workshop.drop("avro_lattice", f"{column}.avro", file(schema, *rows))
        wanted[column] = [kind.lands(value) for value in values], schema
    workshop.land("avro_lattice")
    assert workshop.rejects("avro_lattice") == []
    landed = {(one["_source"].rpartition("/")[2], one["id"]): one for one in all_rows(workshop)}
    assert len(landed) == 3 * len(wanted)
    for column, (values, schema) in wanted.items():
        for place, value in enumerate(values):
            row = landed[f"{column}.avro", place]
            found = as_python(row[column]) if column in row else None
            rescued = lost(row)
            for path in differences(value, found, column):
                is_told = any(
                    path == one or path.startswith((f"{one}.", f"{one}[")) for one in rescued
                )
                assert is_told, (path, value, found, row["_rescued"], json.dumps(schema))


def all_rows(workshop: Workshop) -> list[dict[str, Any]]:
    """Bronze of `avro_lattice`."""
    return [row.asDict() for row in workshop.table("avro_lattice").collect()]


@pytest.mark.long
def test_a_map_is_a_map_whatever_it_holds(workshop: Workshop) -> None:
    def of(values: Any) -> dict[str, Any]:
        return {"type": "map", "values": values}

    inner = record(("x", "int"), ("y", ["null", "string"]), name="Inner")
    schema = record(
        ("id", "int"),
        *(("m", of(["null", "long"])), ("r", of(inner)), ("u", ["null", of("boolean")])),
        *(("l", {"type": "array", "items": of("int")}), ("landed", of("int"))),
    )
    empty = {"id": 1, "m": {}, "r": {}, "u": None, "l": [], "landed": {"a": 1, "b": 2}}
    full = {
        "id": 2,
        "m": {"2026-01-01": 1, "none": None},
        "r": {"k": {"x": 1, "y": None}},
        "u": {"yes": True},
        "l": [{}, {"a": 1}],
        "landed": {},
    }
    workshop.stream("avro_maps", {"landed": "struct<a: int>"}, format="avro")
    workshop.drop("avro_maps", "1.avro", file(schema, empty))
    workshop.land("avro_maps")
    workshop.drop("avro_maps", "2.avro", file(schema, full))
    wider = record(("id", "int"), ("r", of(record(("z", "double"), name="Inner"))))
    workshop.drop("avro_maps", "3.avro", file(wider, {"id": 3, "r": {"k": {"z": 0.5}}}))
    workshop.land("avro_maps")
    kinds = {one.name: one.dataType.simpleString() for one in workshop.table("avro_maps").schema}
    assert [kinds[name] for name in ("m", "r", "u", "l", "landed")] == [
        "map<string,bigint>",
        "map<string,struct<x:bigint,y:string,z:double>>",
        "map<string,boolean>",
        "array<map<string,bigint>>",
        "struct<a:int>",
    ]
    rows = workshop.rows("avro_maps", "id", "m", "r", "u", "l", "landed", "_rescued")
    first, second, third = (as_python(row) for row in rows)
    assert first == {**empty, "landed": {"a": 1}, "_rescued": '{"landed.b":"2"}'}
    wide = {"k": {"x": 1, "y": None, "z": None}}
    assert second == {**full, "r": wide, "landed": {"a": None}, "_rescued": None}
    assert third["r"] == {"k": {"x": None, "y": None, "z": 0.5}}


def test_local_times_stay_as_they_are_where_that_is_declared(workshop: Workshop) -> None:
    local = {"type": "long", "logicalType": "local-timestamp-micros"}
    workshop.stream("avro_local", {"naive": "timestamp_ntz"}, format="avro")
    value = 1_764_000_000_123_456
    schema = record(("naive", local), ("utc", local))
    workshop.drop("avro_local", "1.avro", file(schema, {"naive": value, "utc": value}))
    workshop.land("avro_local")
    shown = ["cast(naive as string) naive", "cast(utc as string) utc", "_rescued"]
    assert workshop.rows("avro_local", *shown) == [("2025-11-24 16:00:00.123456",) * 2 + (None,)]
    assert dict(workshop.table("avro_local").dtypes)["utc"] == "timestamp"


def nested(levels: int) -> tuple[Any, Any]:
    """A type of records in each other, and a value."""
    kind: Any = "int"
    value: Any = 1
    for level in range(levels):
        kind = record(("d", kind), name=f"D{level}")
        value = {"d": value}
    return kind, value


def with_blocks(like: bytes, *blocks: tuple[int, bytes]) -> bytes:
    """A file that begins as another one, with blocks of so many records."""
    sync, buffer = like[-16:], io.BytesIO()
    for count, body in blocks:
        for number in (count, len(body)):
            fastavro.schemaless_writer(buffer, "long", number)
        buffer.write(body + sync)
    return like[: like.index(sync) + 16] + buffer.getvalue()


def test_one_odd_file_stops_nothing(workshop: Workshop) -> None:
    plain = record(("id", "int"))
    good = file(plain, {"id": 1})
    kind, value = nested(60)
    deep_kind, deep_value = nested(205)
    two = {**record(("y", "int"), name="R"), "namespace": "two"}
    same = {**record(("x", two), ("z", "two.R"), name="R"), "namespace": "one"}
    landing = {
        "good": good,
        "deep": file(record(("id", "int"), ("x", kind)), {"id": 2, "x": value}),
        "same_name": file(
            record(("id", "int"), ("a", same)), {"id": 3, "a": {"x": {"y": 1}, "z": {"y": 2}}}
        ),
        "text": file("string", "x"),
        "empty_block": with_blocks(good, (0, b""), (1, b"\x08")),
        "or_null": file(["null", plain], {"id": 5}),
    }
    refused = {
        "holds_itself": file(record(("n", ["null", "root"])), {"n": {"n": None}}),
        "too_deep": file(record(("id", "int"), ("x", deep_kind)), {"id": 1, "x": deep_value}),
        "no_bytes": file(record(("n", {"type": "array", "items": "null"})), {"n": [None]}),
        "no_codec": file(record(("id", "int")), {"id": 1}, codec="deflate").replace(
            b"deflate", b"deflatX"
        ),
        "negative": with_blocks(good, (-1, b"\x02")),
        "left_over": with_blocks(good, (1, b"\x02\x04")),
        "no_text": file(record(("s", "string")), {"s": "AAAA"}).replace(b"AAAA", b"\xffAAA"),
    }
    workshop.stream("avro_odd", format="avro")
    for name, content in (landing | refused).items():
        workshop.drop("avro_odd", f"{name}.avro", content)
    workshop.land("avro_odd")
    assert {row.file for row in workshop.rejects("avro_odd")} == {
        f"{name}.avro" for name in refused
    }
    assert {row._reason_code for row in workshop.rejects("avro_odd")} == {"FILE_UNREADABLE"}
    ids = [row.id for row in workshop.rows("avro_odd", "id") if row.id is not None]
    assert ids == [1, 2, 3, 4, 5]
    assert [row.value for row in workshop.rows("avro_odd", "value") if row.value] == ["x"]
    [deep] = [row for row in workshop.rows("avro_odd", "id", "_rescued") if row.id == 2]
    assert json.loads(deep._rescued) == {"x": value}
