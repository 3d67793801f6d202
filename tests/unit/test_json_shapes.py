"""Shapes of documents, as they are remembered."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type
from ingest.parse.json_exact import record
from ingest.parse.json_shapes import shape_text
from ingest.schemas.shape import parse_shape


def shape(document: str, members: str = "") -> str:
    """The shape of a document, beside columns."""
    columns = data_type(f"struct<{members}>") if members else T.StructType()
    assert isinstance(columns, T.StructType)
    return shape_text(record(document), columns)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("{}", "OBJECT<>"),
        ('{"b":1,"a":"x"}', "OBJECT<a: STRING, b: BIGINT>"),
        ('{"a":true,"b":null}', "OBJECT<a: BOOLEAN, b: VOID>"),
        (
            '{"a":1.0,"b":1e2,"c":9223372036854775808}',
            "OBJECT<a: DOUBLE, b: DOUBLE, c: DECIMAL(38,0)>",
        ),
        ('{"a":1e999}', "OBJECT<a: STRING>"),
        ('{"a":[]}', "OBJECT<a: ARRAY<VOID>>"),
        ('{"a":[1,2.5,null]}', "OBJECT<a: ARRAY<DOUBLE>>"),
        ('{"a":[1,"x"]}', "OBJECT<a: ARRAY<VARIANT>>"),
        (
            '{"a":[{"x":1},{"y":[2]},{"y":[]}]}',
            "OBJECT<a: ARRAY<OBJECT<x: BIGINT, y: ARRAY<BIGINT>>>>",
        ),
        ('{"\\ud83d":1}', "OBJECT<>"),
        ('{"a b":1,"c`d":2,"":3}', "OBJECT<``: BIGINT, `a b`: BIGINT, `c``d`: BIGINT>"),
    ],
)
def test_shape_has_paths_and_types(document: str, expected: str) -> None:
    assert shape(document) == expected
    assert parse_shape(expected).fields.keys() <= record(document).keys()


def test_what_is_data_makes_no_shape() -> None:
    columns = "v variant, m map<string,bigint>, o struct<m: map<string,string>>"
    document = '{"v":{"a":1},"m":{"k1":1},"o":{"m":{"k2":"x"}}}'
    assert shape(document, columns) == "OBJECT<m: MAP, o: OBJECT<m: MAP>>"


def test_an_object_in_a_map_of_scalars_is_seen() -> None:
    assert shape('{"m":{"k":{"x":1}}}', "m map<string,bigint>") == (
        "OBJECT<m: OBJECT<k: OBJECT<x: BIGINT>>>"
    )
