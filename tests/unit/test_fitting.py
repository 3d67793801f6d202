"""Whether records of a shape take the fast way is decided without looking at them."""

from __future__ import annotations

import pytest
from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type
from ingest.shapes.conversion import (
    Conversion,
    at,
    cast_exactly,
    quoted,
    text_literal,
    type_at,
    union,
)
from ingest.shapes.fitting import Route, fit, joined
from ingest.shapes.shape import parse_shape


def struct(text: str) -> T.StructType:
    """A struct from its members."""
    kind = data_type(f"struct<{text}>")
    assert isinstance(kind, T.StructType)
    return kind


CLEAN = [
    ("a bigint", "a: BIGINT"),
    ("a bigint", "a: VOID"),
    ("a bigint", "b: VOID"),
    ("a string", "a: BIGINT"),
    ("a double", "a: BIGINT"),
    ("a timestamp", "a: STRING"),
    ("a decimal(5,2)", "a: DECIMAL"),
    ("a struct<b: bigint>", "a: OBJECT<b: BIGINT>"),
    ("a array<bigint>", "a: ARRAY<VOID>"),
    ("a map<string,bigint>", "a: OBJECT<x: BIGINT>"),
    ("a map<string,bigint>", "a: MAP"),
    ("a variant", "a: OBJECT<x: ARRAY<DOUBLE>>"),
]
HELD = [
    ("a bigint", "a: STRING"),
    ("a bigint", "a: DECIMAL"),
    ("a bigint", "b: BIGINT"),
    ("a bigint", "A: BIGINT"),
    ("a bigint", "a: OBJECT<x: BIGINT>"),
    ("a string", "a: OBJECT<x: BIGINT>"),
    ("a string", "a: ARRAY<BIGINT>"),
    ("a string", "a: MAP"),
    ("a double", "a: DOUBLE"),
    ("a double", "a: STRING"),
    ("a boolean", "a: STRING"),
    ("a struct<b: bigint>", "a: MAP"),
    ("a struct<b: bigint>", "a: OBJECT<c: BIGINT>"),
    ("a struct<b: bigint>", "a: BIGINT"),
    ("a array<bigint>", "a: ARRAY<STRING>"),
    ("a map<string,bigint>", "a: OBJECT<x: STRING>"),
    ("a map<string,bigint>", "a: STRING"),
]


@pytest.mark.parametrize(("columns", "shape"), CLEAN)
def test_it_fits(columns: str, shape: str) -> None:
    assert fit(struct(columns), parse_shape(f"OBJECT<{shape}>"), overflow_matters=True).clean


@pytest.mark.parametrize(("columns", "shape"), HELD)
def test_it_is_looked_at(columns: str, shape: str) -> None:
    assert not fit(struct(columns), parse_shape(f"OBJECT<{shape}>"), overflow_matters=True).clean


def test_a_field_without_a_column_is_ignored_where_nothing_is_rescued() -> None:
    assert fit(struct("a bigint"), parse_shape("OBJECT<b: BIGINT>"), overflow_matters=False).clean


def test_a_document_that_is_no_object_never_fits() -> None:
    for text in ("ARRAY<BIGINT>", "BIGINT", "VOID"):
        assert not fit(struct(""), parse_shape(text), overflow_matters=True).clean


def test_the_most_careful_route_wins() -> None:
    columns = struct("a double")
    shapes = ["OBJECT<a: DECIMAL>", "OBJECT<a: BIGINT>", "OBJECT<a: DECIMAL(17,17)>"]
    fits = [fit(columns, parse_shape(shape), overflow_matters=True) for shape in shapes]
    routes = [one.routes.get(("a",), Route.STRAIGHT) for one in fits]
    assert routes == [Route.STRAIGHT, Route.RANGED, Route.TEXT]
    assert joined(fits) == {("a",): Route.TEXT}


def test_values_that_must_be_looked_at_travel_as_text() -> None:
    kind = struct("a double, b bigint, c array<struct<d: decimal(5,2)>>, m map<string,bigint>")
    extracted = Conversion({("a",): Route.TEXT}).extracted(kind)
    assert extracted.simpleString() == (
        "struct<a:string,b:bigint,c:array<struct<d:string>>,m:map<string,string>>"
    )
    assert Conversion({}, careful=True).extracted(kind).simpleString() == (
        "struct<a:string,b:string,c:array<struct<d:string>>,m:map<string,string>>"
    )


def test_only_what_may_misfit_is_looked_at() -> None:
    kind = struct("a bigint, s string, d struct<x: date, y: string>")
    assert Conversion({}).misfits(kind, "_r", "_t", ()) == [
        "(_r.`d`.`x` is not null and _t.`d`.`x` is null)"
    ]


def test_a_misfit_inside_an_array_is_a_misfit() -> None:
    (condition,) = Conversion({}).misfits(struct("a array<date>"), "_r", "_t", ())
    assert condition.startswith("exists(_r.`a`")


def test_names_and_texts_are_quoted() -> None:
    assert quoted("a`b") == "`a``b`"
    assert text_literal("it's \\ here") == "'it\\'s \\\\ here'"
    assert at("_c", ("a", "b.c")) == "_c.`a`.`b.c`"
    assert at("", ("a",)) == "`a`"


def test_a_string_is_its_own_cast() -> None:
    assert cast_exactly(T.StringType(), "x") == "x"
    assert cast_exactly(T.DateType(), "x") == "try_cast(x as date)"


def test_structs_are_joined_and_followed() -> None:
    kind = struct("a struct<b: int, c: int>, d int")
    both = union(struct("a struct<b: int>"), struct("d int, a struct<c: int>"))
    assert both.simpleString() == "struct<a:struct<b:int,c:int>,d:int>"
    assert type_at(kind, ("a", "b")) == T.IntegerType()
    assert type_at(kind, ("d", "b")) is None
