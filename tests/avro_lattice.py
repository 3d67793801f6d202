"""Random types of Avro with values, and what of a value is to land by the documented rules."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from ingest.column_names import member_path


class Either:
    """Stands for one of several values."""

    def __init__(self, *values: Any) -> None:
        self._values = values

    def __eq__(self, other: object) -> bool:
        return any(type(one) is type(other) and one == other for one in self._values)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"one of {self._values!r}"


FAR = "outside what the column holds, so null and rescued"
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001
_TEXTS = ("", "x", "NaN", "2026-01-01", "null", '{"a": 1}', "ü\n\\\"'", "\u2028 \U0001f600", "1e5")
_PLAIN_NAMES = (
    *("a", "value", "length", "record", "fields", "type", "schema", "payload", "text"),
    *("file", "line", "select", "element", "key", "op", "before", "after", "Name", "i"),
    *("_record", "_raw", "_row", "_ref", "_metadata", "_corrupt_record", "_x", "_body", "_form"),
)
_NAMES = (
    *(*_PLAIN_NAMES, "A", "I", "ı", "de-DE", "a.b"),
    *("a b", "1", "`", "x`y", "a'b", "field", "items", "name", "ß", "ς", "σ", "${x}", 'q"q'),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A type: its schema, a value as Avro encodes it, and what is to land of that."""

    schema: Any
    draw: Callable[[random.Random], Any]
    lands: Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def _one_of(*values: Any) -> Callable[[random.Random], Any]:
    return lambda rng: rng.choice(values)


def _float(value: float) -> Any:
    """The shortest digits that are this float of 32 bits."""
    if not math.isfinite(value):
        return value
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    shortest = next(float(one) for one in texts if _in_32_bits(float(one)) == value)
    # Of messages, columns are floats of 32 bits themselves.
    return Either(shortest, value)


def _in_32_bits(value: float) -> float:
    try:
        found: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.inf
    return found


def _moment(ticks: int) -> Callable[[int], Any]:
    def lands(value: int) -> Any:
        try:
            return _EPOCH + timedelta(microseconds=value * 10**6 // ticks)
        except OverflowError:
            return FAR

    return lands


def _day(value: int) -> Any:
    try:
        return date(1970, 1, 1) + timedelta(days=value)
    except OverflowError:
        return FAR


def _clock(ticks: int) -> Callable[[int], Any]:
    def lands(value: int) -> str:
        if not 0 <= value < 86_400 * ticks:
            return str(value)
        seconds, fraction = divmod(value, ticks)
        text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        return f"{text}.{str(ticks + fraction)[1:].rstrip('0')}" if fraction else text

    return lands


def _decimal(precision: int, scale: int) -> Callable[[bytes], Any]:
    def lands(value: bytes) -> Any:
        sign, digits, _ = Decimal(int.from_bytes(value, "big", signed=True)).as_tuple()
        number = Decimal((sign, digits, -scale))
        if precision > 38:
            return format(number, "f")
        return number if len(number.as_tuple().digits) <= precision else FAR

    return lands


def _fixed(size: int, **more: Any) -> Callable[[str], dict[str, Any]]:
    return lambda name: {"type": "fixed", "name": name, "size": size, **more}


_TIMES = (0, 1, -1, 86_399_999, 1_764_000_000_123_456, -(2**63), 2**63 - 1, 253_402_300_800_000)
# Of 9 to 16 bytes; and of more than 38 digits, with which Spark reads no message.
_LARGE = (b"\x80" + bytes(8), b"\x00\xff" * 5, b"\xff" * 12, bytes(15) + b"\x07", b"\x01" * 15)
_TOO_LARGE = (b"\x7f" * 16, b"\x01" + bytes(16))
_CENTS = (b"\x00", b"\xff", b"\x04\xd2", b"\x7f\xff\xff\xff\xff\xff\xff\xff")


def leaves() -> list[Kind]:
    """Each scalar type that Avro has, with every logical type, known or not."""
    moments = [
        Kind(_logical("long", f"{local}timestamp-{unit}"), _one_of(*_TIMES), _moment(ticks))
        for local in ("", "local-")
        for unit, ticks in (("millis", 10**3), ("micros", 10**6), ("nanos", 10**9))
    ]
    return [
        *moments,
        Kind("boolean", _one_of(True, False), _same),
        Kind("int", _one_of(0, -1, 2**31 - 1, -(2**31)), _same),
        Kind("long", _one_of(0, 2**53 + 1, 2**63 - 1, -(2**63)), _same),
        Kind(
            "float", _one_of(0.5, _in_32_bits(0.1), math.inf, math.nan, _in_32_bits(1e-45)), _float
        ),
        Kind("double", _one_of(0.1, -0.0, 1e300, 5e-324, 2.0**63, math.nan, -math.inf), _same),
        Kind("string", _one_of(*_TEXTS), _same),
        Kind("bytes", _one_of(b"", b"text", b"\x00\xff"), bytes),
        Kind(_logical("int", "date"), _one_of(0, 20_000, -719_163, 2**31 - 1, -(2**31)), _day),
        Kind(_logical("int", "time-millis"), _one_of(0, 86_399_999, -1, 2**31 - 1), _clock(10**3)),
        Kind(_logical("long", "time-micros"), _one_of(0, 29_730_500_001, 2**62), _clock(10**6)),
        Kind(_logical("string", "uuid"), _one_of("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"), _same),
        Kind(_logical("bytes", "decimal", precision=9, scale=2), _one_of(*_CENTS), _decimal(9, 2)),
        Kind(_logical("bytes", "decimal", precision=38), _one_of(*_CENTS), _decimal(38, 0)),
        Kind(
            _logical("bytes", "decimal", precision=50, scale=3), _one_of(*_CENTS), _decimal(50, 3)
        ),
        Kind(
            _logical("bytes", "decimal", precision=38, scale=9), _one_of(*_LARGE), _decimal(38, 9)
        ),
        Kind(_logical("string", "no-such-type"), _one_of(*_TEXTS), _same),
        Kind(_logical("long", "uuid"), _one_of(5), _same),
        Kind(_logical("long", "date"), _one_of(20_000), _same),
        Kind(_logical("int", "timestamp-millis"), _one_of(5), _same),
        Kind(_logical("bytes", "decimal"), _one_of(b"\x04\xd2"), bytes),
        Kind({"type": "string", "connect.name": "somebody.else"}, _one_of(*_TEXTS), _same),
    ]


def named_leaves(name: str) -> list[Kind]:
    """Scalar types that have names."""
    return [
        Kind({"type": "enum", "name": name, "symbols": ["A", "B"]}, _one_of("A", "B"), _same),
        Kind(
            _fixed(16, logicalType="uuid")(name),
            _one_of(bytes(range(16))),
            lambda value: str(UUID(bytes=value)),
        ),
        Kind(_fixed(3)(name), _one_of(b"abc", b"\x00\xff\x7f"), bytes),
        Kind(
            _fixed(4, logicalType="decimal", precision=5, scale=1)(name),
            _one_of(b"\x00\x00\x04\xd2", b"\x7f\xff\xff\xff"),
            _decimal(5, 1),
        ),
        Kind(
            _fixed(16, logicalType="decimal", precision=36, scale=4)(name),
            _one_of(b"\x00" * 15 + b"\x07", b"\xff" * 16, b"\x01" * 16, b"\x7f" * 16),
            _decimal(36, 4),
        ),
        Kind(_fixed(12, logicalType="duration")(name), _one_of(bytes(range(12))), bytes),
    ]


class Drawn:
    """Draws types, each named type with a name of its own.

    `messages`: those that Spark reads in messages, whose unions of several are structs.
    """

    def __init__(self, rng: random.Random, *, messages: bool = False) -> None:
        self._rng, self._messages, self._count = rng, messages, 0

    def kind(self, levels: int) -> Kind:
        """A type, nested up to so many levels."""
        if not levels or self._rng.random() < 0.1:
            of_files = [] if self._messages else _of_files()
            return self._rng.choice([*leaves(), *named_leaves(self._name()), *of_files])
        inner = self.kind(levels - 1)
        return self._rng.choice([_array, _map, self._nullable, self._record])(inner)

    def _name(self) -> str:
        self._count += 1
        return f"T{self._count}"

    def _nullable(self, inner: Kind) -> Kind:
        if isinstance(inner.schema, list) or inner.schema == "null":
            return inner

        def draw(rng: random.Random) -> Any:
            return None if rng.random() < 0.3 else inner.draw(rng)

        schema = self._rng.sample(["null", inner.schema], 2)
        return Kind(schema, draw, lambda value: None if value is None else inner.lands(value))

    def _record(self, inner: Kind) -> Kind:
        names = self._rng.sample(_PLAIN_NAMES if self._messages else _NAMES, 3)
        # One that is no null, or there would be no column.
        kinds = [self.kind(0), Kind("int", _one_of(7), _same), inner]
        members = dict(zip(names, kinds, strict=True))
        fields = [{"name": name, "type": one.schema} for name, one in members.items()]
        return Kind(
            {"type": "record", "name": self._name(), "fields": fields},
            lambda rng: {name: one.draw(rng) for name, one in members.items()},
            lambda value: {name: one.lands(value[name]) for name, one in members.items()},
        )


def _of_files() -> list[Kind]:
    decimal = _logical("bytes", "decimal", precision=38, scale=9)
    too_large = Kind(decimal, _one_of(*_TOO_LARGE), _decimal(38, 9))
    return [_union(), Kind("null", _one_of(None), _same), too_large]


def _union() -> Kind:
    """Of several types: the value itself, or its text where the values of a batch disagree."""

    def lands(value: Any) -> Any:
        texts = {True: "true", False: "false"} if isinstance(value, bool) else {}
        return Either(value, texts.get(value, str(value)))

    return Kind(["null", "string", "long", "boolean"], _one_of(None, "x", "5", 5, True), lands)


def _array(inner: Kind) -> Kind:
    return Kind(
        {"type": "array", "items": inner.schema},
        lambda rng: [inner.draw(rng) for _ in range(rng.randrange(3))],
        lambda value: [inner.lands(one) for one in value],
    )


def _map(inner: Kind) -> Kind:
    return Kind(
        {"type": "map", "values": inner.schema},
        lambda rng: {name: inner.draw(rng) for name in rng.sample(_NAMES, rng.randrange(3))},
        lambda value: {name: inner.lands(one) for name, one in value.items()},
    )


def differences(wanted: Any, found: Any, path: str) -> Iterator[str]:
    """Paths, as `_rescued` writes them, of what was to land and did not."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name, one in wanted.items():
            yield from differences(one, found.get(name), member_path(path, name))
        yield from (f"{path}.{name} is too many" for name in found.keys() - wanted.keys())
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for place, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif not _is_same(wanted, found):
        yield path if found is None else f"{path} is {found!r}, not {wanted!r}"


def _is_same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Either):
        return bool(wanted == found)
    if isinstance(wanted, float) and isinstance(found, float):
        # So zero has its sign, and NaN is itself.
        return repr(wanted) == repr(found)
    return type(wanted) is type(found) and bool(wanted == found)
