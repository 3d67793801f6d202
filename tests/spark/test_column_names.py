"""Spark's own rule of names, which `folded` follows."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from ingest.column_names import folded

# Of Unicode 13, which Java 17 knows.
LETTERS = [chr(code) for code in range(0x21, 0x2C00) if chr(code).isalpha()]


def test_names_are_one_where_java_says_so(spark: SparkSession) -> None:
    """Of each letter and those that Python can make of it."""
    pairs = [
        (letter, other)
        for letter in LETTERS
        for other in {letter.upper(), letter.lower(), letter.casefold(), "i", "s"}
        if len(other) == 1
    ]
    jvm: Any = spark._jvm
    # The order in which strings are equal that are so to String.equalsIgnoreCase.
    order = jvm.java.lang.String.CASE_INSENSITIVE_ORDER
    said = {pair: order.compare(*pair) == 0 for pair in pairs}
    assert {pair: folded(pair[0]) == folded(pair[1]) for pair in pairs} == said
