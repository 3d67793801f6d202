"""The marketplace's clock: whole milliseconds since its day began, and how others write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final

# Six in the morning to six in the morning, so that the day touches two calendar days.
DAY_START: Final = datetime(2026, 3, 2, 6, tzinfo=UTC)
SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@cache
def _minute(number: int) -> str:
    return (DAY_START + timedelta(minutes=number)).strftime("%Y-%m-%dT%H:%M:")


def iso(at: int) -> str:
    """As JSON carries it: `2026-03-02T06:00:00.000Z`."""
    minute, rest = divmod(at, MINUTE)
    second, milli = divmod(rest, SECOND)
    return f"{_minute(minute)}{second:02d}.{milli:03d}Z"


def iso_seconds(at: int) -> str:
    """As the trucks send it: `2026-03-02T06:00:00Z`."""
    minute, rest = divmod(at, MINUTE)
    return f"{_minute(minute)}{rest // SECOND:02d}Z"


def sql(at: int) -> str:
    """As a database writes it: `2026-03-02 06:00:00.000`."""
    return iso(at)[:-1].replace("T", " ")


def date(at: int) -> str:
    """The calendar day in UTC."""
    return _minute(at // MINUTE)[:10]


def moment(at: int) -> datetime:
    """The same instant as Python's own type."""
    return DAY_START + timedelta(milliseconds=at)


def compact(at: int) -> str:
    """As AWS DMS names its change files: `20260302-060000000`."""
    text = iso(at)
    return f"{text[:10].replace('-', '')}-{text[11:19].replace(':', '')}{text[20:23]}"


def closings() -> list[int]:
    """The hours of the day at which files are closed; after it every six, for what comes late."""
    return [*range(1, 25), 30, 36, 42, 48]
