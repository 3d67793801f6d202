"""What Spark makes of the SQL that turns texts into a table's columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from ingest.arrow_files.variant import variants
from ingest.decoders.decoder import RESCUED, SCHEMA_ID
from ingest.decoders.input import FITS, GROUP, RECORD, VARIANTS, ColumnReader
from ingest.parse.timestamps import without_instants
from ingest.schemas.conversion import cast_exactly, typed
from ingest.sources.kafka_source import COLUMN_EXPRESSIONS

JSON = ["1", "1.50", "1e5", '"a"', "null", "true", "{}", "[]", '{"b": 1, "a": [{"x": null}]}']
NO_JSON = ["", " ", "NaN", "-Infinity", "01", "{'a': 1}", "{a: 1}", '{"a": 1', '{"a": 1, "a": 2}']
# Of the first, Arrow makes instants; the others are left to Spark, which takes some of them.
INSTANTS = [
    *("2026-11-24T12:00:00Z", "2026-11-24 12:00:00.1Z", "2026-11-24T12:00:00.123456Z"),
    *("0001-01-01T00:00:00Z", "1582-10-10T23:59:59.999999Z", "9999-12-31T23:59:59Z"),
    *("2026-11-24T12:00:00+00:00", "2026-11-24 12:00:00.123456+05:30", "2026-11-24T12:00:00-17:59"),
    *("0001-01-01T02:00:00+02:00", "1969-12-31T23:59:59.999999-00:00", "9999-12-31T15:59:59-08:00"),
]
OTHERS = [
    # Not in the years 1 to 9999 of UTC, though as far as they are written they may be.
    *("0000-01-01T00:00:00Z", "0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59-08:00"),
    *("2026-11-24T12:00:00.1234567Z", "2026-11-24T12:00:00+18:30", "2026-11-24T12:00:00z"),
    *("2026-11-24", "2026-11-24T12:00Z", "10000-01-01T00:00:00Z", " 2026-11-24T12:00:00Z"),
    *("2026-02-29T00:00:00Z", "2026-11-24T24:00:00Z", "2026-11-24T23:59:60Z", "someday, in Z"),
    *("2026-11-24T12:00:00.Z", "2026-11-24T12:00:00+00:00Z", "2026-11-24T12:00:00 Z", ""),
    *("2026-11-24T12:00+00:00", "2026-11-24T12:00:00+2:00", "2026-11-24T24:00:00+00:00"),
]


# Of the first, Python makes the bytes of a VARIANT; of the others some are left to Spark.
DOCUMENTS = [
    *JSON,
    *("-0", "127", "128", "-32769", "2147483648", "-9223372036854775808", "-0.0", "0.050"),
    *("123456789.5", "1234567890.5", f"1.{'2' * 17}", f"1.{'2' * 37}", f"1.{'2' * 38}", "1E-400"),
    json.dumps({"z": {"a": 1, "z": [{"z": 2}]}, "a": "ü" * 31, "b": "ü" * 32, "": None}),
    json.dumps({"\uffff": 1, "\U00010000": 2, "a": 3}),
    json.dumps([way * 2**bits - less for bits in range(63) for way in (1, -1) for less in (0, 1)]),
    # Where numbers of one byte do not do any more: of bytes, of names, of names of other objects.
    *(json.dumps({"b": "x" * length, "a": 1}) for length in range(245, 257)),
    *(json.dumps({f"k{number}": None for number in range(count)}) for count in range(253, 258)),
    *(json.dumps([{f"k{n}": 1} for n in range(count)]) for count in range(253, 258)),
    json.dumps({f"k{number}": number for number in range(300)}),
    json.dumps([[number] * 90 for number in range(300)]),
    json.dumps({"n" * 40_000: "x" * 70_000}),
]
UNDECIDED = [*NO_JSON, "9223372036854775808", "1e400", r'"\ud800"', "[" * 1100 + "]" * 1100]


def test_python_writes_variants_as_spark_does(spark: SparkSession) -> None:
    texts = [*DOCUMENTS, *UNDECIDED]
    rows = spark.createDataFrame([(one,) for one in texts], "t string")

    written = variants(pa.array(texts)).to_pylist()

    sparks = [row.v for row in rows.selectExpr("try_parse_json(t) as v").collect()]
    assert [one and (one["value"], one["metadata"]) for one in written] == [
        (one.value, one.metadata) for one in sparks[: len(DOCUMENTS)]
    ] + [None] * len(UNDECIDED)


@pytest.mark.parametrize("text", ["t", "get(array(t), 0)"])
def test_a_variant_is_null_where_its_text_is_no_json(spark: SparkSession, text: str) -> None:
    texts = spark.createDataFrame([(one,) for one in [*JSON, *NO_JSON]], "t string")

    read = texts.selectExpr(f"{typed(T.VariantType(), text)} as v", "try_parse_json(t) as w")

    found = read.selectExpr("to_json(v)", "to_json(w)", "schema_of_variant(v)").collect()
    assert [row[0] for row in found] == [row[1] for row in found]
    assert [row[2] is None for row in found] == [False] * len(JSON) + [True] * len(NO_JSON)


def test_variants_of_a_group_are_those_of_each_text(spark: SparkSession) -> None:
    """Also where one of the group is none, wherever it stands."""
    kind = T.StructType().add("id", "string").add("in", T.StructType().add("v", T.VariantType()))
    reader = ColumnReader(kind, None, overflow_matters=True)
    some: list[str | None] = ([None, *JSON] * GROUP)[: GROUP - 1]
    groups = [
        [*some, "2"],
        *([*some[:at], bad, *some[at:]] for bad in NO_JSON for at in (0, 9, 63)),
    ]

    def read(_: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = [
            {SCHEMA_ID: "s", RESCUED: "", RECORD: {"id": text, "in": {"v": text}}, FITS: True}
            for texts in groups
            for text in texts
        ]
        yield pa.RecordBatch.from_pylist(rows)
        yield pa.RecordBatch.from_pylist(rows[: GROUP + 1])

    found = reader.mapped(spark.range(0, 1, 1, 1), read, reader.ddl)
    rows = found.selectExpr(
        f"{RECORD}.id",
        f"{VARIANTS}.`0` is not null as is_there",
        f"to_json({typed(kind, RECORD, reader.known)}.`in`) as grouped",
        f"to_json({typed(kind, RECORD)}.`in`) as alone",
    ).collect()
    texts = [text for texts in groups for text in texts]
    assert [row.id for row in rows] == [*texts, *texts[: GROUP + 1]]
    assert [row.grouped for row in rows] == [row.alone for row in rows]
    # One piece ends where the other begins, and with a group of one.
    good = [True] * GROUP
    assert [row.is_there for row in rows] == [*good, *[False] * (len(texts) - GROUP), *good, False]


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


# What was written, and the type's value as text; None where it is none of that type.
DATES = {
    "2026-11-28": "2026-11-28",
    " 0001-01-01 ": "0001-01-01",
    "9999-12-31": "9999-12-31",
}
NO_DATES = [
    *(
        "2026-02-30",
        "2026-13-01",
        "2026-1-2",
        "2026-11",
        "2026",
        "20261128",
        "1764288000",
        "170000",
    ),
    *("0000-01-01", "10000-01-01", "+2026-11-28", "-0001-01-01", "28.11.2026", "11/28/2026"),
    *("10:15", "T10:15", "2026-11-28T10:15", "2026-11-28x", "2026-11-28\n", "now", "epoch", ""),
]
TIMESTAMPS = {
    "2026-11-28": "2026-11-28 00:00:00",
    "2026-11-28 10:15": "2026-11-28 10:15:00",
    "2026-11-28T10:15:01.5": "2026-11-28 10:15:01.5",
    "2026-11-28T10:15:01.123456789Z": "2026-11-28 10:15:01.123456",
    "2026-11-28T10:15:00+05:30": "2026-11-28 04:45:00",
    "2026-11-28 10:15:00 UTC": "2026-11-28 10:15:00",
    "2026-11-28 10:15:00+01": "2026-11-28 09:15:00",
    "2026-11-28T10:15:00-0800": "2026-11-28 18:15:00",
}
NO_TIMESTAMPS = [
    *("10:15", "10:15:00", "T10:15", "2026", "2026-11", "170000", "1764288000", "1764288000.5"),
    *("2026-11-28T", "2026-11-28T10", "2026-11-28T24:00:00", "2026-11-28T10:15:60", "today"),
    *("2026-11-28T10:15Z", "2026-11-28T10:15+01:00", "2026-11-28T10:15:00 +01:00x"),
    *("2026-11-28T10:15:00z", "2026-11-28T10:15:00+19:00", "2026-11-28T10:15:00 Europe/Berlin"),
    *("0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59-08:00", "10000-01-01T00:00:00Z"),
    *("infinity", "2026-11-28T10:15:00Z\n", "2026-11-28T10:15:00.1234567890Z", ""),
]


def test_only_dates_and_timestamps_become_such(spark: SparkSession) -> None:
    cases = [
        (T.DateType(), DATES | dict.fromkeys(NO_DATES)),
        (T.TimestampType(), TIMESTAMPS | dict.fromkeys(NO_TIMESTAMPS)),
    ]
    for kind, expected in cases:
        texts = spark.createDataFrame([(one,) for one in expected], "text string")
        found = texts.selectExpr("text", f"cast({cast_exactly(kind, 'text')} as string)").collect()
        assert dict(map(tuple, found)) == expected


def test_a_local_timestamp_has_no_offset(spark: SparkSession) -> None:
    texts = ["2026-11-28 10:15:00.5", "2026-11-28", "2026-11-28 10:15:00Z", "10:15"]
    rows = spark.createDataFrame([(one,) for one in texts], "text string")
    found = rows.selectExpr(f"cast({cast_exactly(T.TimestampNTZType(), 'text')} as string)")
    assert [one for (one,) in found.collect()] == [
        "2026-11-28 10:15:00.5",
        "2026-11-28 00:00:00",
        None,
        None,
    ]


def test_a_message_has_no_time_that_readers_cannot_show(spark: SparkSession) -> None:
    millis = [1_795_860_000_000, 1_795_860_000_000_000, -1]
    sent = spark.createDataFrame([(one,) for one in millis], "millis long").selectExpr(
        "timestamp_millis(millis) as timestamp",
        *("'t' as topic", "0 as partition", "0L as offset", "null as key", "null as headers"),
        "null as value",
    )
    times = [row._timestamp for row in sent.selectExpr(*COLUMN_EXPRESSIONS).collect()]
    assert [one and round(one.timestamp() * 1000) for one in times] == [millis[0], None, -1]
