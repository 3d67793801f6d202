"""The one rule of what is a date or a timestamp, for every format and every reader.

A text is a date as `2026-11-28`, and a timestamp as a date with a time behind it:
`2026-11-28T10:15:00.123456+01:00`. Seconds, fraction and offset may be missing, but an offset
needs seconds; a space may stand for the `T`. Without an offset a time is in UTC, and a date alone
is its midnight. Of nanoseconds the last three digits are cut. Anything else is none: a time of
day, a bare year, a count of seconds, for which Spark's cast would make up the rest.

Years go from 1 to 9999 in UTC, because Python and SQL clients show no others.
"""

from __future__ import annotations

from pyspark.sql import types as T

# Forms without groups and look-aheads, so that Java, RE2 and Python read them alike.
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
DATE_FORM = f"{_YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_MINUTE, _SECOND = "(?:[01][0-9]|2[0-3]):[0-5][0-9]", ":[0-5][0-9](?:[.][0-9]{1,9})?"
# An offset is at most 18 hours: java.time.ZoneOffset.MAX.
_ZONE = "[ ]?(?:Z|UTC|[+-](?:0[0-9]|1[0-8])(?::?[0-5][0-9])?)"
_LOCAL_FORM = f"{DATE_FORM}(?:[T ]{_MINUTE}(?:{_SECOND})?)?"
_TIMESTAMP_FORM = f"{DATE_FORM}(?:[T ]{_MINUTE}(?:{_SECOND}(?:{_ZONE})?)?)?"
_FORMS: dict[type[T.DataType], str] = {
    T.DateType: DATE_FORM,
    T.TimestampType: _TIMESTAMP_FORM,
    T.TimestampNTZType: _LOCAL_FORM,
}
_BOUNDS: dict[type[T.DataType], tuple[str, str]] = {
    T.DateType: ("date'0001-01-01'", "date'9999-12-31'"),
    T.TimestampType: (
        "timestamp'0001-01-01 00:00:00Z'",
        "timestamp'9999-12-31 23:59:59.999999Z'",
    ),
    T.TimestampNTZType: (
        "timestamp_ntz'0001-01-01 00:00:00'",
        "timestamp_ntz'9999-12-31 23:59:59.999999'",
    ),
}


# Of the same years, in microseconds since 1970.
FIRST_MICROSECOND, LAST_MICROSECOND = -62_135_596_800_000_000, 253_402_300_799_999_999


def is_datetime(kind: T.DataType) -> bool:
    """Whether a type is that of a date or a timestamp."""
    return type(kind) in _FORMS


def from_text(kind: T.DataType, text: str) -> str:
    """SQL of the date or timestamp that a text is; null where it is none."""
    cast = f"try_cast({text} as {kind.simpleString()})"
    form = f"^[ ]*(?:{_FORMS[type(kind)]})[ ]*\\\\z"
    return f"if({text} rlike '{form}' and {is_in_range(kind, cast)}, {cast}, null)"


def is_in_range(kind: T.DataType, value: str) -> str:
    """SQL: whether every reader can show a date or timestamp; null where there is none."""
    least, most = _BOUNDS[type(kind)]
    return f"{value} between {least} and {most}"


def utc_date_of(kind: T.DataType | None, value: str) -> str:
    """SQL of the day of a column's value, in UTC; null where it has none."""
    if isinstance(kind, T.StringType):
        return f"cast({from_text(T.TimestampType(), value)} as date)"
    return f"cast({value} as date)" if type(kind) in _FORMS else "cast(null as date)"
