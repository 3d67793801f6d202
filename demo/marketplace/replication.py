"""AWS DMS at work: a full load of each table, then its changes, file by file.

A change mostly arrives seconds after its commit, sometimes hours later and so behind newer changes
of the same row, and now and then twice. The order is in AR_H_CHANGE_SEQ alone.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from demo.marketplace import clock
from demo.marketplace.arrivals import LAST_ARRIVAL, window_of
from demo.marketplace.clock import HOUR, SECOND
from demo.marketplace.draw import Draw
from demo.marketplace.tables import TABLES, Change, Database, Kind, Row, Table, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

LATE: Final = 0.04
TWICE: Final = 0.01
LATE_BEFORE_DELETE: Final = 0.6
# One in so many changes of a vehicle has letters where its mileage should be.
WRONG_MILEAGE_EVERY: Final = 120
ROWS_A_FILE: Final = 25_000
_TYPES: Final = {
    Kind.WHOLE: pa.int64(),
    Kind.TEXT: pa.string(),
    Kind.MONEY: pa.decimal128(12, 2),
    Kind.INSTANT: pa.timestamp("us", tz="UTC"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One row of a file: a row of the full load, or a change."""

    table: Table
    row: Row
    arrived: int = 0
    change: Change | None = None
    is_rescued: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DmsFile:
    """One file of one table; the full load is closed before the day begins."""

    path: str
    closed_hour: int
    rows: list[Sent]
    table: Table

    def data(self) -> bytes:
        """The bytes, in the table's file type."""
        write = _parquet if self.table.file_type == "parquet" else _csv
        return write(self.table, self.rows)


def files(database: Database, seed: int) -> Iterator[DmsFile]:
    """All files of all tables, in the order in which they are closed."""
    for table in TABLES:
        rows = [Sent(table=table, row=row) for row in database.loaded[table.name].values()]
        for number, start in enumerate(range(0, len(rows), ROWS_A_FILE), start=1):
            path = f"dms/shop/{table.name}/LOAD{number:08d}.{table.file_type}"
            yield DmsFile(
                path=path, closed_hour=0, rows=rows[start : start + ROWS_A_FILE], table=table
            )
    windows: list[list[Sent]] = [[] for _ in clock.closings()]
    for sent in _sent(database.log(), Draw(seed, "replication")):
        windows[window_of(sent.arrived)].append(sent)
    for closed_hour, window in zip(clock.closings(), windows, strict=True):
        for table in TABLES:
            rows = [sent for sent in window if sent.table is table]
            rows.sort(key=lambda sent: sent.arrived)
            if rows:
                name = clock.compact(closed_hour * HOUR)
                path = f"dms/shop/{table.name}/{name}.{table.file_type}"
                yield DmsFile(path=path, closed_hour=closed_hour, rows=rows, table=table)


def _sent(log: Sequence[Change], draw: Draw) -> Iterator[Sent]:
    """The changes with their time of arrival, some late, some twice, some with a wrong value."""
    followed_by: dict[tuple[str, Value], str] = {}
    fates: list[str] = []
    for change in reversed(log):
        key = (change.table.name, change.key)
        fates.append(followed_by.get(key, ""))
        followed_by[key] = change.operation
    vehicles = 0
    for change, fate in zip(log, reversed(fates), strict=True):
        arrived = change.committed + SECOND + draw.below(20 * SECOND)
        if draw.chance(LATE_BEFORE_DELETE if fate == "D" else LATE):
            arrived += draw.between(HOUR, 4 * HOUR)
        row, is_wrong = change.row, False
        if "mileage_km" in row:
            vehicles += 1
            is_wrong = vehicles % WRONG_MILEAGE_EVERY == 20 and change.operation == "U"
            row = row | {"mileage_km": "n/a"} if is_wrong else row
        sent = Sent(
            table=change.table,
            row=row,
            arrived=min(arrived, LAST_ARRIVAL),
            change=change,
            is_rescued=is_wrong,
        )
        yield sent
        if draw.chance(TWICE):
            yield Sent(
                table=change.table,
                row=row,
                arrived=min(arrived + draw.below(2 * HOUR), LAST_ARRIVAL),
                change=change,
                is_rescued=is_wrong,
            )


def _columns(table: Table, rows: list[Sent]) -> dict[str, tuple[Kind, list[Value]]]:
    """The file's columns in order: what DMS adds, then the table's own."""
    changes = [sent.change for sent in rows]
    operations: list[Value] = [change.operation for change in changes if change]
    columns: dict[str, tuple[Kind, list[Value]]] = {"Op": (Kind.TEXT, operations)}
    if not operations:
        del columns["Op"]
    columns["commit_timestamp"] = (
        Kind.INSTANT,
        [each.committed if each else None for each in changes],
    )
    columns["AR_H_CHANGE_SEQ"] = (Kind.TEXT, [each.sequence if each else None for each in changes])
    for name, kind in table.columns:
        columns[name] = (kind, [sent.row[name] for sent in rows])
    return columns


def _csv(table: Table, rows: list[Sent]) -> bytes:
    columns = _columns(table, rows)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    texts = [[_text(kind, value) for value in values] for kind, values in columns.values()]
    writer.writerows(zip(*texts, strict=True))
    return text.getvalue().encode()


def _text(kind: Kind, value: Value) -> str:
    if value is None:
        return ""
    return clock.sql(value) if kind is Kind.INSTANT and isinstance(value, int) else str(value)


def _parquet(table: Table, rows: list[Sent]) -> bytes:
    arrays = {
        name: pa.array([_exact(kind, value) for value in values], type=_TYPES[kind])
        for name, (kind, values) in _columns(table, rows).items()
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(arrays), sink, compression="snappy")
    return sink.getvalue()


def _exact(kind: Kind, value: Value) -> Value | Decimal | datetime:
    if not isinstance(value, int):
        return value
    if kind is Kind.MONEY:
        return Decimal(value).scaleb(-2)
    return clock.moment(value) if kind is Kind.INSTANT else value
