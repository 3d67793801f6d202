"""SQL of columns, from what was read of records."""

from __future__ import annotations

from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type
from ingest.schemas.conversion import (
    assembled,
    at,
    cast_exactly,
    changed,
    extracted,
    misfits,
    type_at,
    union,
)
from ingest.spark.sql import quoted, text_literal


def struct(text: str) -> T.StructType:
    """A struct from its members."""
    kind = data_type(f"struct<{text}>")
    assert isinstance(kind, T.StructType)
    return kind


def test_what_json_has_no_word_for_is_read_as_text() -> None:
    kind = struct("a double, b date, c array<struct<d: decimal(5,2)>>, m map<string,bigint>")
    assert extracted(kind).simpleString() == (
        "struct<a:double,b:string,c:array<struct<d:string>>,m:map<string,bigint>>"
    )


def test_only_what_may_misfit_is_looked_at() -> None:
    kind = struct("a bigint, s string, d struct<x: date, y: string>, v variant")
    assert misfits(kind, "_r", lambda one, text: f"{one.typeName()}({text})") == [
        "(_r.`d`.`x` is not null and date(_r.`d`.`x`) is null)",
        "(_r.`v` is not null and variant(_r.`v`) is null)",
    ]


def test_a_column_is_assembled_of_what_was_read_and_what_was_made_of_it() -> None:
    kind = struct("a bigint, d struct<x: date, y: string>, l array<date>, m struct<z: string>")
    assert changed(kind) == [("d", "x"), ("l",)]
    made = {"_r.`d`.`x`": "_m.`0`", "_r.`l`": "_m.`1`"}
    assert [assembled(one.dataType, f"_r.`{one.name}`", made) for one in kind.fields] == [
        "_r.`a`",
        "if(_r.`d` is null, null, named_struct('x', _m.`0`, 'y', _r.`d`.`y`))",
        "_m.`1`",
        "_r.`m`",
    ]


def test_a_misfit_inside_an_array_is_a_misfit() -> None:
    (condition,) = misfits(struct("a array<date>"), "_r", lambda _, text: text)
    assert condition.startswith("exists(_r.`a`")


def test_names_and_texts_are_quoted() -> None:
    assert quoted("a`b") == "`a``b`"
    assert text_literal("it's \\ here") == "'it\\'s \\\\ here'"
    assert at("_c", ("a", "b.c")) == "_c.`a`.`b.c`"
    assert at("", ("a",)) == "`a`"


def test_a_string_is_its_own_cast() -> None:
    assert cast_exactly(T.StringType(), "x") == "x"


def test_structs_are_joined_and_followed() -> None:
    kind = struct("a struct<b: int, c: int>, d int")
    both = union(struct("a struct<b: int>"), struct("d int, a struct<c: int>"))
    assert both.simpleString() == "struct<a:struct<b:int,c:int>,d:int>"
    assert type_at(kind, ("a", "b")) == T.IntegerType()
    assert type_at(kind, ("d", "b")) is None
