"""The truth about the files that were written, to compare the pipeline's tables with, to the row.

`truth.json` holds, for all files up to the last part written:

- `streams.<bronze table>`
  - `lines`: lines of JSON files, rows of CSV and Parquet files (the header is none).
  - `quarantined`: lines by reason code that cannot be read or have no key; a bad line that was
    sent twice counts twice. One row each in `bronze.<table>__quarantine`.
  - `duplicates`: good lines whose event id (for positions: truck and time) has landed before.
    A bad line is no first copy: the good line after it lands. Copies are equal byte for byte.
  - `records_landed` = lines - duplicates - quarantined: the rows of the bronze table. Of database
    changes every row lands, also one that DMS sent twice.
  - `rescued`: landed rows with a value that does not fit its declared type (`_rescued` is set).
  - `by_date`, `by_type`, `by_date_and_type`: landed rows by the day in UTC of the event's own time.
- `tables.<table>_current`: `living` rows and `deleted` keys once the change with the highest
  AR_H_CHANGE_SEQ wins (the full load has none and is older than any change), and `checksum`, the
  SHA-256 of `final_<table>_current.jsonl` beside it: the living rows by key, columns in the shop's
  order, instants as `2026-03-02T06:00:00.000Z`, money as text with two decimals.
- `gold`
  - `sales` and `sales_daily`: living orders that are paid, shipped or delivered, by the day in UTC
    on which they were placed, and the sum of their amounts.
  - `sales_as_of` in `final_sales_as_of.jsonl`: sales of the day itself with the customer's segment
    and the car's price as the landed changes up to the order's own transaction tell them.
  - `funnel_daily`: per day and step, the distinct sessions with that event, and the events.
  - `deliveries_daily`: by the day of `delivery_completed`, the orders, and the whole minutes since
    `delivery_started`, summed over those where it has landed too.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from demo.marketplace import clock
from demo.marketplace.counts import Books, StreamCount, TableCount
from demo.marketplace.history import SaleAsOf, sales_as_of
from demo.marketplace.landing import write
from demo.marketplace.tables import TABLES, Kind, Row, Table, Value

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from demo.marketplace.arrivals import Line
    from demo.marketplace.plan import Plan
    from demo.marketplace.replication import Sent

APP_EVENTS: Final = "market__app_events"
POSITIONS: Final = "fleet__positions"
SOLD: Final = ("paid", "shipped", "delivered")


@dataclass(slots=True)
class Truth:
    """Reads along while files are written, and tells in the end what they amount to."""

    app_events: StreamCount = field(default_factory=StreamCount)
    positions: StreamCount = field(default_factory=StreamCount)
    tables: dict[str, TableCount] = field(
        default_factory=lambda: {table.name: TableCount(table) for table in TABLES}
    )
    books: Books = field(default_factory=Books)
    _changes: dict[str, Sent] = field(default_factory=dict)

    def read_app_events(self, lines: Iterable[Line]) -> None:
        """A file of application events."""
        for fact in self.app_events.read(lines):
            self.books.enter(fact)

    def read_positions(self, lines: Iterable[Line]) -> None:
        """A file of positions."""
        for _ in self.positions.read(lines):
            pass

    def read_rows(self, table: Table, rows: list[Sent]) -> None:
        """A file of a table's rows."""
        self.tables[table.name].read(rows)
        for sent in rows:
            key = sent.change.sequence if sent.change else f" {table.name} {sent.row[table.key]}"
            self._changes[key] = sent

    def told(self, plan: Plan) -> dict[str, Any]:
        """The whole truth, as it stands in truth.json."""
        streams = {
            APP_EVENTS: self.app_events.told(),
            POSITIONS: self.positions.told(),
        }
        for count in self.tables.values():
            streams[count.table.stream] = count.stream.told()
        return {
            "seed": plan.seed,
            "events": plan.events,
            "parts": plan.parts,
            "last_part": plan.last_part,
            "streams": streams,
            "tables": {
                f"{name}_current": {
                    "living": len(count.living()),
                    "deleted": count.deleted,
                    "checksum": hashlib.sha256(json_lines(count)).hexdigest(),
                }
                for name, count in self.tables.items()
            },
            "gold": {
                **sales(self.tables["orders"].living()),
                "funnel_daily": self.books.funnel_daily(),
                "deliveries_daily": self.books.deliveries_daily(),
            },
        }

    def write(self, plan: Plan, folder: Path) -> dict[str, Any]:
        """Write truth.json and the final rows into `folder`."""
        told = self.told(plan)
        for name, count in self.tables.items():
            write(folder, f"final_{name}_current.jsonl", json_lines(count))
        as_of = sales_as_of(self._changes, self.tables["orders"].living(), SOLD)
        write(folder, "final_sales_as_of.jsonl", b"".join(map(_as_of_line, as_of)))
        text = json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False)
        write(folder, "truth.json", f"{text}\n".encode())
        return told


def told_row(table: Table, row: Row) -> dict[str, Any]:
    """A row as the truth writes it."""
    return {name: _told_value(kind, row[name]) for name, kind in table.columns}


def json_lines(count: TableCount) -> bytes:
    """The living rows of a table, by key."""
    rows = (told_row(count.table, row) for row in count.living())
    return b"".join(f"{json.dumps(row, ensure_ascii=False)}\n".encode() for row in rows)


def money(cents: int) -> str:
    """Cents as text with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"


def sales(orders: Iterable[Row]) -> dict[str, Any]:
    """Sales in all and by day."""
    days: defaultdict[str, list[int]] = defaultdict(list)
    for order in orders:
        placed, amount = order["placed_at"], order["amount"]
        if order["status"] in SOLD and isinstance(placed, int) and isinstance(amount, int):
            days[clock.date(placed)].append(amount)
    amounts = [amount for day in days.values() for amount in day]
    return {
        "sales": {"sales": len(amounts), "amount_eur_cents": sum(amounts)},
        "sales_daily": {
            date: {"sales": len(day), "amount_eur_cents": sum(day)} for date, day in days.items()
        },
    }


def _told_value(kind: Kind, value: Value) -> Value:
    if not isinstance(value, int):
        return value
    if kind is Kind.MONEY:
        return money(value)
    return clock.iso(value) if kind is Kind.INSTANT else value


def _as_of_line(sale: SaleAsOf) -> bytes:
    record = {
        "order_id": sale.order_id,
        "segment": sale.segment,
        "price_eur_cents": sale.price_eur_cents,
    }
    return f"{json.dumps(record)}\n".encode()
