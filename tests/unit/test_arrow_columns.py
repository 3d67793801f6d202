"""What each Arrow type of a Parquet file becomes, value by value."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from ingest.parse.arrow_columns import converted_columns
from ingest.parse.arrow_texts import json_of
from ingest.parse.arrow_types import column_type

local = dt.datetime.fromisoformat
ID = UUID("6132f4a8-45c2-4c22-a135-b1fd127c7e34")
FAR_DAY = 3_000_000


def numbers(kind: pa.DataType, *values: int | None) -> pa.Array:
    """Values by the numbers that Parquet stores, which Python may have no objects for."""
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    return pa.array(values, width).view(kind)


def seen(values: pa.Array, *, keeps: bool = True) -> tuple[Any, dict[str, dict[int, str]]]:
    """The column of some values, None where there is none, and what is lost."""
    found, lost = converted_columns(pa.RecordBatch.from_arrays([values], ["v"]), keeps=keeps)
    return found["v"].to_pylist() if "v" in found else None, lost


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (pa.array([2**64 - 1], pa.uint64()), "decimal(20,0)", [Decimal(2**64 - 1)]),
        (pa.array([2**32 - 1], pa.uint32()), "bigint", [2**32 - 1]),
        (pa.array([1.5, None], pa.float16()), "float", [1.5, None]),
        (
            pa.array([Decimal("1.5")], pa.decimal256(40, 2)).cast(pa.decimal256(76, 2)),
            "string",
            ["1.50"],
        ),
        (pa.array([Decimal("1.5")], pa.decimal32(5, 2)), "decimal(5,2)", [Decimal("1.50")]),
        (pa.array([ID.bytes, None], pa.uuid()), "string", [str(ID), None]),
        (pa.array(['{"a":1}'], pa.json_()), "string", ['{"a":1}']),
        (pa.array([dt.time(10, 15, 0, 5)]), "string", ["10:15:00.000005"]),
        (numbers(pa.time32("ms"), 5), "string", ["00:00:00.005000"]),
        (numbers(pa.time64("ns"), 1999), "string", ["00:00:00.000001"]),
        (numbers(pa.duration("ns"), 5), "bigint", [5]),
        (pa.array([b"abc"], pa.binary(3)), "binary", [b"abc"]),
        (pa.array(["x", None]).dictionary_encode(), "string", ["x", None]),
        (
            numbers(pa.timestamp("ns"), 1_001, -1),
            "timestamp_ntz",
            [local("1970-01-01T00:00:00.000001"), local("1969-12-31T23:59:59.999999")],
        ),
        (
            numbers(pa.timestamp("s", "Europe/Berlin"), 0),
            "timestamp",
            [dt.datetime(1970, 1, 1, tzinfo=dt.UTC)],
        ),
        (
            pa.array([[(1, "a")]], pa.map_(pa.int8(), pa.string())),
            "map<tinyint,string>",
            [[(1, "a")]],
        ),
        (
            pa.array([[(dt.time(1), None)], None], pa.map_(pa.time64("us"), pa.int8())),
            "map<string,tinyint>",
            [[("01:00:00.000000", None)], None],
        ),
        (
            pa.array([[1, None], None, []], pa.list_view(pa.int8())),
            "array<tinyint>",
            [[1, None], None, []],
        ),
        (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), "array<tinyint>", [[1, 2], None]),
    ],
)
def test_a_type_becomes_its_documented_column(values: pa.Array, kind: str, expected: Any) -> None:
    column = column_type(values.type)
    assert column is not None
    assert column.simpleString() == kind
    assert seen(values) == (expected, {})
    # A part of a larger array, too.
    assert seen(pa.concat_arrays([values, values]).slice(len(values))) == (expected, {})


@pytest.mark.parametrize(
    ("values", "column", "lost"),
    [
        (numbers(pa.date32(), FAR_DAY, 0), [None, dt.date(1970, 1, 1)], {"v": {0: "10183-09-21"}}),
        (numbers(pa.timestamp("s"), 10**12), [None], {"v": {0: "33658-09-27T01:46:40"}}),
        (
            numbers(pa.timestamp("us", "UTC"), -(10**17)),
            [None],
            {"v": {0: "-1199-02-15T14:13:20.000000Z"}},
        ),
        (numbers(pa.time64("us"), 86_400_000_000), [None], {"v": {0: "86400000000"}}),
        (pa.array([b"M\xfc", b"a"]).view(pa.string()), [None, "a"], {"v": {0: "M\\xfc"}}),
        (
            pa.array([[("a", 1), ("a", 2)], [("a", 1)]], pa.map_(pa.string(), pa.int8())),
            [None, [("a", 1)]],
            {"v": {0: '{"a":1,"a":2}'}},
        ),
        (
            pa.ListArray.from_arrays(
                pa.array([0, 2, 3], pa.int32()), numbers(pa.date32(), FAR_DAY, 0, 0)
            ),
            [[None, dt.date(1970, 1, 1)], [dt.date(1970, 1, 1)]],
            {"v": {0: '["10183-09-21","1970-01-01"]'}},
        ),
        (pa.array([[], [None], None], pa.list_(pa.null())), None, {"v": {0: "[]", 1: "[null]"}}),
        (pa.nulls(2), None, {}),
        (
            pa.array([{"ok": 1, "a b": 2, "OK": 3, "": None}, None]),
            [{"ok": 1}, None],
            {"v.a b": {0: "2"}, "v.OK": {0: "3"}},
        ),
    ],
)
def test_what_no_column_can_hold_is_kept_as_text(
    values: pa.Array, column: Any, lost: dict[str, dict[int, str]]
) -> None:
    assert seen(values) == (column, lost)


def test_of_a_name_that_stands_twice_the_first_is_the_column() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a"] * 3)
    found, lost = converted_columns(batch, keeps=True)
    assert (found["a"].to_pylist(), lost) == ([1], {"a#2": {0: "2"}, "a#3": {0: "3"}})


def test_no_two_places_share_a_path() -> None:
    far = numbers(pa.date32(), FAR_DAY)
    inner = pa.StructArray.from_arrays([far], ["b"])
    odd = [far, far, far]
    batch = pa.RecordBatch.from_arrays([inner, *odd], ["a", "a.b", "`", ""])
    _, lost = converted_columns(batch, keeps=True)
    assert list(lost) == ["a.b", "`a.b`", "````", "``"]


def test_what_can_be_no_column_is_kept_only_where_that_is_declared() -> None:
    assert seen(pa.array([{"ok": 1, "a b": 2}]), keeps=False) == ([{"ok": 1}], {})
    far = numbers(pa.date32(), FAR_DAY)
    assert seen(far, keeps=False) == ([None], {"v": {0: "10183-09-21"}})


def test_a_record_is_written_as_json() -> None:
    kind = pa.struct(
        [("a", pa.list_(pa.float64())), ("b", pa.binary()), ("m", pa.map_(pa.int8(), pa.date32()))]
    )
    row = pa.array([{"a": [1.5, float("nan")], "b": b"x", "m": [(1, None)]}], kind)[0]
    assert json_of(row) == '{"a":[1.5,"NaN"],"b":"eA==","m":{"1":null}}'
