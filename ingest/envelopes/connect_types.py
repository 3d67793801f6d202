"""Values of a database as Kafka Connect writes them in JSON, back in words that columns take.

A message that carries its schema says what each value is, by semantic type; of one without, the
declared type of the column and the modes of its connector say it. Semantic types are those of
Connect (`org.apache.kafka.connect.data`) and of Debezium ("Data type mappings" of its
PostgreSQL connector). A value that is not as its type says stays as it came, and is rescued.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from pyspark.sql import types as T

from ingest.declarations.stream import DebeziumOptions, DecimalHandling, TimePrecision
from ingest.parse.json_exact import Inexact, Known, Number, Refused, loaded
from ingest.parse.json_fit import NON_NUMBERS
from ingest.parse.known_shapes import AVRO, DECIMAL, Convert, kind_of_decimal, shaped
from ingest.schemas.conversion import type_at
from ingest.schemas.shape import TIMESTAMP

_EPOCH = date(1970, 1, 1)
# Spark casts other years too, but few readers of its tables do. What does not fit is rescued,
# with words that no cast takes for a date.
_IN_CALENDAR = re.compile(r"(?!0000)[0-9]{4}-")
_OUT_OF_CALENDAR = re.compile(r"[-+]?[0-9]+-|[-+]?infinity$")
_INFINITIES = (-(2**63), 2**63 - 1)
_FAR = "not in the years 1 to 9999: "
_MILLIS, _MICROS, _NANOS = 10**3, 10**6, 10**9
# Of PostgreSQL's numeric, whose limits are the widest: a scale is data, and may be anything.
_SCALES = range(-131_072, 16_384)
# As many digits as a number in JSON may have.
_MOST_DIGITS = 400
_JSON = "io.debezium.data.Json"


def unchanged(value: Any) -> Any:
    """What JSON has a word for."""
    return value


def by_schema(schema: Mapping[str, Any], kind: T.DataType | None) -> Convert:
    """For a value of this Connect schema, in a column that is declared as `kind` or not at all."""
    name, parameters = schema.get("name") or "", schema.get("parameters") or {}
    if name == DECIMAL:
        word = kind_of_decimal(parameters)
        return _safely(_decimal(int(parameters.get("scale", 0)), word, kind))
    named = by_name(name, kind)
    return _by_literal_type(schema, kind) if named is unchanged else named


def by_fields(schema: Mapping[str, Any], kind: T.DataType | None) -> Convert:
    """For a row, whose columns are those of a struct of Connect."""
    fields = {one["field"]: one for one in schema.get("fields", ())}
    return _members({name: by_schema(one, type_at(kind, (name,))) for name, one in fields.items()})


def _by_literal_type(schema: Mapping[str, Any], kind: T.DataType | None) -> Convert:
    of = schema.get("type")
    if of == "struct":
        return shaped(by_fields(schema, kind), schema)
    if of == "array":
        element = kind.elementType if isinstance(kind, T.ArrayType) else None
        return shaped(_elements(by_schema(schema["items"], element)), schema)
    if of == "map":
        value = kind.valueType if isinstance(kind, T.MapType) else None
        return shaped(_values(by_schema(schema["values"], value)), schema)
    return _LITERALS.get(str(of), unchanged)


def by_type(kind: T.DataType, options: DebeziumOptions) -> Convert:
    """For a value without a schema, in a column that is declared as `kind`."""
    if isinstance(kind, T.StructType):
        return _members({one.name: by_type(one.dataType, options) for one in kind.fields})
    if isinstance(kind, T.ArrayType):
        return _elements(by_type(kind.elementType, options))
    if isinstance(kind, T.MapType):
        return _values(by_type(kind.valueType, options))
    return _by_scalar_type(kind, options)


def _by_scalar_type(kind: T.DataType, options: DebeziumOptions) -> Convert:
    if isinstance(kind, T.DecimalType) and options.decimal_handling is DecimalHandling.PRECISE:
        return _safely(_decimal(kind.scale, _word(kind), kind))
    if isinstance(kind, T.DateType):
        return _safely(_date)
    if isinstance(kind, T.TimestampType | T.TimestampNTZType):
        return _safely(_timestamp(_TICKS[options.time_precision]))
    return _safely(_document) if isinstance(kind, T.VariantType) else unchanged


def by_name(name: str, kind: T.DataType | None) -> Convert:
    """For a value of this semantic type, in a column that is declared as `kind`."""
    if name == DECIMAL and isinstance(kind, T.DecimalType):
        return _safely(_decimal(kind.scale, _word(kind), kind))
    if name == _JSON and isinstance(kind, T.VariantType):
        return _safely(_document)
    if name in _WITHOUT_ZONE and isinstance(kind, T.TimestampNTZType):
        return _safely(_local(_NAMED[name]))
    return _safely(_NAMED[name]) if name in _NAMED else unchanged


def _safely(convert: Convert) -> Convert:
    """What cannot be converted stays as it came."""

    def converted(value: Any) -> Any:
        if value is None:
            return None
        try:
            return convert(value)
        except (ValueError, TypeError, KeyError, ArithmeticError, Refused):
            return value

    return converted


def _members(converts: Mapping[str, Convert]) -> Convert:
    changing = {name: one for name, one in converts.items() if one is not unchanged}
    if not changing:
        return unchanged

    def converted(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        found = dict(value)
        for name, convert in changing.items():
            if name in found:
                found[name] = convert(found[name])
        return found

    return converted


def _elements(convert: Convert) -> Convert:
    if convert is unchanged:
        return unchanged
    return lambda value: [convert(one) for one in value] if isinstance(value, list) else value


def _values(convert: Convert) -> Convert:
    if convert is unchanged:
        return unchanged
    return lambda value: (
        {name: convert(one) for name, one in value.items()} if isinstance(value, dict) else value
    )


def _bytes(value: Any) -> Any:
    return Known(_text(value), "BINARY")


def _double(value: Any) -> Any:
    """NaN and the infinities, for which JSON has no number."""
    return Known(value, "DOUBLE") if isinstance(value, str) and value in NON_NUMBERS else value


_LITERALS: Mapping[str, Convert] = {"bytes": _safely(_bytes), "double": _double, "float": _double}


def _word(kind: T.DecimalType) -> str:
    return f"DECIMAL({kind.precision},{kind.scale})"


def _decimal(scale: int, word: str, kind: T.DataType | None) -> Convert:
    def converted(value: Any) -> Any:
        if isinstance(value, Mapping):
            return _variable_decimal(value)
        text = _digits(value, scale)
        if isinstance(kind, T.LongType | T.DoubleType) and len(text) <= _MOST_DIGITS:
            return Number(text)
        return Known(text, word) if word else text

    return converted


def _variable_decimal(value: Any) -> str:
    return _digits(value["value"], int(value["scale"]))


def _digits(text: Any, scale: int) -> str:
    """The number whose digits are big-endian bytes in base64, and `scale` of them a fraction."""
    if scale not in _SCALES:
        raise ValueError(f"no scale of a decimal: {scale}")
    raw = b64decode(_text(text), validate=True)
    if not raw:
        raise ValueError("no digits")
    unscaled = Decimal(int.from_bytes(raw, "big", signed=True)).as_tuple()
    return format(Decimal((unscaled.sign, unscaled.digits, -scale)), "f")


def _text(value: Any) -> str:
    """A value that is text, and no number."""
    if not isinstance(value, str) or isinstance(value, Number | Inexact):
        raise TypeError(f"no text: {value!r}")
    return value


def _document(value: Any) -> Any:
    return loaded(value) if isinstance(value, str) else value


def _date(value: Any) -> str:
    if isinstance(value, Number):
        return Known(_day(int(value)) or f"{_FAR}{value} days", "DATE")
    return _moment(_text(value).removesuffix("Z"), "DATE")


@lru_cache(maxsize=4096)
def _day(days: int) -> str:
    """The date so many days after 1970-01-01; empty before year 1 and after 9999."""
    try:
        return (_EPOCH + timedelta(days=days)).isoformat()
    except OverflowError:
        return ""


def _moment(text: str, kind: str) -> str:
    if _IN_CALENDAR.match(text):
        return Known(text, kind)
    if _OUT_OF_CALENDAR.match(text):
        return Known(f"{_FAR}{text}", kind)
    raise ValueError(f"no moment: {text}")


def _time(ticks: int) -> Convert:
    """For a time of day, in ticks of a second since midnight."""

    def converted(value: Any) -> str:
        if isinstance(value, Number):
            return _clock(int(value), ticks)
        return _text(value).removesuffix("Z")

    return converted


def _time_of_day(ticks: int) -> Convert:
    """For a time of day of Avro's own; what is past the day is its number, as text."""

    def converted(value: Any) -> str:
        if not 0 <= int(value) < 86_400 * ticks:
            return str(value)
        return _clock(int(value), ticks)

    return converted


def _clock(time: int, ticks: int) -> str:
    if time < 0:
        raise ValueError(f"no time of day: {time}")
    seconds, fraction = divmod(time, ticks)
    clock = _second(seconds)
    if not fraction:
        return clock
    return f"{clock}.{str(ticks + fraction)[1:].rstrip('0')}"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def _local(timestamp: Convert) -> Convert:
    """For a time without a zone, which a column without a zone is to hold."""
    return lambda value: Known(timestamp(value).removesuffix("Z"), TIMESTAMP)


def _timestamp(ticks: int, *, may_be_infinite: bool = True) -> Convert:
    """For a moment, in ticks of a second since 1970-01-01 UTC; or one that is text.

    `may_be_infinite`: the ends of 64 bits stand for PostgreSQL's infinity.
    """

    def converted(value: Any) -> str:
        if not isinstance(value, Number):
            return _moment(_text(value), "TIMESTAMP")
        days, time = divmod(int(value), 86_400 * ticks)
        # Also where they count nanoseconds, whose ends are years of the calendar.
        is_infinite = may_be_infinite and int(value) in _INFINITIES
        day = "" if is_infinite else _day(days)
        text = f"{day}T{_clock(time, ticks)}Z" if day else f"{_FAR}{value} / {ticks} s"
        return Known(text, "TIMESTAMP")

    return converted


# Without a schema, with an adaptive connector, timestamps of up to three digits look like
# those of six, which are PostgreSQL's default.
_TICKS = {
    TimePrecision.ADAPTIVE: _MICROS,
    TimePrecision.ADAPTIVE_TIME_MICROSECONDS: _MICROS,
    TimePrecision.CONNECT: _MILLIS,
    TimePrecision.ISOSTRING: _MICROS,
    TimePrecision.MICROSECONDS: _MICROS,
    TimePrecision.NANOSECONDS: _NANOS,
}
LOCAL_TICKS = {
    "local-timestamp-millis": _MILLIS,
    "local-timestamp-micros": _MICROS,
    "local-timestamp-nanos": _NANOS,
}
_NAMED: Mapping[str, Convert] = {
    f"{AVRO}.time-millis": _time_of_day(_MILLIS),
    f"{AVRO}.time-micros": _time_of_day(_MICROS),
    f"{AVRO}.timestamp-nanos": _timestamp(_NANOS, may_be_infinite=False),
    **{
        f"{AVRO}.{name}": _timestamp(ticks, may_be_infinite=False)
        for name, ticks in LOCAL_TICKS.items()
    },
    "io.debezium.data.VariableScaleDecimal": _variable_decimal,
    "io.debezium.time.Date": _date,
    "io.debezium.time.IsoDate": _date,
    "io.debezium.time.IsoTime": _time(_MICROS),
    "io.debezium.time.IsoTimestamp": _timestamp(_MICROS),
    "io.debezium.time.MicroTime": _time(_MICROS),
    "io.debezium.time.MicroTimestamp": _timestamp(_MICROS),
    "io.debezium.time.NanoTime": _time(_NANOS),
    "io.debezium.time.NanoTimestamp": _timestamp(_NANOS),
    "io.debezium.time.Time": _time(_MILLIS),
    "io.debezium.time.Timestamp": _timestamp(_MILLIS),
    "io.debezium.time.ZonedTimestamp": _timestamp(_MICROS),
    "org.apache.kafka.connect.data.Date": _date,
    "org.apache.kafka.connect.data.Time": _time(_MILLIS),
    "org.apache.kafka.connect.data.Timestamp": _timestamp(_MILLIS),
}
# Of Debezium's those that count, which stand for PostgreSQL's `timestamp`.
_WITHOUT_ZONE = frozenset(
    {
        *(f"{AVRO}.{name}" for name in LOCAL_TICKS),
        "io.debezium.time.MicroTimestamp",
        "io.debezium.time.NanoTimestamp",
        "io.debezium.time.Timestamp",
        "org.apache.kafka.connect.data.Timestamp",
    }
)
