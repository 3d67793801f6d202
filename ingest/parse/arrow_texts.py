"""Texts of single Arrow values: for what fits no column, and for records in quarantine."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa

from ingest.parse.arrow_types import is_list

_NON_NUMBERS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
# Of one day, in the units of a time of day.
_OF_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def text_of(value: pa.Scalar) -> str:
    """A value's own text; nested ones as JSON."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else json_of(value)


def json_of(value: pa.Scalar) -> str:
    """A value as JSON; names that stand twice do so here, too."""
    kind = value.type
    if isinstance(kind, pa.ExtensionType | pa.DictionaryType) and kind != pa.uuid():
        return json_of(value.value) if value.is_valid else "null"
    if value.is_valid and pa.types.is_struct(kind):
        return _object((kind.field(one).name, value[one]) for one in range(kind.num_fields))
    if value.is_valid and pa.types.is_map(kind):
        return _object((text_of(one[0]), one[1]) for one in value.values)
    if value.is_valid and is_list(kind):
        return "[" + ",".join(map(json_of, value.values)) + "]"
    return json.dumps(_plain(value), ensure_ascii=False)


def _object(members: Iterable[tuple[str, pa.Scalar]]) -> str:
    pairs = (f"{json.dumps(name, ensure_ascii=False)}:{json_of(one)}" for name, one in members)
    return "{" + ",".join(pairs) + "}"


def _plain(value: pa.Scalar) -> Any:
    """What `json` writes of a value without inner ones: text, where JSON has no type for it."""
    kind = value.type
    if not value.is_valid or pa.types.is_nested(kind):
        return None
    for is_one, plain in _PLAIN:
        if is_one(kind):
            return plain(value)
    found = value.as_py()
    if isinstance(found, bytes):
        return b64encode(found).decode()
    if isinstance(found, float) and not isfinite(found):
        return _NON_NUMBERS[str(found)]
    return found if isinstance(found, bool | int | float) else str(found)


def _timestamp(value: pa.Scalar) -> str:
    # Python's dates end at year 9999, NumPy's do not, and it keeps nanoseconds.
    return str(np.datetime64(value.value, value.type.unit)) + ("Z" if value.type.tz else "")


def _date(value: pa.Scalar) -> str:
    return str(np.datetime64(value.cast(pa.date32()).value, "D"))


def _time(value: pa.Scalar) -> str:
    is_of_day = 0 <= value.value < _OF_A_DAY[value.type.unit]
    return str(value.cast(pa.string()) if is_of_day else value.value)


def _text(value: pa.Scalar) -> str:
    return str(value.as_buffer().to_pybytes().decode(errors="backslashreplace"))


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.string_view())


_PLAIN: Sequence[tuple[Callable[[pa.DataType], bool], Callable[[pa.Scalar], Any]]] = (
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_date, _date),
    (pa.types.is_time, _time),
    (pa.types.is_duration, lambda value: value.value),
    (_is_text, _text),
    (lambda kind: isinstance(kind, pa.DictionaryType), lambda value: _plain(value.value)),
    (
        lambda kind: isinstance(kind, pa.ExtensionType) and kind != pa.uuid(),
        lambda value: _plain(value.value),
    ),
)
