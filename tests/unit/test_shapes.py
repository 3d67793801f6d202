"""Shapes of records are read, merged, and make a table grow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type
from ingest.declarations.stream import ColumnHint, Evolution, SchemaEvolution
from ingest.schemas.evolution import (
    MAP_FROM_KEYS,
    declared_schema,
    evolved,
    inferred,
    keys_are_data,
    leaves,
    widened,
)
from ingest.schemas.shape import Shape, merged, parse_shape

ADD = Evolution()
RESERVED = frozenset({"_rescued", "_batch_id"})


def table(text: str) -> T.StructType:
    """A table's columns, written as a struct's members."""
    kind = data_type(f"struct<{text}>")
    assert isinstance(kind, T.StructType)
    return kind


def grown(columns: str, *shapes: str, how: Evolution = ADD) -> str:
    """Columns after records of these shapes, written as a struct's members."""
    seen = merged(parse_shape(shape) for shape in shapes)
    return evolved(table(columns), seen, how, RESERVED).schema.simpleString()[len("struct<") : -1]


def test_a_shape_is_read_with_all_that_is_inside() -> None:
    shape = parse_shape("OBJECT<a: BIGINT, `b c`: ARRAY<OBJECT<x: DECIMAL(38, 0)>>, `d``e`: VOID>")
    assert set(shape.fields) == {"a", "b c", "d`e"}
    element = shape.fields["b c"].element
    assert element is not None
    assert element.fields["x"].kinds == {"DECIMAL(38,0)"}
    assert shape.fields["d`e"].values == frozenset()


@pytest.mark.parametrize(
    "text", ["", "OBJECT<a>", "OBJECT<a: BIGINT", "ARRAY<BIGINT", "BIGINT>", "OBJECT<: BIGINT>"]
)
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a shape"):
        parse_shape(text)


def test_merging_keeps_every_kind_and_every_field() -> None:
    both = merged(map(parse_shape, ["OBJECT<a: BIGINT, b: ARRAY<VOID>>", "OBJECT<a: STRING>"]))
    assert both.fields["a"].kinds == {"BIGINT", "STRING"}
    assert both.fields["b"].kinds == {"ARRAY"}


def test_merging_does_not_ask_for_an_order() -> None:
    shapes = [parse_shape(f"OBJECT<a: {kind}, {kind[0]}: ARRAY<{kind}>>") for kind in KINDS]
    assert merged(shapes) == merged(reversed(shapes))


KINDS = ("BIGINT", "STRING", "DOUBLE", "VOID")


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["BIGINT"], "bigint"),
        (["BOOLEAN", "VOID"], "boolean"),
        (["BIGINT", "DOUBLE"], "double"),
        (["DECIMAL(38,0)"], "decimal(38,0)"),
        (["BIGINT", "DECIMAL(38,0)"], "decimal(38,0)"),
        (["DOUBLE"], "double"),
        (["BIGINT", "STRING"], "string"),
        (["OBJECT<a: BIGINT>", "STRING"], "string"),
        (["ARRAY<BIGINT>", "ARRAY<STRING>"], "array<string>"),
        (["ARRAY<ARRAY<BIGINT>>"], "array<array<bigint>>"),
        (["MAP"], "map<string,string>"),
        (["MAP", "BIGINT"], "string"),
    ],
)
def test_a_type_is_inferred(kinds: list[str], expected: str) -> None:
    kind = inferred(merged(map(parse_shape, kinds)), infer_types=True)
    assert kind is not None
    assert kind.simpleString() == expected


@pytest.mark.parametrize("text", ["VOID", "ARRAY<VOID>", "OBJECT<>", "OBJECT<a: VOID>"])
def test_nothing_makes_no_column(text: str) -> None:
    assert inferred(parse_shape(text), infer_types=True) is None


def test_types_are_texts_where_they_are_not_inferred() -> None:
    how = replace(ADD, infer_column_types=False)
    assert grown("", "OBJECT<a: BIGINT, b: OBJECT<c: BOOLEAN>>", how=how) == (
        "a:string,b:struct<c:string>"
    )


def test_new_fields_are_appended_in_order_of_name() -> None:
    assert grown("z int", "OBJECT<b: BIGINT, a: STRING, z: BIGINT>") == "z:int,a:string,b:bigint"


def test_new_fields_are_added_inside_structs_and_arrays_of_structs() -> None:
    columns = "p struct<a: bigint>, l array<struct<x: bigint>>"
    shape = "OBJECT<p: OBJECT<a: BIGINT, b: STRING>, l: ARRAY<OBJECT<x: BIGINT, y: BOOLEAN>>>"
    assert grown(columns, shape) == (
        "p:struct<a:bigint,b:string>,l:array<struct<x:bigint,y:boolean>>"
    )


def test_additions_are_reported_by_path() -> None:
    seen = parse_shape("OBJECT<p: OBJECT<b: STRING>, n: BIGINT>")
    added = evolved(table("p struct<a: bigint>"), seen, ADD, RESERVED).added
    assert set(added) == {("p.b", "string"), ("n", "bigint")}


def test_a_column_keeps_its_type() -> None:
    assert grown("a int", "OBJECT<a: STRING>") == "a:int"


def test_a_name_that_differs_in_case_only_makes_no_column() -> None:
    assert grown("id bigint", "OBJECT<ID: BIGINT>") == "id:bigint"
    assert grown("", "OBJECT<ID: BIGINT, id: BIGINT>") == "ID:bigint"
    assert grown("", "OBJECT<o: OBJECT<ID: BIGINT, id: BIGINT>>") == "o:struct<ID:bigint>"


@pytest.mark.parametrize(
    "name", ["a b", "a,b", "a;b", "a(b)", "a=b", "{a}", "a\0b", "_rescued", "_RESCUED"]
)
def test_a_name_that_delta_or_ingest_refuses_makes_no_column(name: str) -> None:
    assert grown("", f"OBJECT<`{name}`: BIGINT, ok: BIGINT>") == "ok:bigint"


def test_names_that_are_data_make_a_map() -> None:
    days = ", ".join(f"`2026-01-{day:02}`: BIGINT" for day in range(1, 4))
    assert grown("", f"OBJECT<days: OBJECT<{days}>>") == "days:map<string,bigint>"
    assert keys_are_data({"0b29b2e0-6ad7-4ab6-94d4-6d1d6b8c9d10": 1})
    assert keys_are_data({"12": 1, "13": 1})
    assert not keys_are_data({"12": 1, "price": 1})
    assert not keys_are_data({"deadbeefcafe": 1})
    assert not keys_are_data({})


def test_many_names_make_a_map() -> None:
    members = ", ".join(f"k{i}x: BIGINT" for i in range(MAP_FROM_KEYS + 1))
    assert grown("", f"OBJECT<m: OBJECT<{members}>>") == "m:map<string,bigint>"


def test_the_cap_counts_leaves_and_holds() -> None:
    how = replace(ADD, max_columns=3)
    assert leaves(table("a int, b struct<c: int, d: array<int>>, m map<string,int>")) == 5
    assert grown("a int", "OBJECT<b: BIGINT, c: BIGINT, d: BIGINT>", how=how) == (
        "a:int,b:bigint,c:bigint"
    )
    # An object that is too large as a whole leaves room for what comes after it.
    large = "OBJECT<x: BIGINT, y: BIGINT, z: BIGINT>"
    assert grown("a int", f"OBJECT<b: {large}, c: BIGINT>", how=how) == "a:int,c:bigint"


@pytest.mark.parametrize("mode", [SchemaEvolution.RESCUE, SchemaEvolution.NONE])
def test_other_modes_add_nothing(mode: SchemaEvolution) -> None:
    assert grown("a int", "OBJECT<b: BIGINT>", how=replace(ADD, mode=mode)) == "a:int"
    incoming = table("b int")
    assert widened(table("a int"), incoming, replace(ADD, mode=mode), RESERVED).added == ()


def test_columns_of_typed_files_are_added_with_their_types() -> None:
    result = widened(
        table("ID bigint, s struct<a: int>"),
        table("id int, s struct<a: int, b: date>, price decimal(9,2), _rescued string"),
        ADD,
        RESERVED,
    )
    assert result.schema.simpleString() == (
        "struct<ID:bigint,s:struct<a:int,b:date>,price:decimal(9,2)>"
    )


def test_hints_make_structs_by_path() -> None:
    hints = [
        ColumnHint(path=("p", "a"), type=T.LongType()),
        ColumnHint(path=("x",), type=T.DateType()),
        ColumnHint(path=("p", "q", "b"), type=T.StringType()),
        ColumnHint(path=("untyped",)),
    ]
    assert declared_schema(hints).simpleString() == (
        "struct<p:struct<a:bigint,q:struct<b:string>>,x:date>"
    )


def test_an_empty_shape_changes_nothing() -> None:
    assert evolved(table("a int"), Shape(frozenset({"OBJECT"})), ADD, RESERVED).added == ()
