"""Types are read from their SQL text as Spark reads them."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("string", T.StringType()),
        (" BIGINT ", T.LongType()),
        ("decimal", T.DecimalType(10, 0)),
        ("DEC(5)", T.DecimalType(5, 0)),
        ("numeric( 38 , 18 )", T.DecimalType(38, 18)),
        ("timestamp_ntz", T.TimestampNTZType()),
        ("variant", T.VariantType()),
        ("array<array<int>>", T.ArrayType(T.ArrayType(T.IntegerType()))),
        ("map<string, array<double>>", T.MapType(T.StringType(), T.ArrayType(T.DoubleType()))),
        (
            "struct<a: int, `b.c`: struct<d string not null comment 'x'>>",
            T.StructType(
                [
                    T.StructField("a", T.IntegerType()),
                    T.StructField("b.c", T.StructType([T.StructField("d", T.StringType())])),
                ]
            ),
        ),
        ("struct<>", T.StructType()),
    ],
)
def test_it_reads(text: str, expected: T.DataType) -> None:
    assert data_type(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "money",
        "int int",
        "decimal(39,2)",
        "decimal(5,6)",
        "decimal(0)",
        "array<int",
        "array",
        "map<int,string>",
        "map<string>",
        "struct<a int",
        "struct<a>",
        "struct<: int>",
        "varchar(",
        "string; drop table x",
        "decimals",
    ],
)
def test_it_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        data_type(text)
