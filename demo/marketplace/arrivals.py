"""Lines on their way: each waits for the file that is open when it arrives."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import count
from typing import Final, NamedTuple

from demo.marketplace import clock

LAST_ARRIVAL: Final = 48 * clock.HOUR - 1
_CLOSED: Final = [hour * clock.HOUR for hour in clock.closings()]


class Fact(NamedTuple):
    """What a good line of an application says; `serial` is one per event, however often sent."""

    serial: int
    event_type: str
    at: int
    session_id: str
    order_id: int | None
    amount_eur_cents: int
    is_rescued: bool


class Position(NamedTuple):
    """What a good line of a truck says."""

    serial: int
    truck_id: str
    at: int
    order_id: int | None
    is_rescued: bool


class Line(NamedTuple):
    """One line of a file: what it says, or the reason code why it says nothing."""

    arrived: int
    place: int
    data: bytes
    meaning: Fact | Position | str


def window_of(arrived: int) -> int:
    """Which of the day's files is open then."""
    return bisect_right(_CLOSED, min(arrived, LAST_ARRIVAL))


@dataclass(slots=True)
class Arrivals:
    """The lines of one stream that have been sent, by the file that they will be in."""

    windows: list[list[Line]] = field(default_factory=lambda: [[] for _ in _CLOSED])
    _places: count[int] = field(default_factory=count)

    def deliver(self, arrived: int, data: bytes, meaning: Fact | Position | str) -> None:
        """A line arrives; lines that arrive together stay in the order of these calls."""
        line = Line(min(arrived, LAST_ARRIVAL), next(self._places), data, meaning)
        self.windows[window_of(arrived)].append(line)

    def close(self, window: int) -> list[Line]:
        """The lines of one file in the order of arrival; they are let go of here."""
        lines, self.windows[window] = self.windows[window], []
        lines.sort()
        return lines
