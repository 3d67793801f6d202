"""What Spark makes of the SQL that turns texts into a table's columns."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import types as T

from ingest.shapes.conversion import typed

JSON = ["1", "1.50", "1e5", '"a"', "null", "true", "{}", "[]", '{"b": 1, "a": [{"x": null}]}']
NO_JSON = ["", " ", "NaN", "-Infinity", "01", "{'a': 1}", "{a: 1}", '{"a": 1', '{"a": 1, "a": 2}']


@pytest.mark.parametrize("text", ["t", "get(array(t), 0)"])
def test_a_variant_is_null_where_its_text_is_no_json(spark: SparkSession, text: str) -> None:
    texts = spark.createDataFrame([(one,) for one in [*JSON, *NO_JSON]], "t string")

    read = texts.selectExpr(f"{typed(T.VariantType(), text)} as v", "try_parse_json(t) as w")

    found = read.selectExpr("to_json(v)", "to_json(w)", "schema_of_variant(v)").collect()
    assert [row[0] for row in found] == [row[1] for row in found]
    assert [row[2] is None for row in found] == [False] * len(JSON) + [True] * len(NO_JSON)
