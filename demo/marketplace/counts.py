"""What the truth counts while files are written: one counter a stream, and the books of gold."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from demo.marketplace import clock
from demo.marketplace.arrivals import Fact, Line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from demo.marketplace.replication import Sent
    from demo.marketplace.tables import Row, Table

FUNNEL: Final = (
    "search_performed",
    "vehicle_viewed",
    "checkout_started",
    "payment_submitted",
    "order_placed",
)


@dataclass(slots=True)
class StreamCount:
    """How many lines of a stream were written, and what should become of them."""

    files: int = 0
    lines: int = 0
    duplicates: int = 0
    rescued: int = 0
    quarantined: Counter[str] = field(default_factory=Counter)
    by_date: Counter[str] = field(default_factory=Counter)
    by_type: Counter[str] = field(default_factory=Counter)
    by_date_and_type: defaultdict[str, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    _seen: set[int] = field(default_factory=set)

    @property
    def records_landed(self) -> int:
        """Lines that are neither unreadable nor a copy."""
        return self.lines - self.duplicates - self.quarantined.total()

    def read(self, lines: Iterable[Line]) -> Iterable[Any]:
        """Count the lines of one file; gives what the new good ones say."""
        self.files += 1
        for line in lines:
            self.lines += 1
            meaning = line.meaning
            if isinstance(meaning, str):
                self.quarantined[meaning] += 1
            elif meaning.serial in self._seen:
                self.duplicates += 1
            else:
                self._seen.add(meaning.serial)
                self.rescued += meaning.is_rescued
                date = clock.date(meaning.at)
                self.by_date[date] += 1
                if isinstance(meaning, Fact):
                    self.by_type[meaning.event_type] += 1
                    self.by_date_and_type[date][meaning.event_type] += 1
                yield meaning

    def told(self) -> dict[str, Any]:
        """As it stands in the truth."""
        told: dict[str, Any] = {
            "files": self.files,
            "lines": self.lines,
            "records_landed": self.records_landed,
            "duplicates": self.duplicates,
            "quarantined": dict(self.quarantined),
            "rescued": self.rescued,
        }
        if self.by_date:
            told["by_date"] = dict(self.by_date)
        if self.by_type:
            told["by_type"] = dict(self.by_type)
            told["by_date_and_type"] = {date: dict(n) for date, n in self.by_date_and_type.items()}
        return told


@dataclass(slots=True)
class TableCount:
    """The newest landed state of each row of a table, whatever the order of arrival."""

    table: Table
    stream: StreamCount = field(default_factory=StreamCount)
    newest: dict[Any, Sent] = field(default_factory=dict)

    def read(self, rows: Iterable[Sent]) -> None:
        """Count the rows of one file. Every row of a change file lands, also one sent twice."""
        self.stream.files += 1
        for sent in rows:
            self.stream.lines += 1
            self.stream.rescued += sent.is_rescued
            key = sent.row[self.table.key]
            known = self.newest.get(key)
            if known is None or _sequence(known) < _sequence(sent):
                self.newest[key] = sent

    def living(self) -> list[Row]:
        """The rows that are there in the end, by key; a value of the wrong type is null."""
        rows = []
        for key in sorted(self.newest):
            sent = self.newest[key]
            if sent.change is None or sent.change.operation != "D":
                wrong = {"mileage_km": None} if sent.is_rescued else {}
                rows.append(sent.row | wrong)
        return rows

    @property
    def deleted(self) -> int:
        """How many keys were there once and are gone."""
        return len(self.newest) - len(self.living())


def _sequence(sent: Sent) -> str:
    """A row of the full load is older than any change."""
    return sent.change.sequence if sent.change else ""


@dataclass(slots=True)
class Books:
    """What gold should say about the events that landed."""

    events: dict[str, Counter[str]] = field(
        default_factory=lambda: {step: Counter() for step in FUNNEL}
    )
    sessions: dict[str, defaultdict[str, set[str]]] = field(
        default_factory=lambda: {step: defaultdict(set) for step in FUNNEL}
    )
    started: dict[int, int] = field(default_factory=dict)
    completed: dict[int, int] = field(default_factory=dict)

    def enter(self, fact: Fact) -> None:
        """One application event that landed."""
        if fact.event_type in self.sessions:
            date = clock.date(fact.at)
            self.events[fact.event_type][date] += 1
            self.sessions[fact.event_type][date].add(fact.session_id)
        elif fact.order_id is not None:
            if fact.event_type == "delivery_started":
                self.started[fact.order_id] = fact.at
            elif fact.event_type == "delivery_completed":
                self.completed[fact.order_id] = fact.at

    def funnel_daily(self) -> dict[str, dict[str, dict[str, int]]]:
        """Per day and step: distinct sessions, and events."""
        days = sorted({date for counts in self.events.values() for date in counts})
        return {
            date: {
                step: {
                    "sessions": len(self.sessions[step][date]),
                    "events": self.events[step][date],
                }
                for step in FUNNEL
            }
            for date in days
        }

    def deliveries_daily(self) -> dict[str, dict[str, int]]:
        """Per day of completion: deliveries, and the minutes of those whose start landed too."""
        days: defaultdict[str, dict[str, int]] = defaultdict(
            lambda: {"deliveries": 0, "minutes": 0}
        )
        for order_id, completed in self.completed.items():
            day = days[clock.date(completed)]
            day["deliveries"] += 1
            if order_id in self.started:
                day["minutes"] += (completed - self.started[order_id]) // clock.MINUTE
        return dict(days)
