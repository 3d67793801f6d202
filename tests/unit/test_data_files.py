"""Parquet files, and what Delta's log tells of them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from ingest.arrow_files.parquet_stats import DataFileWriter
from ingest.spark.delta_commit import DataFile

INSTANT = pa.timestamp("us", tz="UTC")
VARIANT = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={"variant": "true"}),
    ]
)


def written(folder: Path, schema: pa.Schema, *pieces: list[dict[str, Any]]) -> DataFile:
    """Rows in one file, a piece each at a time."""
    writer = DataFileWriter(str(folder), schema, "part-")
    for piece in pieces:
        writer.write(pa.RecordBatch.from_pylist(piece, schema=schema))
    found = writer.finish()
    assert found
    return found


def bounds(folder: Path, kind: pa.DataType, *values: Any) -> tuple[Any, Any]:
    """The least and the greatest value that are told of a column."""
    pieces = [[{"a": one} for one in values[:1]], [{"a": one} for one in values[1:]]]
    told = json.loads(written(folder, pa.schema([("a", kind)]), *pieces).stats)
    return told["minValues"].get("a"), told["maxValues"].get("a")


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int32(), [3, None, -2], (-2, 3)),
        (pa.string(), ["b", "a", "ü"], ("a", "ü")),
        (pa.string(), ["a" * 33], ("a" * 32, "a" * 32 + "\U0010ffff")),
        (pa.string(), ["\U0010ffff" * 33], ("\U0010ffff" * 32, None)),
        (pa.date32(), [date(2026, 3, 1), date(1, 1, 1)], ("0001-01-01", "2026-03-01")),
        (
            INSTANT,
            [datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), datetime(2026, 1, 1, tzinfo=UTC)],
            ("1969-12-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z"),
        ),
        (pa.float64(), [0.5, -1e300], (-1e300, 0.5)),
        (pa.float64(), [0.0, 0.5], (0.0, 0.5)),
        # Spark holds it to be greater than all numbers.
        (pa.float64(), [0.5, float("nan")], (None, None)),
        (pa.float64(), [0.5, float("inf")], (None, None)),
        (pa.bool_(), [True, False], (None, None)),
        (pa.binary(), [b"a"], (None, None)),
        (pa.list_(pa.int64()), [[1]], (None, None)),
        (pa.int64(), [None], (None, None)),
    ],
)
def test_bounds_are_written_like_deltas(
    tmp_path: Path, kind: pa.DataType, values: list[Any], expected: tuple[Any, Any]
) -> None:
    # As texts, which tell a zero below zero from another.
    assert list(map(repr, bounds(tmp_path, kind, *values))) == list(map(repr, expected))


def test_years_outside_pythons_dates_have_no_bounds(tmp_path: Path) -> None:
    schema = pa.schema([("a", INSTANT)])
    writer = DataFileWriter(str(tmp_path), schema, "part-")
    far = pa.array([2**60], pa.int64()).cast(INSTANT)
    writer.write(pa.RecordBatch.from_arrays([far], schema=schema))
    found = writer.finish()
    assert found
    assert json.loads(found.stats)["maxValues"] == {}


def test_decimal_is_rescued_with_all_digits(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.decimal128(38, 10))])
    most = "1234567890123456789012345678.0123456789"
    found = written(tmp_path, schema, [{"a": Decimal(most)}, {"a": Decimal("-0.1")}])
    assert f'"maxValues":{{"a":{most}}}' in found.stats


def test_struct_members_are_listed_and_a_variant_is_one_column(tmp_path: Path) -> None:
    inner = pa.struct([("b", pa.int64()), (".list", pa.list_(pa.int64()))])
    schema = pa.schema(
        [("a", inner), ("map", pa.map_(pa.string(), inner)), ("any", VARIANT), ("z", pa.int64())]
    )
    some = {"value": b"\x00", "metadata": b"\x01\x00\x00"}
    found = written(
        tmp_path,
        schema,
        [{"a": {"b": 1, ".list": [7]}, "map": [("k", {"b": 9})], "any": some, "z": 5}],
        [{"a": {"b": None}, "z": 6}, {"a": None, "z": 7}],
    )
    assert json.loads(found.stats) == {
        "numRecords": 3,
        "minValues": {"a": {"b": 1}, "z": 5},
        "maxValues": {"a": {"b": 1}, "z": 7},
        "nullCount": {"a": {"b": 2, ".list": 2}, "map": 2, "any": 2, "z": 0},
    }


def test_only_the_first_leaves_have_statistics(tmp_path: Path) -> None:
    schema = pa.schema([(f"c{number}", pa.int64()) for number in range(40)])
    found = written(tmp_path, schema, [dict.fromkeys(schema.names, 1)])
    told = json.loads(found.stats)
    assert len(told["nullCount"]) == len(told["minValues"]) == 32


def test_file_matches_its_statistics(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.int64())])
    found = written(tmp_path, schema, [{"a": 1}], [{"a": 2}])
    path = tmp_path / found.name
    assert parquet.read_table(path)["a"].to_pylist() == [1, 2]
    assert (found.rows, found.size) == (2, path.stat().st_size)
    assert json.loads(found.add)["add"]["modificationTime"] == path.stat().st_mtime_ns // 1_000_000


def test_no_rows_make_no_file_and_one_that_is_given_up_is_removed(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.int64())])
    assert DataFileWriter(str(tmp_path), schema, "part-").finish() is None
    writer = DataFileWriter(str(tmp_path), schema, "part-")
    writer.write(pa.RecordBatch.from_pylist([{"a": 1}], schema=schema))
    writer.abandon()
    assert not list(tmp_path.iterdir())
