"""What Spark makes of the SQL that turns texts into a table's columns."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from ingest.decode.instants import without_instants
from ingest.shapes.conversion import typed

JSON = ["1", "1.50", "1e5", '"a"', "null", "true", "{}", "[]", '{"b": 1, "a": [{"x": null}]}']
NO_JSON = ["", " ", "NaN", "-Infinity", "01", "{'a': 1}", "{a: 1}", '{"a": 1', '{"a": 1, "a": 2}']
# Of the first, Arrow makes instants; the others are left to Spark, which takes some of them.
INSTANTS = [
    *("2026-11-24T12:00:00Z", "2026-11-24 12:00:00.1Z", "2026-11-24T12:00:00.123456Z"),
    *("0000-01-01T00:00:00Z", "1582-10-10T23:59:59.999999Z", "9999-12-31T23:59:59Z"),
]
OTHERS = [
    *("2026-11-24T12:00:00.1234567Z", "2026-11-24T12:00:00+02:00", "2026-11-24T12:00:00z"),
    *("2026-11-24", "2026-11-24T12:00Z", "10000-01-01T00:00:00Z", " 2026-11-24T12:00:00Z"),
    *("2026-02-29T00:00:00Z", "2026-11-24T24:00:00Z", "2026-11-24T23:59:60Z", "someday, in Z"),
    *("2026-11-24T12:00:00.Z", "2026-11-24T12:00:00+00:00Z", "2026-11-24T12:00:00 Z", ""),
]


@pytest.mark.parametrize("text", ["t", "get(array(t), 0)"])
def test_a_variant_is_null_where_its_text_is_no_json(spark: SparkSession, text: str) -> None:
    texts = spark.createDataFrame([(one,) for one in [*JSON, *NO_JSON]], "t string")

    read = texts.selectExpr(f"{typed(T.VariantType(), text)} as v", "try_parse_json(t) as w")

    found = read.selectExpr("to_json(v)", "to_json(w)", "schema_of_variant(v)").collect()
    assert [row[0] for row in found] == [row[1] for row in found]
    assert [row[2] is None for row in found] == [False] * len(JSON) + [True] * len(NO_JSON)


def test_an_instant_is_what_spark_casts_its_text_to(spark: SparkSession) -> None:
    read = []
    for text in [*INSTANTS, *OTHERS]:
        record, (instant,) = without_instants(pa.array([{"t": text}]), [("t",)])
        read.append((text, record[0]["t"].as_py(), instant.cast(pa.int64())[0].as_py()))
    found = spark.createDataFrame(read, "text string, t string, micros bigint").selectExpr(
        "micros", f"unix_micros({typed(T.TimestampType(), 'text')}) as cast", "t"
    )
    rows = found.collect()
    taken = rows[: len(INSTANTS)]
    assert [(row.micros, row.t) for row in taken] == [(row.cast, None) for row in taken]
    assert [(row.micros, row.t) for row in rows[len(INSTANTS) :]] == [(None, t) for t in OTHERS]
