"""What PostgreSQL holds and what was produced, beside what has landed; read without Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from psycopg import sql

_TIME = "to_char({} at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US')"
# (table, columns of the row, as both sides tell them, the amount that is summed)
_KEPT = {
    "customers": (
        f"customer_id, name, city, md5(about), {_TIME.format('updated_at')}",
        "length(about)",
    ),
    "orders": (
        f"order_id, customer_id, status, amount::text, {_TIME.format('placed_at')}",
        "amount",
    ),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One number on both sides."""

    what: str
    truth: str
    landed: str

    @property
    def is_same(self) -> bool:
        """Whether both agree."""
        return self.truth == self.landed


def compared(
    lake: Path, database: str, produced: Mapping[str, int], quarantined: Mapping[str, int]
) -> Iterator[Compared]:
    """Rows and sums of each kept table, events of each topic, and that nothing was refused."""
    with psycopg.connect(database) as connection:
        for table, (columns, summed) in _KEPT.items():
            asked = sql.SQL("select {} from {}").format  # of our own words alone
            name = sql.Identifier(table)
            rows = set(connection.execute(asked(sql.SQL(columns), name)).fetchall())
            total = connection.execute(asked(sql.SQL(f"sum({summed})"), name)).fetchone()
            there = _current(lake, table)
            yield Compared(f"{table}: rows", f"{len(rows):,}", f"{len(there):,}")
            different = len(rows.symmetric_difference(set(there)))
            yield Compared(f"{table}: rows that differ", "0", f"{different:,}")
            yield Compared(f"{table}: sum", str(total[0] if total else None), _sum(lake, table))
    for topic, count in sorted(produced.items()):
        places = _places(lake, topic.replace(".", "__"))
        yield Compared(f"{topic}: events", f"{count:,}", f"{places.num_rows:,}")
        twice = places.num_rows - places.group_by(places.column_names).aggregate([]).num_rows
        yield Compared(f"{topic}: landed twice", "0", f"{twice:,}")
    for stream, count in sorted(quarantined.items()):
        yield Compared(f"{stream}: quarantined", "0", f"{count:,}")


def _current(lake: Path, table: str) -> list[tuple[Any, ...]]:
    found = _table(lake, f"live__{table}__current")
    if found is None:
        return []
    rows = found.to_pylist()
    if table == "orders":
        return [
            (
                *(one["order_id"], one["customer_id"], one["status"], str(one["amount"])),
                _at(one["placed_at"]),
            )
            for one in rows
        ]
    return [
        (one["customer_id"], one["name"], one["city"], _md5(one["about"]), _at(one["updated_at"]))
        for one in rows
    ]


def _sum(lake: Path, table: str) -> str:
    found = _table(lake, f"live__{table}__current")
    if found is None:
        return "None"
    values = found["amount"] if table == "orders" else pc.utf8_length(found["about"])
    return str(pc.sum(values).as_py())


def _places(lake: Path, table: str) -> pa.Table:
    columns = ["_source", "_partition", "_offset"]
    found = _table(lake, table, columns)
    return found if found is not None else pa.table({name: [] for name in columns})


def _table(lake: Path, name: str, columns: list[str] | None = None) -> pa.Table | None:
    path = lake / "bronze" / name
    if not (path / "_delta_log").is_dir():
        return None
    return DeltaTable(str(path)).to_pyarrow_table(columns=columns)


def _md5(text: str | None) -> str | None:
    if text is None:
        return None
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _at(value: Any) -> str | None:
    return None if value is None else f"{value:%Y-%m-%d %H:%M:%S.%f}"
