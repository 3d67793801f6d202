"""Which columns are not as they were promised before, and what Delta makes of it.

Source: Delta's protocol, "Type Widening".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from pyspark.sql import types as T

from ingest.column_names import folded

Path = tuple[str, ...]

_WHOLE_NUMBERS = (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType())
_WIDER: Mapping[T.DataType, Sequence[T.DataType]] = {
    T.ByteType(): (*_WHOLE_NUMBERS[1:], T.DoubleType()),
    T.ShortType(): (*_WHOLE_NUMBERS[2:], T.DoubleType()),
    T.IntegerType(): (*_WHOLE_NUMBERS[3:], T.DoubleType()),
    T.FloatType(): (T.DoubleType(),),
    T.DateType(): (T.TimestampNTZType(),),
}
# Digits that a decimal must have in front of its point to hold all numbers of a type.
_DIGITS: Mapping[T.DataType, int] = {
    **dict.fromkeys(_WHOLE_NUMBERS[:3], 10),
    T.LongType(): 20,
}


class Fate(Enum):
    """What happened to a column."""

    REMOVED = "removed"
    WIDENED = "widened"
    RETYPED = "retyped"


@dataclass(frozen=True, slots=True)
class Difference:
    """A column that is not as before; `now` is empty where it is no more."""

    path: Path
    fate: Fate
    before: str
    now: str = ""


def differences(before: T.DataType, now: T.DataType, path: Path = ()) -> Iterator[Difference]:
    """What is not as before, outermost first; columns that are new are no difference."""
    if isinstance(before, T.StructType) and isinstance(now, T.StructType):
        there = {folded(field.name): field.dataType for field in now.fields}
        for field in before.fields:
            kind, inner = there.get(folded(field.name)), (*path, field.name)
            if kind is not None:
                yield from differences(field.dataType, kind, inner)
            else:
                yield Difference(inner, Fate.REMOVED, field.dataType.simpleString())
    elif isinstance(before, T.ArrayType) and isinstance(now, T.ArrayType):
        yield from differences(before.elementType, now.elementType, path)
    elif isinstance(before, T.MapType) and isinstance(now, T.MapType):
        yield from differences(before.valueType, now.valueType, path)
    elif before != now and not isinstance(before, T.NullType):
        fate = Fate.WIDENED if is_widening(before, now) else Fate.RETYPED
        yield Difference(path, fate, before.simpleString(), now.simpleString())


def is_widening(before: T.DataType, now: T.DataType) -> bool:
    """Whether Delta can widen a column of one type to another."""
    if isinstance(now, T.DecimalType):
        if isinstance(before, T.DecimalType):
            digits, scale = before.precision - before.scale, before.scale
        elif before in _DIGITS:
            digits, scale = _DIGITS[before], 0
        else:
            return False
        return now.scale >= scale and now.precision - now.scale >= digits
    return now in _WIDER.get(before, ())
