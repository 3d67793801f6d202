"""Delta tables written without Spark: a few rows, in milliseconds."""

from __future__ import annotations

import contextlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import (
    CommitProperties,
    DeltaTable,
    Schema,
    Transaction,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import CommitFailedError

from ingest.storage.delta_log import opened, requests_explained, version_of_application
from ingest.storage.layout import LOG, is_table, storage_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Each time another process was quicker.
_TRIES = 20
# Bytes of a file that is not written again to take up smaller ones.
_LARGE = 2**24
_FIRST_COMMIT = f"{0:020}.json"


def create(path: str, schema: str, properties: Mapping[str, str]) -> None:
    """Make an empty table unless there is one; `schema` is JSON, as Spark and Delta write it.

    Of two processes at once, one makes it.
    """
    if is_table(path):
        return
    # Of two writers of the first commit, deltalake lets the second one commit its definition as
    # the second version. So the commit is written elsewhere, and put only where there is none.
    with TemporaryDirectory() as folder:
        # Otherwise only properties of Delta's own are allowed.
        DeltaTable.create(
            folder,
            Schema.from_json(schema),
            configuration=dict(properties),
            raise_if_key_not_exists=False,
        )
        commit = Path(folder, LOG, _FIRST_COMMIT).read_bytes()
    storage_at(path).put_new(f"{LOG}/{_FIRST_COMMIT}", commit)


def replace_rows(path: str, rows: Sequence[Sequence[Any]], predicate: str) -> None:
    """Put rows in the place of those that `predicate`, in words of SQL, is true for.

    Two processes may do so at once, each for rows of its own.
    """

    def replace(table: DeltaTable) -> None:
        write_deltalake(table, _arrow(table, rows), mode="overwrite", predicate=predicate)

    _committed(path, replace)


def change_rows(
    path: str,
    column: str,
    value: str,
    change: Callable[[list[dict[str, Any]]], Sequence[Mapping[str, Any]]],
) -> None:
    """Put what `change` makes of the rows that have a value in their place, columns by name.

    Of two processes that change the same rows at once, the second one is given those of the first.
    Nothing is written where `change` returns them as they were.
    """
    literal = value.replace("'", "''")

    def changed(table: DeltaTable) -> None:
        scanner = table.to_pyarrow_dataset().scanner(
            filter=pc.field(column) == value, use_threads=False
        )
        there = scanner.to_table().to_pylist()
        rows = change(there)
        if list(rows) == there:
            return
        names = scanner.dataset_schema.names
        values = [tuple(one[name] for name in names) for one in rows]
        write_deltalake(
            table, _arrow(table, values), mode="overwrite", predicate=f"{column} = '{literal}'"
        )

    _committed(path, changed)


def append_rows(
    path: str, rows: Sequence[Sequence[Any]], *, application: str = "", version: int = 0
) -> None:
    """Append a few rows of Python values, in one commit, in the order of the table's columns.

    Skipped if `application`, where one is given, has already written `version`.
    """
    transactions = [Transaction(application, version)] if application else None

    def append(table: DeltaTable) -> None:
        if application and version_of_application(table, application) >= version:
            return
        write_deltalake(
            table,
            _arrow(table, rows),
            mode="append",
            commit_properties=CommitProperties(app_transactions=transactions),
        )

    _committed(path, append)


def write_once(path: str, rows: pa.Table, *, application: str, version: int, is_anew: bool) -> None:
    """Append rows to a table that gets their columns, or with `is_anew` replace all that it has.

    The caller is its only writer, and asks beforehand whether `application` has written `version`.
    """
    transaction = Transaction(application, version)
    with requests_explained(path):
        write_deltalake(
            opened(path),
            rows,
            mode="overwrite" if is_anew else "append",
            schema_mode="overwrite" if is_anew else "merge",
            writer_properties=WriterProperties(compression="ZSTD"),
            commit_properties=CommitProperties(app_transactions=[transaction]),
        )


def compact(path: str) -> None:
    """Make few files of a small table's many; left for another time where somebody else writes."""
    with contextlib.suppress(CommitFailedError), requests_explained(path):
        opened(path).optimize.compact(target_size=_LARGE)


def delete_rows(path: str, predicate: str) -> int:
    """Delete the rows that `predicate`, in words of SQL, is true for; how many there were."""
    with requests_explained(path):
        found = opened(path).delete(predicate)
    return int(found["num_deleted_rows"])


def _committed(path: str, write: Callable[[DeltaTable], None]) -> None:
    """Write to a table, again where another process has committed what this commit conflicts with.

    One that has failed has written nothing.
    """
    for attempt in range(_TRIES):
        try:
            with requests_explained(path):
                write(opened(path))
            return
        except CommitFailedError:
            if attempt == _TRIES - 1:
                raise


def _arrow(table: DeltaTable, rows: Sequence[Sequence[Any]]) -> pa.Table:
    schema = pa.schema(table.schema().to_arrow())
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [pa.array(values, kind.type) for values, kind in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
