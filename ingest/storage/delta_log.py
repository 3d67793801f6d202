"""Delta tables read without Spark: their logs, and a few rows; milliseconds each."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow import parquet

from ingest.storage.files import open_file
from ingest.storage.layout import LOG, storage_at
from ingest.storage.object_urls import Place, is_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_Answer = TypeVar("_Answer")

_FIRST_PROTOCOL = 2
# Of a commit's name; checkpoints and logs that were put together have longer ones.
_DIGITS = 20
# In an error of deltalake: an answer of an object store, or none.
_REQUEST = re.compile(r"Error performing|lacked the necessary privileges|Generic \w+ error")


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Rows of a batch, and how many of them have rescued values."""

    rows: int
    rescued: int


class BatchRange(NamedTuple):
    """Batches (after, up_to], which hold about so many rows."""

    after: int
    up_to: int
    rows: int


def table_id(path: str) -> str:
    """Delta's own id of a table, which a replaced table does not keep."""
    return str(opened(path).metadata().id)


def number_of_files(path: str) -> int:
    """Files that hold the table's rows."""
    return int(_files(path).num_rows)


def sizes_of_files(path: str) -> Sequence[int]:
    """Bytes of each file that holds rows of the table."""
    return [int(size) for size in _files(path)["size_bytes"].to_pylist()]


def is_clustered(path: str) -> bool:
    """Whether the table has liquid clustering."""
    return "clustering" in (opened(path).protocol().writer_features or [])


def has_local_times(path: str) -> bool:
    """Whether the table may have timestamps without a time zone."""
    return "timestampNtz" in (opened(path).protocol().writer_features or [])


def newest_batch(path: str) -> int:
    """The highest `_batch_id` of a bronze table; -1 where it has no rows."""
    return max((one["max._batch_id"] for one in _files(path).to_pylist()), default=-1)


def nulls(path: str, column: str) -> int:
    """How many rows have no value in a column, as far as statistics of files say."""
    return sum(one.get(f"null_count.{column}") or 0 for one in _files(path).to_pylist())


def batch_ranges(path: str, after: int, up_to: int, most_rows: int) -> Iterator[BatchRange]:
    """Ranges of a bronze table's batches past `after` that hold about `most_rows` each."""
    # Of a file that was compacted, each of its batches is taken to have as many rows.
    rows: Counter[int] = Counter()
    for file in _files(path).to_pylist():
        first, last = file["min._batch_id"], file["max._batch_id"]
        for batch in range(max(first, after + 1), min(last, up_to) + 1):
            rows[batch] += -(-file["num_records"] // (last - first + 1))
    low = after
    held = 0
    for batch, count in sorted(rows.items()):
        if held and held + count > most_rows:
            yield BatchRange(low, batch - 1, held)
            low, held = batch - 1, 0
        held += count
    if up_to > low:
        yield BatchRange(low, up_to, held)


def has_appended(path: str, *, application: str, version: int) -> bool:
    """Whether `append_once` has made this commit, be it one of no rows."""
    return last_version(path, application) >= version


def last_version(path: str, application: str) -> int:
    """The newest version that an application has written; -1 where it has written none."""
    return version_of_application(opened(path), application)


def version_of_application(table: DeltaTable, application: str) -> int:
    last = table.transaction_version(application)
    return -1 if last is None else int(last)


def counted(path: str, batch_id: int) -> BatchCounts | None:
    """Counts of a batch; None where a file holds rows of other batches too."""
    rows = rescued = 0
    for file in _files(path).to_pylist():
        if not file["min._batch_id"] <= batch_id <= file["max._batch_id"]:
            continue
        if file["min._batch_id"] != file["max._batch_id"]:
            return None
        rows += file["num_records"]
        rescued += file["num_records"] - file.get("null_count._rescued", file["num_records"])
    return BatchCounts(rows, rescued)


def rows_after(path: str, batch_id: int, columns: Sequence[str]) -> pa.Table:
    """Columns of a bronze table's rows with a higher `_batch_id`, read from their files alone.

    Texts are those of a dictionary, as they stand in a file.
    """
    names = [one["path"] for one in _files(path).to_pylist() if one["max._batch_id"] > batch_id]
    found = [
        parquet.read_table(
            open_file(f"{path}/{unquote(name)}"),
            columns=list(columns),
            read_dictionary=list(columns),
        )
        for name in names
    ]
    if not found:
        return pa.table({name: pa.array([], pa.null()) for name in columns})
    rows = pa.concat_tables(found).unify_dictionaries()
    return rows.filter(pc.greater(rows["_batch_id"], batch_id))


def distinct_values(
    path: str, column: str, counter: str, batches: tuple[int, int], *, most_rows: int
) -> pa.Array | None:
    """The values of a column in rows whose `counter` is in (after, up to], sorted, null last.

    Read from the files alone: a deleted row may count. None where statistics are missing, or
    there are more than `most_rows`.
    """
    after, up_to = batches
    table = opened(path)
    schema = pa.schema(table.schema().to_arrow())
    kept = table.metadata()
    # Files of such a table have other names for its columns.
    is_mapped = kept.configuration.get("delta.columnMapping.mode", "none") != "none"
    if is_mapped or kept.partition_columns or not {column, counter} <= set(schema.names):
        return None
    names, rows = [], 0
    for file in pa.table(table.get_add_actions(flatten=True)).to_pylist():
        least, greatest = file.get(f"min.{counter}"), file.get(f"max.{counter}")
        if least is None or greatest is None:
            return None
        if greatest > after and least <= up_to:
            names.append(unquote(file["path"]))
            rows += file["num_records"]
    if rows > most_rows:
        return None
    found = [pa.array([], schema.field(column).type)]
    for name in names:
        with open_file(f"{path}/{name}") as source, parquet.ParquetFile(source) as file:
            # One from before the column has nulls of it.
            if column in file.schema_arrow.names:
                read = file.read([column, counter], use_threads=False)
                number = read[counter]
                chosen = pc.and_(pc.greater(number, after), pc.less_equal(number, up_to))
                values = read.filter(chosen)[column].combine_chunks()
                found.append(values.cast(schema.field(column).type))
            else:
                found.append(pa.nulls(1, schema.field(column).type))
    values = pa.concat_arrays(found).unique()
    return values.take(pc.array_sort_indices(values))


def rows_where(
    path: str,
    wanted: Mapping[str, str],
    columns: Sequence[str],
    present: str = "",
    since: tuple[str, datetime] | None = None,
) -> pa.Table:
    """Columns of the rows that have these values, and any in the column `present`.

    `since` is a column of times and the first one wanted: older files are not read.
    """
    conditions = [pc.field(name) == value for name, value in wanted.items()]
    if since:
        conditions.append(pc.field(since[0]) >= since[1])
    if present:
        conditions.append(pc.field(present).is_valid())
    return _read(path, columns, reduce(and_, conditions))


def schema_json(path: str) -> str:
    """A table's schema in JSON, as Spark and Delta write it."""
    return str(opened(path).schema().to_json())


def column_names(path: str) -> list[str]:
    """A table's columns."""
    return [str(one.name) for one in opened(path).schema().fields]


def rows(path: str, columns: Sequence[str] | None = None) -> pa.Table:
    """A small table of bookkeeping as it is now: all columns, or those."""
    return _read(path, columns)


def _read(
    path: str, columns: Sequence[str] | None, wanted: pc.Expression | None = None
) -> pa.Table:
    """Rows, read by this thread alone: Arrow's threads may outlive a command, and abort it."""

    def read() -> pa.Table:
        dataset = opened(path).to_pyarrow_dataset()
        scanner = dataset.scanner(
            columns=list(columns) if columns else None,
            filter=wanted,
            use_threads=False,
        )
        return scanner.to_table()

    return _answer(path, read)


def _files(path: str) -> pa.Table:
    return _answer(path, lambda: pa.table(opened(path).get_add_actions(flatten=True)))


def opened(path: str) -> DeltaTable:
    return _answer(path, lambda: DeltaTable(path, storage_options=_options(path)))


def _answer(path: str, read: Callable[[], _Answer]) -> _Answer:
    """What `read` returns, called again where an object store's answer breaks off."""

    def reached() -> _Answer:
        with requests_explained(path):
            return read()

    if not is_object(path):
        return reached()
    from ingest.storage.object_store import bucket_of

    return bucket_of(Place.of(path).bucket).again(reached)


def _options(path: str) -> dict[str, str] | None:
    if not is_object(path):
        return None
    from ingest.storage.object_store import delta_options

    return delta_options(path)


@contextlib.contextmanager
def requests_explained(path: str) -> Iterator[None]:
    """Raise StorageFailed for what deltalake raises where an object store cannot be reached."""
    try:
        yield
    except (OSError, DeltaError) as error:
        is_missing = isinstance(error, FileNotFoundError)
        if not is_object(path) or is_missing or not _REQUEST.search(str(error)):
            raise
        from ingest.storage.object_store import failure

        raise failure(path, error) from None


def is_simple(path: str) -> bool:
    """Whether a table needs no feature that came after Delta's first protocol of writers."""
    return opened(path).protocol().min_writer_version <= _FIRST_PROTOCOL


def last_commit(path: str) -> Mapping[str, Any]:
    """The newest commit's own description, as Delta's history shows it, with its version."""
    storage = storage_at(path)
    found = (re.fullmatch(rf"(\d{{{_DIGITS}}})\.json", one.name) for one in storage.list(LOG))
    newest = max(one[1] for one in found if one)
    actions = map(json.loads, (storage.read(f"{LOG}/{newest}.json") or b"").splitlines())
    commit: Mapping[str, Any] = next(
        (one["commitInfo"] for one in actions if "commitInfo" in one), {}
    )
    return {**commit, "version": int(newest)}


def version(path: str) -> int:
    """How many commits a table has had, less one."""
    return int(opened(path).version())
