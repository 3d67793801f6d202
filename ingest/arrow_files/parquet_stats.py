"""Parquet files of Delta tables, written by whoever has rows as Arrow's columns.

What Delta's log says of a file comes from the file's own statistics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from ingest.spark.delta_commit import DataFile

# As Delta has it where a table does not say otherwise: leaves of so many columns have statistics,
# and of a text so many characters.
_INDEXED, _CHARACTERS = 32, 32
_LAST_CHARACTER = "\U0010ffff"
# Spark would take instants before 1900 for those of another calendar, of a file without it.
_FOOTER = {"org.apache.spark.version": "4.0.2"}
_YEARS = (np.datetime64("0001-01-01", "D"), np.datetime64("9999-12-31", "D"))


class DataFileWriter:
    """Writes rows of `schema` to one new file in `folder`, which is made with the first rows.

    The file's name begins with `prefix`.
    """

    def __init__(self, folder: str, schema: pa.Schema, prefix: str) -> None:
        self._path = Path(folder, f"{prefix}{uuid4()}.zstd.parquet")
        self._schema = schema
        self._leaves = list(_leaves(schema))[:_INDEXED]
        # Of each leaf: rows without it, and whether one is no number, which Parquet passes over.
        self._nulls = [0] * len(self._leaves)
        self._is_odd = [False] * len(self._leaves)
        self._writer: parquet.ParquetWriter | None = None

    def write(self, rows: pa.RecordBatch) -> None:
        """Write rows, which have the columns of the schema."""
        if not self._writer:
            self._writer = parquet.ParquetWriter(
                self._path, self._schema, compression="zstd", store_schema=False
            )
            self._writer.add_key_value_metadata(_FOOTER)
        self._writer.write_batch(rows)
        for number, (path, kind) in enumerate(self._leaves):
            values = rows.column(path[0])
            for name in path[1:]:
                # As a list: a text that begins with a point would be a path.
                values = pc.struct_field(values, [name])
            self._nulls[number] += values.null_count
            if pa.types.is_floating(kind) and pc.any(pc.is_nan(values)).as_py():
                self._is_odd[number] = True

    def finish(self) -> DataFile | None:
        """The file; None where no rows came."""
        if not self._writer:
            return None
        self._writer.close()
        footer = parquet.read_metadata(self._path)
        status = self._path.stat()
        return DataFile(
            name=self._path.name,
            size=status.st_size,
            modified=status.st_mtime_ns // 1_000_000,
            rows=footer.num_rows,
            stats=self._stats(footer),
        )

    def abandon(self) -> None:
        """Leave no file."""
        try:
            if self._writer:
                self._writer.close()
        finally:
            self._path.unlink(missing_ok=True)

    def _stats(self, footer: parquet.FileMetaData) -> str:
        numbers = _numbers_of_columns(self._schema)
        least: dict[str, Any] = {}
        most: dict[str, Any] = {}
        nulls: dict[str, Any] = {}
        for (path, kind), missing, is_odd in zip(
            self._leaves, self._nulls, self._is_odd, strict=True
        ):
            _put(nulls, path, str(missing))
            bounds = None if is_odd else _bounds(footer, numbers.get(path), kind)
            if bounds:
                _put(least, path, bounds[0])
                if bounds[1]:
                    _put(most, path, bounds[1])
        return _written(
            {
                "numRecords": str(footer.num_rows),
                "minValues": least,
                "maxValues": most,
                "nullCount": nulls,
            }
        )


def _leaves(schema: pa.Schema | pa.StructType) -> Iterator[tuple[tuple[str, ...], pa.DataType]]:
    """Paths and types of what is no struct, as they stand in the schema; a VARIANT is one."""
    for one in schema:
        if pa.types.is_struct(one.type) and not _is_variant(one.type):
            for path, kind in _leaves(one.type):
                yield (one.name, *path), kind
        else:
            yield (one.name,), one.type


def _is_variant(kind: pa.StructType) -> bool:
    """Whether a struct is a VARIANT, as Arrow's columns of Spark mark them."""
    return any((one.metadata or {}).get(b"variant") == b"true" for one in kind)


def _numbers_of_columns(schema: pa.Schema) -> dict[tuple[str, ...], int]:
    """Of each leaf that is a column in Parquet too, the number of that one."""
    found, number = {}, 0
    for path, kind in _leaves(schema):
        width = _width(kind)
        if not pa.types.is_nested(kind):
            found[path] = number
        number += width
    return found


def _width(kind: pa.DataType) -> int:
    """How many columns of Parquet a type has."""
    if pa.types.is_map(kind):
        return _width(kind.key_type) + _width(kind.item_type)
    if pa.types.is_list(kind):
        return _width(kind.value_type)
    if pa.types.is_struct(kind):
        return sum(_width(one.type) for one in kind)
    return 1


def _bounds(
    footer: parquet.FileMetaData, number: int | None, kind: pa.DataType
) -> tuple[str, str] | None:
    """JSON of the least and the greatest value, the latter empty where it is unknown.

    None where there is no value, or one without bounds, or Delta has none of such a type.
    """
    if number is None or pa.types.is_boolean(kind) or pa.types.is_binary(kind):
        return None
    columns = [footer.row_group(group).column(number) for group in range(footer.num_row_groups)]
    full = [one for one in columns if not _is_empty(one)]
    if not full or not all(one.statistics and one.statistics.has_min_max for one in full):
        return None
    if pa.types.is_temporal(kind):
        least = min(one.statistics.min_raw for one in full)
        return _times(least, max(one.statistics.max_raw for one in full), kind)
    least = min(one.statistics.min for one in full)
    return _written_bounds(least, max(one.statistics.max for one in full), kind)


def _is_empty(column: parquet.ColumnChunkMetaData) -> bool:
    stats = column.statistics
    return bool(column.num_values == (stats.null_count if stats else 0))


def _written_bounds(least: Any, most: Any, kind: pa.DataType) -> tuple[str, str] | None:
    if pa.types.is_string(kind):
        return json.dumps(least[:_CHARACTERS]), _greatest(most)
    if pa.types.is_decimal(kind):
        return f"{least:f}", f"{most:f}"
    if pa.types.is_floating(kind):
        # Parquet has a least zero be the one below zero, which Delta would show as a minimum.
        least += 0.0
        if not np.isfinite([least, most]).all():
            return None
    return json.dumps(least), json.dumps(most)


def _times(least: int, most: int, kind: pa.DataType) -> tuple[str, str] | None:
    unit = "D" if pa.types.is_date(kind) else "us"
    times = np.array([least, most], dtype=f"datetime64[{unit}]")
    if times[0] < _YEARS[0] or times[1] > _YEARS[1]:
        return None
    if unit == "D":
        first, last = map(str, times)
    else:
        # Who reads knows that they are cut.
        zone = "Z" if kind.tz else ""
        first, last = (f"{one}{zone}" for one in times.astype("datetime64[ms]"))
    return json.dumps(first), json.dumps(last)


def _greatest(text: str) -> str:
    """JSON of a text that no other is greater than, cut as Delta cuts it; empty where none is."""
    if len(text) <= _CHARACTERS:
        return json.dumps(text)
    if text[_CHARACTERS] == _LAST_CHARACTER:
        return ""
    return json.dumps(text[:_CHARACTERS] + _LAST_CHARACTER)


def _put(tree: dict[str, Any], path: Sequence[str], value: str) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value


def _written(tree: Mapping[str, Any]) -> str:
    """A tree of texts of JSON as one: a decimal is written with all of its digits."""
    members = (
        f"{json.dumps(name)}:{value if isinstance(value, str) else _written(value)}"
        for name, value in tree.items()
    )
    return "{" + ",".join(members) + "}"
