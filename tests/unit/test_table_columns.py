"""Texts of JSON's values as a table's columns, and which of them only Spark can judge."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as T

from ingest.arrow_files.columns import are_plain, arrow_type, made
from ingest.declarations.datatypes import data_type


@pytest.mark.parametrize(
    ("kind", "texts", "expected"),
    [
        (T.ByteType(), ["-128", "127", "007"], [-128, 127, 7]),
        (T.ShortType(), ["-32768", "32767"], [-32768, 32767]),
        (T.IntegerType(), ["-2147483648", "2147483647"], [-(2**31), 2**31 - 1]),
        (T.DateType(), ["2026-03-01", "0001-01-01"], [date(2026, 3, 1), date(1, 1, 1)]),
        (
            T.DecimalType(4, 2),
            ["12.5", "-0.10", "7", "99.99000", f"-99.99{'0' * 34}"],
            [*map(Decimal, ("12.50", "-0.10", "7.00", "99.99", "-99.99"))],
        ),
        (T.DecimalType(3, 0), ["-999", "1.00"], [Decimal(-999), Decimal(1)]),
        (
            T.TimestampType(),
            ["2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00.123456Z"],
            [
                datetime(2026, 3, 1, 10, tzinfo=UTC),
                datetime(2026, 3, 1, 10, 0, 0, 123456, UTC),
            ],
        ),
    ],
)
def test_plain_values_are_made(kind: T.DataType, texts: list[str], expected: list[Any]) -> None:
    found, unsure = made(kind, pa.array([*texts, None]))
    assert found.to_pylist() == [*expected, None]
    assert found.type == arrow_type(kind)
    assert not unsure.any()


@pytest.mark.parametrize(
    ("kind", "sound", "odd"),
    [
        (T.ByteType(), "1", ["128", "+1", "1.0", "0x1", " 1", "", "1" * 19]),
        (T.IntegerType(), "1", ["2147483648", "-2147483649", "1e3", "one"]),
        (
            T.DateType(),
            "2026-03-01",
            ["2026-02-30", "2026-3-1", "2026-03-01T00:00:00Z", "0000-01-01"],
        ),
        # Of more than 38 digits, zeros though they be, Arrow makes something else.
        (
            T.DecimalType(4, 2),
            "1.5",
            ["0.125", "100", "1e1", ".5", "1.", "NaN", f"99.99{'0' * 35}", f"1.5{'0' * 40}"],
        ),
        (T.DecimalType(38, 0), "9" * 38, ["9" * 39, "1.0", "1."]),
        (T.DecimalType(38, 37), f"9.{'9' * 37}", [f"9.{'9' * 38}", "10"]),
        (
            T.TimestampType(),
            "2026-03-01T10:00:00Z",
            [
                *("2026-03-01T10:00:00+18:01", "2026-03-01T10:00Z", "2026-03-01", "soon"),
                *("2026-02-30T10:00:00Z", "2026-03-01T24:00:00Z", "0000-01-01T00:00:00Z"),
            ],
        ),
        (T.VariantType(), "{}", ["{'a': 1}", '{"a": 1, "a": 2}', "1e400"]),
    ],
)
def test_other_values_need_sparks_parser(kind: T.DataType, sound: str, odd: list[str]) -> None:
    """Each for itself: what stands beside them is made all the same."""
    found, unsure = made(kind, pa.array([sound, *odd, None]))
    assert found.is_valid().to_pylist() == [True, *[False] * len(odd), False]
    assert unsure.tolist() == [False, *[True] * len(odd), False]


def test_what_is_odd_inside_a_record_is_so_of_the_record() -> None:
    whole = T.IntegerType()
    kind = T.StructType(
        [
            T.StructField("list", T.ArrayType(whole)),
            T.StructField("map", T.MapType(T.StringType(), T.DateType())),
            T.StructField(
                "deep", T.StructType([T.StructField("a", T.ArrayType(T.ArrayType(whole)))])
            ),
        ]
    )
    texts = pa.struct(
        [
            ("list", pa.list_(pa.string())),
            ("map", pa.map_(pa.string(), pa.string())),
            ("deep", pa.struct([("a", pa.list_(pa.list_(pa.string())))])),
        ]
    )
    rows = [
        {"list": ["1", None], "map": [("a", "2026-03-01")], "deep": {"a": [[], ["2"]]}},
        {"list": ["1", "x"], "map": None, "deep": None},
        None,
        {"list": [], "map": [("a", "x")], "deep": None},
        {"list": None, "map": [], "deep": {"a": [["1"], ["x"]]}},
    ]
    found, unsure = made(kind, pa.array(rows, texts))
    assert unsure.tolist() == [False, True, False, True, True]
    assert found.type == arrow_type(kind)
    assert found.to_pylist()[0] == {
        "list": [1, None],
        "map": [("a", date(2026, 3, 1))],
        "deep": {"a": [[], [2]]},
    }


@pytest.mark.parametrize(
    ("kind", "is_plain"),
    [
        ("a: array<struct<b: decimal(4,1)>>", True),
        ("a: map<string, variant>", True),
        ("a: float", False),
        ("a: struct<b: binary>", False),
        ("a: timestamp_ntz", False),
        # No digit may stand in front of its point.
        ("a: decimal(2,2)", False),
    ],
)
def test_of_some_types_all_values_are_left_to_spark(kind: str, is_plain: bool) -> None:
    assert are_plain(data_type(f"struct<{kind}>")) is is_plain


def test_a_record_without_columns_is_left_to_spark() -> None:
    assert not are_plain(T.StructType())
