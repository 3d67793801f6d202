"""The shop's database: three tables, and every change that is made to them during the day."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from demo.marketplace import clock

Value = str | int | None
Row = dict[str, Value]


class Kind(Enum):
    """What a column holds; money is kept in whole cents, instants in milliseconds of the clock."""

    WHOLE = "whole"
    TEXT = "text"
    MONEY = "money"
    INSTANT = "instant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of the shop, as its database declares it."""

    name: str
    key: str
    columns: tuple[tuple[str, Kind], ...]
    file_type: str = "csv"

    @property
    def stream(self) -> str:
        """The bronze table in which the changes land."""
        return f"shop__{self.name}"


CUSTOMERS: Final = Table(
    name="customers",
    key="customer_id",
    columns=(
        ("customer_id", Kind.WHOLE),
        ("name", Kind.TEXT),
        ("email", Kind.TEXT),
        ("city", Kind.TEXT),
        ("segment", Kind.TEXT),
        ("created_at", Kind.INSTANT),
        ("updated_at", Kind.INSTANT),
    ),
)
VEHICLES: Final = Table(
    name="vehicles",
    key="vehicle_id",
    columns=(
        ("vehicle_id", Kind.WHOLE),
        ("vin", Kind.TEXT),
        ("make", Kind.TEXT),
        ("model", Kind.TEXT),
        ("model_year", Kind.WHOLE),
        ("mileage_km", Kind.WHOLE),
        ("price_eur_cents", Kind.WHOLE),
        ("status", Kind.TEXT),
        ("listed_at", Kind.INSTANT),
        ("updated_at", Kind.INSTANT),
    ),
)
ORDERS: Final = Table(
    name="orders",
    key="order_id",
    columns=(
        ("order_id", Kind.WHOLE),
        ("customer_id", Kind.WHOLE),
        ("vehicle_id", Kind.WHOLE),
        ("status", Kind.TEXT),
        ("amount", Kind.MONEY),
        ("placed_at", Kind.INSTANT),
        ("updated_at", Kind.INSTANT),
    ),
    file_type="parquet",
)
TABLES: Final = (CUSTOMERS, VEHICLES, ORDERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change in the database's log: the whole row after it (before it, for a delete)."""

    table: Table
    operation: str
    committed: int
    sequence: str
    row: Row

    @property
    def key(self) -> Value:
        """Which row changed."""
        return self.row[self.table.key]


@dataclass(slots=True)
class Database:
    """Collects what is done to the tables in any order, and tells the log in order of time."""

    loaded: dict[str, dict[Value, Row]] = field(
        default_factory=lambda: {table.name: {} for table in TABLES}
    )
    _statements: list[tuple[int, int, Table, str, Value, Row]] = field(default_factory=list)

    def load(self, table: Table, row: Row) -> None:
        """A row that was there before the day began."""
        self.loaded[table.name][row[table.key]] = row

    def insert(self, at: int, table: Table, row: Row) -> None:
        """A row is added. Statements with the same `at` belong to one transaction."""
        self._statements.append((at, len(self._statements), table, "I", row[table.key], row))

    def update(self, at: int, table: Table, key: Value, **values: Value) -> None:
        """Some columns of a row change, if the row is still there then."""
        self._statements.append((at, len(self._statements), table, "U", key, values))

    def delete(self, at: int, table: Table, key: Value) -> None:
        """A row is removed, if it is still there then."""
        self._statements.append((at, len(self._statements), table, "D", key, {}))

    def log(self) -> list[Change]:
        """Every change of the day in commit order, each with its change sequence.

        What would change a row that is not there, or insert one that is, does not happen.
        """
        rows = {name: dict(table) for name, table in self.loaded.items()}
        changes: list[Change] = []
        for at, _, table, operation, key, values in sorted(self._statements, key=lambda s: s[:2]):
            if at >= clock.DAY:
                break
            before = rows[table.name].get(key)
            if (before is None) != (operation == "I"):
                continue
            row = (before or {}) | values
            if operation == "D":
                del rows[table.name][key]
            else:
                row["updated_at"] = at
                rows[table.name][key] = row
            sequence = change_sequence(at, len(changes) + 1)
            changes.append(
                Change(table=table, operation=operation, committed=at, sequence=sequence, row=row)
            )
        return changes


def change_sequence(at: int, position: int) -> str:
    """What AWS DMS calls AR_H_CHANGE_SEQ: the commit to hundredths, then the place in the log."""
    text = clock.iso(at)
    digits = "".join(letter for letter in text[:22] if letter.isdigit())
    return f"{digits}{position * 16:019d}"
