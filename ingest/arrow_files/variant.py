"""JSON as VARIANT, byte for byte as Spark's `parse_json` writes it.

Source: "Variant Binary Encoding" of Apache Parquet's format.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import pyarrow as pa

# Types of primitives, in the six bits behind the two that say that it is one.
_NULL, _TRUE, _FALSE = b"\x00", b"\x04", b"\x08"
_DOUBLE, _LONG_TEXT = 7 << 2, 16 << 2
# (bytes, type) of whole numbers, by their bits without a sign; (digits, bytes, type) of decimals.
_WHOLE = [
    (size, bytes([kind << 2]))
    for size, kind, bits in ((1, 3, 8), (2, 4, 8), (4, 5, 16), (8, 6, 32))
    for _ in range(bits)
]
_DECIMALS = ((9, 4, 8 << 2), (18, 8, 9 << 2), (38, 16, 10 << 2))
_SHORT_TEXTS = [bytes([(size << 2) | 1]) for size in range(64)]
_OBJECT, _ARRAY = 2, 3
_VERSION = 1
# Sizes take one byte up to so many members or elements, else four.
_FEW = 255
# Offsets have three bytes at most.
_LARGEST = (1 << 24) - 1

_VALUE = pa.field("value", pa.binary(), nullable=False)
# Arrow's columns of Spark have the same mark.
_METADATA = pa.field("metadata", pa.binary(), nullable=False, metadata={"variant": "true"})


class _Unlike(ValueError):
    """Spark may read something else, or nothing."""


def variants(texts: pa.StringArray) -> pa.StructArray:
    """Each text of JSON as VARIANT; null where it is none, or only Spark can decide."""
    found = [None if text is None else _encoded(text) for text in texts.to_pylist()]
    nothing = pa.array([one is None for one in found], pa.bool_())
    values = pa.array([b"" if one is None else one[0] for one in found], pa.binary())
    metadata = pa.array([b"" if one is None else one[1] for one in found], pa.binary())
    return pa.StructArray.from_arrays([values, metadata], fields=[_VALUE, _METADATA], mask=nothing)


class _Number(str):
    """A number with a point or an exponent, as it is written."""

    __slots__ = ()


def _refused(name: str) -> None:
    raise _Unlike(name)


# Members of an object come as a tuple of pairs, so that a name that stands twice is seen.
_DECODER = json.JSONDecoder(
    parse_float=_Number, parse_constant=_refused, object_pairs_hook=tuple, strict=True
)


def _encoded(text: str) -> tuple[bytes, bytes] | None:
    names: dict[str, int] = {}
    try:
        value = _value(_DECODER.decode(text), names)
        return (value, _metadata(tuple(names))) if len(value) < _LARGEST else None
    except (ValueError, RecursionError, OverflowError):
        return None


def _value(found: Any, names: dict[str, int]) -> bytes:
    kind = type(found)
    if kind is str:
        return _text(found)
    if kind is int:
        return _whole(found)
    if kind is _Number:
        return _number(str(found))
    if found is None:
        return _NULL
    if kind is bool:
        return _TRUE if found else _FALSE
    return _object(found, names) if kind is tuple else _array(found, names)


def _whole(number: int) -> bytes:
    bits = (number if number >= 0 else ~number).bit_length()
    if bits >= len(_WHOLE):
        raise _Unlike(number)
    size, header = _WHOLE[bits]
    return header + number.to_bytes(size, "little", signed=True)


def _text(text: str) -> bytes:
    held = text.encode()
    if len(held) < len(_SHORT_TEXTS):
        return _SHORT_TEXTS[len(held)] + held
    return bytes([_LONG_TEXT]) + len(held).to_bytes(4, "little") + held


def _number(text: str) -> bytes:
    whole, _, fraction = text.partition(".")
    digits = whole + fraction
    if digits.lstrip("-").isdecimal():
        unscaled = int(digits)
        needed = max(len(str(abs(unscaled))), len(fraction))
        for most, size, header in _DECIMALS:
            if needed <= most:
                held = unscaled.to_bytes(size, "little", signed=True)
                return bytes([header, len(fraction)]) + held
    double = float(text)
    if math.isinf(double):
        raise _Unlike(text)
    return bytes([_DOUBLE]) + struct.pack("<d", double)


def _object(members: tuple[tuple[str, Any], ...], names: dict[str, int]) -> bytes:
    order = _order(tuple([name for name, _ in members]))
    ids, parts = [], []
    for name, one in members:
        ids.append(names.setdefault(name, len(names)))
        parts.append(_text(one) if type(one) is str else _value(one, names))
    starts = list(accumulate(map(len, parts), initial=0))
    size = starts[-1]
    sorted_ids, sorted_starts = [ids[place] for place in order], [starts[place] for place in order]
    if size <= _FEW and len(names) <= _FEW:
        # Most are: all numbers have one byte.
        return bytes((_OBJECT, len(ids), *sorted_ids, *sorted_starts, size)) + b"".join(parts)
    id_size, offset_size = _size_of(max(ids, default=0)), _size_of(size)
    header = (id_size - 1) << 4 | (offset_size - 1) << 2 | _OBJECT
    return b"".join(
        (
            _begun(header, len(ids), 6),
            _numbers(sorted_ids, id_size),
            _numbers([*sorted_starts, size], offset_size),
            *parts,
        )
    )


def _array(elements: Sequence[Any], names: dict[str, int]) -> bytes:
    parts = [_value(one, names) for one in elements]
    offsets = [0]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    offset_size = _size_of(offsets[-1])
    header = (offset_size - 1) << 2 | _ARRAY
    return b"".join((_begun(header, len(parts), 4), _numbers(offsets, offset_size), *parts))


def _begun(header: int, count: int, large: int) -> bytes:
    """The header, with a bit at `large` where their number takes four bytes; and the number."""
    if count <= _FEW:
        return bytes([header, count])
    return bytes([header | 1 << large]) + count.to_bytes(4, "little")


def _numbers(found: Sequence[int], size: int) -> bytes:
    if size == 1:
        return bytes(found)
    return b"".join([one.to_bytes(size, "little") for one in found])


def _size_of(number: int) -> int:
    """Bytes that a number needs."""
    if number > _LARGEST:
        raise _Unlike(number)
    return 1 if number < 1 << 8 else 2 if number < 1 << 16 else 3


@lru_cache(maxsize=1 << 12)
def _order(names: tuple[str, ...]) -> list[int]:
    """The places of names as Java orders them: by their units of UTF-16. Raises _Unlike."""
    if len(set(names)) < len(names):
        raise _Unlike("a name twice")
    return sorted(range(len(names)), key=lambda place: names[place].encode("utf-16-be"))


@lru_cache(maxsize=1 << 12)
def _metadata(names: tuple[str, ...]) -> bytes:
    """The names that a value's objects have, once each."""
    held = [name.encode() for name in names]
    ends = [0]
    for one in held:
        ends.append(ends[-1] + len(one))
    size = _size_of(max(ends[-1], len(held)))
    header = bytes([_VERSION | (size - 1) << 6])
    return b"".join((header, _numbers([len(held)], size), _numbers(ends, size), *held))
