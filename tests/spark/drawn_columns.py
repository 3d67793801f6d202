"""Columns of Parquet files, drawn from all types that Arrow writes, with what should come of them.

What is expected follows from the numbers that are drawn and from the reference, not from any code
that lands files.
"""

from __future__ import annotations

import datetime as dt
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

_EPOCH, _DAY = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.date(1970, 1, 1)
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
# Microseconds in a unit; of nanoseconds their digits are cut.
_SCALES = {"s": 1_000_000, "ms": 1_000, "us": 1}
GOOD_NAMES = ("a", "de-DE", "a.b", "a`b", "it's", "\u00fc", "_x", "record", "select", "back\\slash")
BAD_NAMES = ("a b", "", "a,b", "A", "x=y", "{z}")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A value for Arrow, the one that the table should have, and whether any of it is rescued."""

    given: Any
    expected: Any
    is_rescued: bool = False


NULL = Drawn(None, None)


@dataclass(frozen=True, slots=True)
class Kind:
    """A type, whether it has a column, and how its values are drawn."""

    arrow: pa.DataType
    value: Callable[[random.Random], Drawn]
    is_column: bool = True

    def drawn(self, draw: random.Random) -> Drawn:
        """A value, or null; where there is no column, all of it is rescued."""
        if draw.random() < 0.2:
            return NULL
        found = self.value(draw)
        return found if self.is_column else Drawn(found.given, None, found.given is not None)


def _same(*values: Any) -> Callable[[random.Random], Drawn]:
    def value(draw: random.Random) -> Drawn:
        found = draw.choice(values)
        return Drawn(found, found)

    return value


def _whole(bits: int, *, signed: bool) -> Callable[[random.Random], Drawn]:
    least = -(2 ** (bits - 1)) if signed else 0
    return _same(least, 0, 1, least + 2**bits - 1)


def _instant(unit: str) -> Callable[[random.Random], Drawn]:
    def value(draw: random.Random) -> Drawn:
        number = draw.choice([0, -1, 1_001, 10**9, draw.randrange(-(10**18), 10**18)])
        # Of seconds, milliseconds are written, which have to fit.
        number = number // 1000 if unit == "s" else number
        micros = number // 1_000 if unit == "ns" else number * _SCALES[unit]
        if not _FIRST <= micros <= _LAST:
            return Drawn(number, None, True)
        return Drawn(number, _EPOCH + dt.timedelta(microseconds=micros))

    return value


def _day(draw: random.Random) -> Drawn:
    number = draw.choice([0, -719_162, -719_163, 2_932_896, 2_932_897, 20_000])
    is_shown = -719_162 <= number <= 2_932_896
    return Drawn(number, _DAY + dt.timedelta(number) if is_shown else None, not is_shown)


def _time(unit: str) -> Callable[[random.Random], Drawn]:
    def value(draw: random.Random) -> Drawn:
        micros = draw.randrange(86_400_000_000)
        given = {"ms": micros // 1000, "us": micros, "ns": micros * 1000 + 999}[unit]
        micros = given * 1000 if unit == "ms" else micros
        clock = _EPOCH + dt.timedelta(microseconds=micros)
        return Drawn(given, f"{clock:%H:%M:%S.%f}")

    return value


def _uuid(draw: random.Random) -> Drawn:
    found = uuid.UUID(int=draw.getrandbits(128))
    return Drawn(found.bytes, str(found))


def _decimal(digits: int, scale: int, *, as_text: bool) -> Callable[[random.Random], Drawn]:
    def value(draw: random.Random) -> Drawn:
        number = draw.randrange(-(10**digits) + 1, 10**digits)
        found = Decimal((number < 0, tuple(map(int, str(abs(number)))), -scale))
        return Drawn(found, f"{found:f}" if as_text else found)

    return value


def _float(kind: type[np.floating[Any]]) -> Callable[[random.Random], Drawn]:
    values = (0.0, -0.0, 1.5, float("nan"), float("-inf"), 0.1)
    return _same(*(float(kind(one)) for one in values))


_TEXTS = _same("", "x", "\u00fc\U0001f600", "a\nb", "\0", "null")
_BYTES = _same(b"", b"\xff\x00")
SCALARS = (
    Kind(pa.bool_(), _same(True, False)),
    *(Kind(getattr(pa, f"int{n}")(), _whole(n, signed=True)) for n in (8, 16, 32, 64)),
    *(Kind(getattr(pa, f"uint{n}")(), _whole(n, signed=False)) for n in (8, 16, 32, 64)),
    Kind(pa.float16(), _float(np.float16)),
    Kind(pa.float32(), _float(np.float32)),
    Kind(pa.float64(), _float(np.float64)),
    Kind(pa.decimal32(7, 2), _decimal(7, 2, as_text=False)),
    Kind(pa.decimal64(18, 18), _decimal(18, 18, as_text=False)),
    Kind(pa.decimal128(38, 10), _decimal(38, 10, as_text=False)),
    Kind(pa.decimal256(38, 0), _decimal(38, 0, as_text=False)),
    Kind(pa.decimal256(76, 5), _decimal(76, 5, as_text=True)),
    *(Kind(one, _TEXTS) for one in (pa.string(), pa.large_string())),
    Kind(pa.dictionary(pa.int32(), pa.string()), _TEXTS),
    *(Kind(one, _BYTES) for one in (pa.binary(), pa.large_binary())),
    Kind(pa.binary(3), _same(b"abc", b"\x00\x01\x02")),
    Kind(pa.date32(), _day),
    *(
        Kind(pa.timestamp(unit, zone), _instant(unit))
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Berlin")
    ),
    Kind(pa.time32("ms"), _time("ms")),
    Kind(pa.time64("us"), _time("us")),
    Kind(pa.time64("ns"), _time("ns")),
    Kind(pa.duration("us"), _whole(64, signed=True)),
    Kind(pa.null(), lambda _: NULL, is_column=False),
)
# Arrow makes these from Python's values, or writes them, only where they are not nested.
_NOT_NESTED = (
    Kind(pa.uuid(), _uuid),
    Kind(pa.json_(), _same("{}", '{"a":1}')),
    Kind(pa.string_view(), _TEXTS),
    Kind(pa.binary_view(), _BYTES),
)
_KEYS = (
    Kind(pa.string(), _same("", "a", "b", "C")),
    Kind(pa.int32(), _same(-1, 0, 7)),
    Kind(pa.bool_(), _same(True, False)),
    Kind(pa.date32(), lambda draw: Drawn(n := draw.randrange(9), _DAY + dt.timedelta(n))),
    Kind(pa.time64("us"), _time("us")),
)


def drawn_column(draw: random.Random) -> Kind:
    """A type that is nested up to two deep."""
    return draw.choice(_NOT_NESTED) if draw.random() < 0.1 else drawn_kind(draw, 2)


def drawn_kind(draw: random.Random, depth: int) -> Kind:
    """A type that is nested up to `depth` times."""
    shape = draw.choice(["scalar", "struct", "list", "map"]) if depth else "scalar"
    if shape == "struct":
        return _struct(draw, depth)
    if shape == "list":
        return _list(draw, drawn_kind(draw, depth - 1))
    if shape == "map":
        return _map(draw.choice(_KEYS), drawn_kind(draw, depth - 1))
    return draw.choice(SCALARS)


def _struct(draw: random.Random, depth: int) -> Kind:
    names = draw.sample(GOOD_NAMES + BAD_NAMES, k=draw.randrange(1, 5))
    # Of names that differ by case the first is the column.
    names.sort(key=lambda name: name == "A")
    members = {name: drawn_kind(draw, depth - 1) for name in names}
    is_first = {"A": not members.get("a", Kind(pa.null(), _TEXTS, False)).is_column}
    kept = {
        name
        for name, one in members.items()
        if one.is_column and (name not in BAD_NAMES or is_first.get(name, False))
    }

    def value(draw: random.Random) -> Drawn:
        found = {name: one.drawn(draw) for name, one in members.items()}
        return Drawn(
            {name: one.given for name, one in found.items()},
            {name: one.expected for name, one in found.items() if name in kept},
            any(
                one.is_rescued or (name not in kept and one.given is not None)
                for name, one in found.items()
            ),
        )

    arrow = pa.struct([(name, one.arrow) for name, one in members.items()])
    return Kind(arrow, value, bool(kept))


def _list(draw: random.Random, item: Kind) -> Kind:
    size = draw.choice([None, None, 2])
    makers = (pa.list_, pa.large_list, pa.list_view)
    arrow = pa.list_(item.arrow, size) if size else draw.choice(makers)(item.arrow)

    def value(draw: random.Random) -> Drawn:
        found = [item.drawn(draw) for _ in range(size or draw.randrange(4))]
        return Drawn(
            [one.given for one in found],
            [one.expected for one in found],
            any(one.is_rescued for one in found),
        )

    return Kind(arrow, value, item.is_column)


def _map(key: Kind, item: Kind) -> Kind:
    def value(draw: random.Random) -> Drawn:
        pairs = [(key.value(draw), item.drawn(draw)) for _ in range(draw.randrange(4))]
        is_rescued = any(one.is_rescued for _, one in pairs)
        given = [(name.given, one.given) for name, one in pairs]
        if len({name for name, _ in given}) < len(given):
            return Drawn(given, None, True)
        return Drawn(given, [(name.expected, one.expected) for name, one in pairs], is_rescued)

    return Kind(pa.map_(key.arrow, item.arrow), value, item.is_column)
