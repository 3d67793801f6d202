"""Files of CSV and Parquet, read by Spark's Python workers: each record with its place.

All that a file brings stands in one struct, whose members have the file's names: no name of a
file's column meets one of ours, or one of Spark's own.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyspark.sql import types as T

from ingest.decoders.file_headers import csv_header, opened_parquet, parquet_footer
from ingest.parse.arrow_columns import Lost, converted_columns
from ingest.parse.arrow_texts import json_of
from ingest.parse.arrow_types import members as column_members
from ingest.parse.csv_records import CsvFile, Record
from ingest.spark.sql import sql_type
from ingest.storage.files import size_of

if TYPE_CHECKING:
    from ingest.declarations.stream import Stream

# Columns of a record: its line in the file, or its number, from 1; its bytes, where asked for; what
# is wrong with it; what of it cannot be a column, by path; and its columns.
POSITION, RAW, FAULT, LOST, RECORD = "position", "raw", "fault", "lost", "record"
_FAULT = pa.struct([("code", pa.string()), ("reason", pa.string())])
_LOST = pa.map_(pa.string(), pa.string())
# Records, and their bytes, that travel to Spark at once.
_MOST_ROWS, _MOST_BYTES = 10_000, 1 << 24
# Bytes that one task reads of a file of many row groups.
_SHARE = 1 << 26
# So much larger is text than its gz.
_PACKED = 8
# Spark has no struct without members.
_NOTHING = T.StructType([T.StructField("-", T.StringType())])


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a file that one task reads: a CSV file, or row groups of a Parquet file.

    `before`: how many records of the file stand before it.
    """

    size: int
    groups: tuple[int, ...] = ()
    before: int = 0


class TabularFile(Protocol):
    """A file of rows with named columns."""

    @property
    def is_typed(self) -> bool:
        """Whether columns have types; if not, all are text, and an empty one is null."""
        ...

    @property
    def columns(self) -> T.StructType:
        """The columns that it brings."""
        ...

    @property
    def shares(self) -> list[Share]:
        """What can be read of it for itself."""
        ...

    def batches(self, share: Share, wanted: Set[int] | None) -> Iterator[pa.RecordBatch]:
        """The records of a share, as `ddl` says; of those at `wanted` positions alone, RAW too."""
        ...


def ddl(columns: T.StructType) -> str:
    """The columns of a record, for Spark."""
    return (
        f"{POSITION} long, {RAW} binary, {FAULT} struct<code: string, reason: string>, "
        f"{LOST} map<string, string>, {RECORD} {sql_type(columns or _NOTHING)}"
    )


@dataclass(frozen=True, slots=True)
class CsvRows:
    """See TabularFile: all columns are text."""

    file: CsvFile
    names: tuple[str, ...]

    @staticmethod
    def of(path: str, stream: Stream) -> CsvRows:
        """Without a header, the columns are those that are declared. Raises SourceUnreadable."""
        file = CsvFile(path, stream.csv, stream.multi_line)
        if stream.csv.header:
            return CsvRows(file, csv_header(file) or ())
        return CsvRows(file, tuple(hint.path[0] for hint in stream.columns))

    @property
    def is_typed(self) -> bool:
        """See TabularFile."""
        return False

    @property
    def columns(self) -> T.StructType:
        """See TabularFile."""
        return T.StructType([T.StructField(name, T.StringType()) for name in self.names])

    @property
    def shares(self) -> list[Share]:
        """See TabularFile."""
        packed = _PACKED if self.file.path.endswith((".gz", ".bz2")) else 1
        return [Share(size_of(self.file.path) * packed)]

    def batches(self, share: Share, wanted: Set[int] | None) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """See TabularFile."""
        rows: list[Record] = []
        size = 0
        for record in self.file.records(len(self.names)):
            if wanted is not None and record.position not in wanted:
                continue
            rows.append(record)
            size += len(record.raw)
            if len(rows) == _MOST_ROWS or size > _MOST_BYTES:
                yield self._batch(rows, has_raw=wanted is not None)
                rows, size = [], 0
        if rows:
            yield self._batch(rows, has_raw=wanted is not None)

    def _batch(self, rows: list[Record], *, has_raw: bool) -> pa.RecordBatch:
        nothing = [None] * len(self.names)
        values = zip(*(one.values if one.fault is None else nothing for one in rows), strict=True)
        arrays = [pa.array(column, pa.string()) for column in values]
        faults = [one.fault and {"code": one.fault[0], "reason": one.fault[1]} for one in rows]
        return _batch(
            pa.array([one.position for one in rows], pa.int64()),
            pa.array([one.raw if has_raw else None for one in rows], pa.binary()),
            pa.array(faults, _FAULT),
            pa.nulls(len(rows), _LOST),
            dict(zip(self.names, arrays, strict=True)),
        )


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """See TabularFile: columns by the file's schema; see `arrow_types`.

    `keeps`: what can be no column is kept as text. `sizes`: rows and bytes of each row group.
    """

    path: str
    schema: pa.Schema
    sizes: tuple[tuple[int, int], ...]
    keeps: bool

    @staticmethod
    def of(path: str, *, keeps: bool) -> ParquetRows:
        """Raises SourceUnreadable."""
        schema, footer = parquet_footer(path)
        groups = map(footer.row_group, range(footer.num_row_groups))
        sizes = tuple((one.num_rows, one.total_byte_size) for one in groups)
        return ParquetRows(path, schema, sizes, keeps)

    @property
    def is_typed(self) -> bool:
        """See TabularFile."""
        return True

    @property
    def columns(self) -> T.StructType:
        """See TabularFile."""
        found = column_members(pa.struct(list(self.schema)))
        return T.StructType([T.StructField(name, kind) for _, name, kind in found])

    @property
    def shares(self) -> list[Share]:
        """See TabularFile."""
        found: list[Share] = []
        groups: list[int] = []
        size = before = rows = 0
        for number, (count, length) in enumerate(self.sizes):
            groups.append(number)
            size, rows = size + length, rows + count
            if size >= _SHARE or number == len(self.sizes) - 1:
                found.append(Share(size, tuple(groups), before))
                groups, size, before = [], 0, rows
        return found

    def batches(self, share: Share, wanted: Set[int] | None) -> Iterator[pa.RecordBatch]:
        """See TabularFile."""
        rows = sum(self.sizes[group][0] for group in share.groups)
        at_once = min(max(1, rows * _MOST_BYTES // max(share.size, 1)), _MOST_ROWS)
        position = share.before + 1
        with opened_parquet(self.path) as file:
            for piece in file.iter_batches(at_once, list(share.groups), use_threads=False):
                positions = range(position, position + len(piece))
                position += len(piece)
                if wanted is None:
                    yield self._batch(piece, positions, ())
                elif not wanted.isdisjoint(positions):
                    chosen = pa.array([one in wanted for one in positions])
                    yield self._batch(piece, positions, wanted).filter(chosen)

    def _batch(
        self, piece: pa.RecordBatch, positions: range, with_raw: Container[int]
    ) -> pa.RecordBatch:
        columns, lost = converted_columns(piece, keeps=self.keeps)
        rows = piece.to_struct_array()
        raw = [
            json_of(rows[number]).encode() if position in with_raw else None
            for number, position in enumerate(positions)
        ]
        return _batch(
            pa.array(positions, pa.int64()),
            pa.array(raw, pa.binary()),
            pa.nulls(len(piece), _FAULT),
            _lost(lost, len(piece)),
            columns,
        )


def _lost(lost: Lost, count: int) -> pa.Array:
    """What is lost of each of `count` rows, by path."""
    rows: dict[int, list[tuple[str, str]]] = {}
    for path, texts in lost.items():
        for row, text in texts.items():
            rows.setdefault(row, []).append((path, text))
    return pa.array(map(rows.get, range(count)), _LOST) if rows else pa.nulls(count, _LOST)


def _batch(
    positions: pa.Array,
    raw: pa.Array,
    faults: pa.Array,
    lost: pa.Array,
    columns: dict[str, pa.Array],
) -> pa.RecordBatch:
    arrays = columns or {"-": pa.nulls(len(positions), pa.string())}
    record = pa.StructArray.from_arrays(list(arrays.values()), names=list(arrays))
    names = [POSITION, RAW, FAULT, LOST, RECORD]
    return pa.RecordBatch.from_arrays([positions, raw, faults, lost, record], names)
