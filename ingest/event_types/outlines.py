"""Outlines of JSON texts: what is left of a text once its values are gone, and their kinds stand.

Few distinct outlines describe millions of texts, and all of them are found at once, by numpy: an
outline is a text of JSON itself, in which each value is a digit that says its kind.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.parse.json_members import bytes_of
from ingest.schemas.shape import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DOUBLE,
    LARGE,
    OBJECT,
    STRING,
    VOID,
    WIDE,
    Shape,
    merged,
)
from ingest.schemas.texts import LONGEST_TEXT, TEXTS, kinds_of_texts

if TYPE_CHECKING:
    Bytes = np.ndarray[Any, np.dtype[np.uint8]]
    Counts = np.ndarray[Any, np.dtype[np.int64]]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]
    Words = np.ndarray[Any, np.dtype[np.uint64]]

# Bytes that a processor keeps close by while it goes over them again and again.
_NEAR = 1 << 21
_QUOTE, _BACKSLASH, _COLON, _ZERO, _POINT = b'"\\:0.'
# The digits of kinds: all whole numbers come to be 0.
_WHOLE, _TEXT = 0, 1
_KINDS = (BIGINT, STRING, *TEXTS)
# How texts that say something begin, and their last two bytes, of which a quote may be one.
_FIRST, _LAST, _LAST_BUT_ONE = np.zeros((3, 256), dtype=bool)
_FIRST[list(b"-0123456789tf")] = _LAST[list(b"0123456789Ze")] = True
_LAST_BUT_ONE[list(b'"-.0123456789us')] = True
NOTHING = Shape(frozenset({VOID}))
# What may have more digits than a double: fractions, whole numbers. A number of so many characters
# may, point included.
WIDE_FRACTIONS, WIDE_WHOLES = 1, 2
_WIDE_FROM = 16
_WIDE_NUMBER = re.compile(rf"[0-9.]{{{_WIDE_FROM},}}")


@dataclass(frozen=True, slots=True)
class Outlines:
    """The outlines of texts, and the widths of their numbers.

    `are_long` are texts with a number of 19 digits or more, of which Python has to look at each.
    `widths` say which numbers of a text may have more digits than a double, see `widened`.
    """

    texts: pa.StringArray
    are_long: Mask
    widths: Bytes


def outlined(texts: pa.StringArray) -> Outlines:
    """The outline of each text; it is empty where there is no text.

    `texts` are JSON without white space.
    """
    share = max(1, len(texts) * _NEAR // max(texts.nbytes, 1))
    shares = [_outlined(texts[at : at + share]) for at in range(0, len(texts), share)]
    outlines = pa.chunked_array([one.texts for one in shares], pa.string()).combine_chunks()
    are_long = [np.zeros(0, dtype=bool), *(one.are_long for one in shares)]
    widths = [np.zeros(0, dtype=np.uint8), *(one.widths for one in shares)]
    return Outlines(outlines, np.concatenate(are_long), np.concatenate(widths))


def _outlined(texts: pa.StringArray) -> Outlines:
    data, offsets = bytes_of(texts.fill_null("") if texts.null_count else texts)
    is_quote = _quotes(data)
    quotes = np.flatnonzero(is_quote)
    begins, ends = quotes[::2], quotes[1::2]
    is_value = data[ends + 1] != _COLON
    begins, ends = begins[is_value], ends[is_value]
    # The quote that begins a value stays, as its kind.
    turns = np.zeros(len(data), dtype=bool)
    turns[begins + 1] = turns[ends + 1] = True
    outside = ~_inside(_packed(is_quote))
    digits = _packed(data - _ZERO < 10) & outside
    # A text may be a number, and follow one.
    is_start = np.zeros(len(data), dtype=bool)
    is_start[offsets[1:-1]] = True
    starts = _packed(is_start)
    follows = digits & _later(digits, 1) & ~starts
    keeps = _unpacked(~_inside(_packed(turns)) & ~follows, len(data))
    keeps[offsets[-1] :] = False
    # Numpy's own choice between two values takes ten times as long as to reckon with them.
    is_digit = _unpacked(digits, len(data)).view(np.uint8)
    marked = data ^ (data ^ np.uint8(_ZERO + _WHOLE)) * is_digit
    marked[begins] = _ZERO + _kinds(data, begins, ends)
    sizes = np.add.reduceat(keeps.view(np.uint8), offsets[:-1], dtype=np.int32)
    sizes[offsets[:-1] == offsets[1:]] = 0
    new_offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    found = marked[keeps]
    buffers = [None, pa.py_buffer(new_offsets), pa.py_buffer(found)]
    outlines = pa.Array.from_buffers(pa.string(), len(texts), buffers)
    points = _packed(data == _POINT) & outside
    widths = _widths(digits, points, starts, offsets)
    return Outlines(outlines, _are_long(digits, offsets), widths)


@lru_cache(maxsize=10_000)
def shape_of_outline(outline: str, width: int = 0) -> Shape | None:
    """The shape of an outline, of a text of that width; None for no JSON, or too deep."""
    try:
        return widened(_shape_of(_DECODER.decode(outline)), width) if outline else NOTHING
    except (ValueError, RecursionError):
        return None


def _shape_of(value: Any) -> Shape:
    if isinstance(value, dict):
        fields = {name: _shape_of(one) for name, one in value.items()}
        return Shape(frozenset({OBJECT}), fields)
    if isinstance(value, list):
        return Shape(frozenset({ARRAY}), element=merged(map(_shape_of, value)))
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return Shape(frozenset({BOOLEAN}))
    return Shape(value if isinstance(value, frozenset) else frozenset({_KINDS[value]}))


def kinds_of_fraction(digits: str) -> frozenset[str]:
    """The kinds of a number with a point or an exponent, of which the latter may round it."""
    return frozenset({DOUBLE, WIDE} if "e" in digits.lower() else {DOUBLE})


_DECODER = json.JSONDecoder(parse_float=kinds_of_fraction)


def width_of(digits: str) -> int:
    """Which numbers one is of that may have more digits than a double; 0 for none."""
    number = _WIDE_NUMBER.match(digits.removeprefix("-"))
    if not number:
        return 0
    return WIDE_FRACTIONS if "." in number[0] else WIDE_WHOLES


def widened(shape: Shape, width: int) -> Shape:
    """A shape of which fractions, whole numbers or both have more digits than a double, perhaps."""
    wide = {DOUBLE} if width & WIDE_FRACTIONS else set()
    wide |= {BIGINT, LARGE} if width & WIDE_WHOLES else set()
    return _widened(shape, wide) if width else shape


def _widened(shape: Shape, wide: set[str]) -> Shape:
    kinds = shape.kinds | {WIDE} if shape.kinds & wide else shape.kinds
    fields = {name: _widened(one, wide) for name, one in shape.fields.items()}
    return Shape(kinds, fields, _widened(shape.element, wide) if shape.element else None)


def _packed(marks: Mask) -> Words:
    """Marks of bytes as bits of words, the first one the highest."""
    words = np.zeros(-(-len(marks) // 64) * 8, dtype=np.uint8)
    words[: -(-len(marks) // 8)] = np.packbits(marks)
    return words.view(">u8").astype(np.uint64)


def _unpacked(words: Words, count: int) -> Mask:
    found: Mask = np.unpackbits(words.astype(">u8").view(np.uint8), count=count).view(bool)
    return found


def _later(words: Words, by: int) -> Words:
    """Each mark so many bytes later, at most 63."""
    found = words >> np.uint64(by)
    found[1:] |= words[:-1] << np.uint64(64 - by)
    return found


def _inside(turns: Words) -> Words:
    """Which bytes stand behind an odd number of turns, or at the odd one.

    In words, as a running sum takes a step for each byte.
    """
    words = turns.copy()
    for before in (1, 2, 4, 8, 16, 32):
        words ^= words >> np.uint64(before)
    is_odd = np.bitwise_xor.accumulate(words & np.uint64(1))
    words[1:] ^= is_odd[:-1] * np.uint64(2**64 - 1)
    return words


def _quotes(data: Bytes) -> Mask:
    """Where strings begin and end, by turns."""
    found: Mask = data == _QUOTE
    is_backslash = data == _BACKSLASH
    if not is_backslash.any():
        return found
    quotes = np.flatnonzero(found)
    quotes = quotes[is_backslash[quotes - 1]]
    # Behind an odd number of backslashes a quote is part of its string.
    backslashes = np.flatnonzero(is_backslash)
    starts = np.flatnonzero(np.diff(backslashes, prepend=-2) != 1)
    last = np.searchsorted(backslashes, quotes - 1)
    run = last - starts[np.searchsorted(starts, last, side="right") - 1] + 1
    found[quotes[run % 2 == 1]] = False
    return found


def _kinds(data: Bytes, begins: Counts, ends: Counts) -> Bytes:
    """The kinds of strings, as digits; those of elements of an array are but texts."""
    found = np.full(len(begins), _TEXT, dtype=np.uint8)
    may_say = (data[begins - 1] == _COLON) & (ends - begins <= LONGEST_TEXT + 1)
    may_say &= _FIRST[data[begins + 1]]
    rows = np.flatnonzero(may_say)
    last = ends[rows] - 1
    rows = rows[_LAST[data[last]] & _LAST_BUT_ONE[data[last - 1]]]
    if len(rows):
        # Each text, and what stands between it and the next.
        offsets = np.stack([begins[rows] + 1, ends[rows]], axis=1).astype(np.int32).ravel()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        texts = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
        kinds = kinds_of_texts(texts.take(pa.array(np.arange(0, len(offsets), 2))))
        found[rows] += kinds
    return found


def _widths(digits: Words, points: Words, starts: Words, offsets: Counts) -> Bytes:
    """What each text has of numbers that may have more digits than a double."""
    found = np.zeros(len(offsets) - 1, dtype=np.uint8)
    numbers = digits | points
    follows = numbers & _later(numbers, 1) & ~starts
    wide = follows
    # Fifteen that follow another.
    for more in (1, 2, 4, 7):
        wide = wide & _later(wide, more)
    if wide.any():
        size = int(offsets[-1])
        places = np.flatnonzero(_unpacked(wide, size))
        begins = np.flatnonzero(_unpacked(numbers & ~follows, size))
        where = np.searchsorted(begins, places, side="right")
        # Of each number its last character; the next number begins behind it.
        is_last = np.append(where[1:] != where[:-1], True)
        places, where = places[is_last], where[is_last]
        dots = np.flatnonzero(_unpacked(points, size))
        has_point = np.searchsorted(dots, places) > np.searchsorted(dots, begins[where - 1])
        rows = _texts_of(places, offsets)
        found[rows[has_point]] |= WIDE_FRACTIONS
        found[rows[~has_point]] |= WIDE_WHOLES
    return found


def _texts_of(places: Counts, offsets: Counts) -> Counts:
    """The text that each byte is of."""
    return np.searchsorted(offsets, places, side="right") - 1


def _are_long(digits: Words, offsets: Counts) -> Mask:
    """Which texts hold the end of a run of 19 digits."""
    long = digits
    for more in (1, 2, 4, 8, 3):
        long = long & _later(long, more)
    found = np.zeros(len(offsets) - 1, dtype=bool)
    if long.any():
        places = np.flatnonzero(_unpacked(long, int(offsets[-1])))
        found[_texts_of(places, offsets)] = True
    return found
