"""What a file says about its columns, and whether it can be read to its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.column_names import folded
from ingest.declarations.stream import Format
from ingest.errors import SourceUnreadable
from ingest.parse.csv_records import CsvFile
from ingest.storage.files import is_file, open_file, open_stream, size_of

_CHUNK = 1 << 22
# A ValueError is what Python says of a column name that is not UTF-8.
_BROKEN = (OSError, EOFError, ValueError, pa.ArrowException)
_SHOWN = 200


def csv_header(file: CsvFile) -> tuple[str, ...] | None:
    """The names in a file's header, without blanks around them; None where it has no lines.

    Raises SourceUnreadable.
    """
    try:
        header = file.header()
    except (OSError, EOFError) as error:
        raise SourceUnreadable(f"{file.path}: {error}") from error
    if header is None:
        return None
    shown = header.raw[:_SHOWN].decode(errors="backslashreplace")
    if header.fault:
        raise SourceUnreadable(f"{file.path}: its header: {header.fault[1]}: {shown}")
    # After a blank a quote is none, but of names it is meant as one.
    names = tuple((name or "").strip().strip(file.options.quote) for name in header.values)
    if "\0" in "".join(names):
        raise SourceUnreadable(f"{file.path}: its header has a zero byte; is it UTF-16? {shown}")
    if len({folded(name) for name in names}) < len(names) or not all(names):
        raise SourceUnreadable(
            f"{file.path}: its header has an empty name or one name twice: {shown}"
        )
    return names


def opened_parquet(path: str) -> pq.ParquetFile:
    """A Parquet file. Raises OSError, or pyarrow's errors, where its footer is broken."""
    # In nanoseconds, the oldest form of a timestamp would end in the year 2262 and begin again.
    return pq.ParquetFile(open_file(path), coerce_int96_timestamp_unit="us")


def parquet_footer(path: str) -> tuple[pa.Schema, pq.FileMetaData]:
    """The columns of a Parquet file, and where they stand. Raises SourceUnreadable."""
    try:
        with opened_parquet(path) as file:
            return file.schema_arrow, file.metadata
    except _BROKEN as error:
        raise SourceUnreadable(f"{path}: {' '.join(str(error).split())}") from error


def empty_files(paths: Sequence[str]) -> list[str]:
    """The files of no bytes among `paths`."""
    return [path for path in paths if size_of(path) == 0 and is_file(path)]


def why_unreadable(path: str, file_format: Format) -> None:
    """Read a file to its end; raises SourceUnreadable with the reason where that fails."""
    try:
        match file_format:
            case Format.PARQUET:
                with opened_parquet(path) as file:
                    for group in range(file.num_row_groups):
                        file.read_row_group(group)
            case Format.JSON | Format.CSV | Format.AVRO | Format.BYTES:
                with open_stream(path) as stream:
                    while stream.read(_CHUNK):
                        pass
            case _:
                assert_never(file_format)
    except _BROKEN as error:
        raise SourceUnreadable(f"{path}: {' '.join(str(error).split())}") from error
