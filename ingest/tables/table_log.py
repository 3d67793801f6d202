"""Delta tables without Spark: what their logs tell, and a few rows; milliseconds each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """Rows of a batch, and how many of them have rescued values."""

    rows: int
    rescued: int


def table_id(path: str) -> str:
    """Delta's own id of a table, which a replaced table does not keep."""
    return str(DeltaTable(path).metadata().id)


def number_of_files(path: str) -> int:
    """Files that hold the table's rows."""
    return int(_files(path).num_rows)


def newest_batch(path: str) -> int:
    """The highest `_batch_id` of a bronze table; -1 where it has no rows."""
    return max((one["max._batch_id"] for one in _files(path).to_pylist()), default=-1)


def has_appended(path: str, *, application: str, version: int) -> bool:
    """Whether `append_once` has made this commit, be it one of no rows."""
    return last_version(path, application) >= version


def last_version(path: str, application: str) -> int:
    """The newest version that an application has written; -1 where it has written none."""
    last = DeltaTable(path).transaction_version(application)
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


def rows(path: str, columns: Sequence[str]) -> pa.Table:
    """Columns of a small table of bookkeeping, as they are now."""
    return DeltaTable(path).to_pyarrow_table(columns=list(columns))


def _files(path: str) -> pa.Table:
    return pa.table(DeltaTable(path).get_add_actions(flatten=True))


def append_rows(
    path: str, rows: Sequence[Sequence[Any]], *, application: str = "", version: int = 0
) -> None:
    """Append a few rows of Python values, in one commit, in the order of the table's columns.

    Skipped if `application`, where one is given, has already written `version`.
    """
    if application and has_appended(path, application=application, version=version):
        return
    table = DeltaTable(path)
    schema = pa.schema(table.schema().to_arrow())
    columns = [
        pa.array(values, kind.type)
        for values, kind in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    transactions = [Transaction(application, version)] if application else None
    write_deltalake(
        table,
        pa.Table.from_arrays(columns, schema=schema),
        mode="append",
        commit_properties=CommitProperties(app_transactions=transactions),
    )
