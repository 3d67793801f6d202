"""Messages of Avro are read by Spark as an independent reader reads them, without a broker."""

from __future__ import annotations

import io
import json
import random
from datetime import datetime
from typing import Any, cast

import fastavro
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type
from ingest.declarations.stream import Evolution
from ingest.decoders.avro_encodings import decoded
from ingest.decoders.typed_rows import typed_row
from ingest.decoders.writer_schemas import WriterSchemas
from ingest.registry.client import SchemaRegistry
from ingest.registry.columns import columns
from ingest.schemas.evolution import widened
from ingest.schemas.stream_schema import AvroSchemas
from ingest.spark.sql import sql_type
from tests.avro_lattice import Drawn, differences
from tests.fuzzing import cases, seed
from tests.spark.test_avro_files import as_python, record


def body(schema: Any, value: Any) -> bytearray:
    """A message behind its frame."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return bytearray(stream.getvalue())


def read(
    spark: SparkSession,
    messages: list[tuple[Any, list[Any]]],
    tables: dict[int, T.StructType] | None = None,
) -> list[list[tuple[Any, dict[str, str]]]]:
    """Of each schema, what lands of its values and what is rescued, in one job."""
    writers = WriterSchemas(spark, cast("SchemaRegistry", None), are_columns=True)
    texts = {number: json.dumps(schema) for number, (schema, _) in enumerate(messages)}
    reads = writers.reads(AvroSchemas(texts, None), texts)
    assert {number: one.why for number, one in reads.items() if one.why} == {}
    names = [f"b{number}" for number in texts]
    encoded = [[body(schema, value) for value in values] for schema, values in messages]
    rows = spark.createDataFrame(
        list(zip(*encoded, strict=True)), ", ".join(f"{name} binary" for name in names)
    )
    records = rows.select(
        *(reads[number].record(F.col(name)).alias(name) for number, name in enumerate(names))
    )
    shown = []
    for number, name in enumerate(names):
        kind = cast("T.StructType", reads[number].kind)
        table = (tables or {}).get(number)
        if table is None:
            brought = cast("T.StructType", decoded(kind))
            table = widened(T.StructType(), brought, Evolution(), frozenset()).schema
        values, rescued = typed_row(table, name, kind, keeps=True)
        members = ", ".join(
            f"'{one.name}', cast({value} as {sql_type(one.dataType)})"
            for one, value in zip(table.fields, values, strict=True)
        )
        shown += [f"named_struct({members}) as {name}", f"{rescued} as r{number}"]
    found = records.selectExpr(*shown).collect()
    return [
        [(as_python(row[f"b{one}"]), json.loads(row[f"r{one}"] or "{}")) for row in found]
        for one in range(len(messages))
    ]


def test_messages_of_any_types_land_as_fastavro_reads_them(spark: SparkSession) -> None:
    rng = random.Random(seed())
    kinds = [Drawn(rng, messages=True).kind(rng.randrange(3)) for _ in range(cases(40))]
    drawn = [[kind.draw(rng) for _ in range(3)] for kind in kinds]
    messages = [
        (record(("x", kind.schema)), [{"x": value} for value in values])
        for kind, values in zip(kinds, drawn, strict=True)
    ]
    for kind, values, rows in zip(kinds, drawn, read(spark, messages), strict=True):
        for value, (landed, rescued) in zip(values, rows, strict=True):
            for path in differences(kind.lands(value), landed["x"], "x"):
                is_told = any(path.startswith(one) for one in rescued)
                assert is_told, (path, value, landed, rescued, json.dumps(kind.schema))


def test_columns_that_have_landed_keep_their_types(spark: SparkSession) -> None:
    def logical(kind: str, name: str) -> dict[str, str]:
        return {"type": kind, "logicalType": name}

    local = logical("long", "local-timestamp-micros")
    fixed = {"type": "fixed", "name": "f", "size": 16}
    cases_of_tables: list[tuple[Any, Any, str, Any, Any]] = [
        (logical("int", "time-millis"), 5, "int", 5, None),
        (logical("long", "timestamp-nanos"), 7_000, "bigint", 7_000, None),
        (logical("long", "time-micros"), 2**40, "int", None, str(2**40)),
        (logical("long", "timestamp-millis"), 5, "bigint", None, "1970-01-01 00:00:00.005"),
        (
            logical("long", "timestamp-micros"),
            5,
            "timestamp_ntz",
            None,
            "1970-01-01 00:00:00.000005",
        ),
        (
            {**fixed, "logicalType": "uuid"},
            b"0123456789abcdef",
            "binary",
            b"0123456789abcdef",
            None,
        ),
        (local, 5, "timestamp_ntz", datetime(1970, 1, 1, 0, 0, 0, 5), None),  # noqa: DTZ001
        ({"type": "map", "values": "int"}, {"a": 1}, "struct<a: int>", None, '{"a":1}'),
        (
            {"type": "map", "values": local},
            {"a": 5, "b": 2**62},
            "map<string, string>",
            {"a": "1970-01-01 00:00:00.000005", "b": None},
            f'{{"a":"1970-01-01 00:00:00.000005","b":"{2**62}"}}',
        ),
    ]
    messages = [(record(("x", schema)), [{"x": one}]) for schema, one, *_ in cases_of_tables]
    tables = {
        number: T.StructType([T.StructField("x", data_type(kind))])
        for number, (_, _, kind, _, _) in enumerate(cases_of_tables)
    }
    found = read(spark, messages, tables)
    for (*_, value, rescued), [row] in zip(cases_of_tables, found, strict=True):
        assert row == ({"x": value}, {} if rescued is None else {"x": rescued})


def test_a_message_whose_columns_no_table_can_have_is_refused(spark: SparkSession) -> None:
    inner = record(("i", "int"), ("I", "int"), name="Inner")
    text = json.dumps(record(("x", {"type": "array", "items": inner})))
    writers = WriterSchemas(spark, cast("SchemaRegistry", None), are_columns=True)
    assert (
        writers.reads(AvroSchemas({1: text}, None), [1])[1].why == "two fields differ in case only"
    )


def test_schema_description_equals_sparks(spark: SparkSession) -> None:
    rng = random.Random(seed())
    schemas = [record(("x", Drawn(rng, messages=True).kind(2).schema)) for _ in range(cases(20))]
    texts = {number: json.dumps(schema) for number, schema in enumerate(schemas)}
    writers = WriterSchemas(spark, cast("SchemaRegistry", None), are_columns=True)
    for number, one in writers.reads(AvroSchemas(texts, None), texts).items():
        assert one.kind is not None
        assert decoded(one.kind) == columns(texts[number])
