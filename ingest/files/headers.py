"""What a file says about its columns, and whether it can be read to its end."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from ingest.column_names import folded
from ingest.declarations.stream import CsvOptions, Format
from ingest.errors import SourceUnreadable
from ingest.files.listing import opened

if TYPE_CHECKING:
    from pyspark.sql import DataFrameReader, SparkSession, types

_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """First line of a CSV file, as it stands and in names."""

    line: str
    names: tuple[str, ...]


def reader(spark: SparkSession) -> DataFrameReader:
    """A reader that takes files whatever their names.

    On a local disk, Hadoop looks for a checksum beside each file, which no producer writes and
    whose name cannot hold a colon (as times of day do). The plain file system has to be asked
    for past the cache of file systems.
    """
    return spark.read.option("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem").option(
        "fs.file.impl.disable.cache", "true"
    )


def as_patterns(paths: Sequence[str]) -> list[str]:
    """Paths for a reader, which takes brackets and stars in a name for a pattern."""
    return [re.sub(r"[][{}*?\\]", r"\\\g<0>", path) for path in paths]


def csv_header(path: str, options: CsvOptions) -> CsvHeader:
    """The header of a file with one. Raises SourceUnreadable."""
    system, inside = opened(path)
    try:
        with system.open_input_stream(inside) as stream:
            head = b""
            while b"\n" not in head and (chunk := stream.read(_CHUNK)):
                head += chunk
        line = head.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8-sig")
        names = next(csv.reader([line], delimiter=options.sep, quotechar=options.quote or None), [])
    except (OSError, UnicodeDecodeError, csv.Error, EOFError) as error:
        raise SourceUnreadable(f"{path}: {error}") from error
    if len({folded(name) for name in names}) < len(names) or not all(names):
        raise SourceUnreadable(
            f"{path}: its header has an empty name or one name twice: {line[:200]}"
        )
    return CsvHeader(line, tuple(names))


def parquet_columns(spark: SparkSession, path: str) -> types.StructType:
    """The columns of a Parquet file, as Spark reads them. Raises SourceUnreadable."""
    why_unreadable(path, Format.PARQUET, footer_only=True)
    return reader(spark).parquet(*as_patterns([path])).schema


def empty_files(paths: Sequence[str]) -> list[str]:
    """The files of no bytes among `paths`, which share a file system."""
    if not paths:
        return []
    system, _ = opened(paths[0])
    found = system.get_file_info([opened(path)[1] for path in paths])
    return [path for path, info in zip(paths, found, strict=True) if info.size == 0]


def why_unreadable(path: str, file_format: Format, *, footer_only: bool = False) -> None:
    """Read a file to its end; raises SourceUnreadable with the reason where that fails."""
    system, inside = opened(path)
    # JSON and Avro are read by Python, whatever the file's name.
    is_readable = file_format in (Format.JSON, Format.AVRO) or ":" not in inside
    if not is_readable and as_patterns([inside]) != [inside]:
        raise SourceUnreadable(
            f"{path}: Hadoop reads no name with a colon and one of []{{}}*?\\ in it"
        )
    try:
        if file_format is Format.PARQUET:
            with pq.ParquetFile(inside, filesystem=system) as file:
                for group in range(0 if footer_only else file.num_row_groups):
                    file.read_row_group(group)
        else:
            with system.open_input_stream(inside) as stream:
                while stream.read(_CHUNK):
                    pass
    except (OSError, EOFError, pa.ArrowException) as error:
        raise SourceUnreadable(f"{path}: {' '.join(str(error).split())}") from error
