"""Outlines of JSON texts: what is left of a text once its values are gone, and their kinds stand.

Few distinct outlines describe millions of texts, and all of them are found at once, by numpy: an
outline is a text of JSON itself, in which each value is a digit that says its kind.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.decode.arrow_json import bytes_of
from ingest.shapes.shape import ARRAY, BIGINT, BOOLEAN, DOUBLE, OBJECT, STRING, VOID, Shape, merged
from ingest.shapes.texts import LONGEST_TEXT, TEXTS, kinds_of_texts

if TYPE_CHECKING:
    Bytes = np.ndarray[Any, np.dtype[np.uint8]]
    Counts = np.ndarray[Any, np.dtype[np.int64]]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]

_QUOTE, _BACKSLASH, _COLON, _ZERO = b'"\\:0'
# The digits of kinds: all whole numbers come to be 0.
_WHOLE, _TEXT = 0, 1
_KINDS = (BIGINT, STRING, *TEXTS)
# How texts that say something begin, and how they end.
_FIRST, _LAST = np.zeros(256, dtype=bool), np.zeros(256, dtype=bool)
_FIRST[list(b"-0123456789tf")] = _LAST[list(b"0123456789Ze")] = True
# The state of a byte: outside of strings, in a string that is a value, or in a name.
_OUTSIDE, _IN_VALUE, _IN_NAME = 0, 1, 2
NOTHING = Shape(frozenset({VOID}))


def outlined(texts: pa.StringArray) -> tuple[pa.StringArray, Mask]:
    """The outline of each text, and where it does not tell all: of numbers of 19 digits or more.

    `texts` are JSON without white space; an outline is empty where there is no text.
    """
    data, offsets = bytes_of(texts.fill_null("") if texts.null_count else texts)
    quotes = _quotes(data)
    begins, ends = quotes[::2], quotes[1::2]
    is_name = data[ends + 1] == _COLON
    state = np.zeros(len(data), dtype=np.int8)
    state[begins[is_name]] += _IN_NAME
    state[ends[is_name] + 1] -= _IN_NAME
    begins, ends = begins[~is_name], ends[~is_name]
    # The quote that begins a value stays, as its kind.
    state[begins + 1] += _IN_VALUE
    state[ends + 1] -= _IN_VALUE
    np.cumsum(state, out=state)
    is_digit = (data - _ZERO < 10) & (state == _OUTSIDE)
    keeps = state != _IN_VALUE
    follows = is_digit[1:] & is_digit[:-1]
    # A text may be a number, and follow one.
    follows[offsets[1:-1] - 1] = False
    keeps[1:] &= ~follows
    told = np.where(is_digit, np.uint8(_ZERO + _WHOLE), data)
    told[begins] = _ZERO + _kinds(data, begins, ends)
    sizes = np.concatenate([[0], np.cumsum(keeps, dtype=np.int32)], dtype=np.int32)
    buffers = [None, pa.py_buffer(sizes[offsets]), pa.py_buffer(told[keeps])]
    outlines = pa.Array.from_buffers(pa.string(), len(texts), buffers)
    return outlines, _are_long(is_digit, offsets)


@lru_cache(maxsize=10_000)
def shape_told(outline: str) -> Shape | None:
    """The shape that an outline tells; None where it is no JSON, as of NaN, or too deep."""
    try:
        return _shape_told(json.loads(outline)) if outline else NOTHING
    except (ValueError, RecursionError):
        return None


def _shape_told(value: Any) -> Shape:
    if isinstance(value, dict):
        fields = {name: _shape_told(one) for name, one in value.items()}
        return Shape(frozenset({OBJECT}), fields) if fields else NOTHING
    if isinstance(value, list):
        return Shape(frozenset({ARRAY}), element=merged(map(_shape_told, value)))
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return Shape(frozenset({BOOLEAN}))
    return Shape(frozenset({_KINDS[value] if isinstance(value, int) else DOUBLE}))


def _quotes(data: Bytes) -> Counts:
    """Where strings begin and end, by turns."""
    quotes: Counts = np.flatnonzero(data == _QUOTE)
    behind = data[quotes - 1] == _BACKSLASH
    if not behind.any():
        return quotes
    # Behind an odd number of backslashes a quote is part of its string.
    backslashes = np.flatnonzero(data == _BACKSLASH)
    starts = np.flatnonzero(np.diff(backslashes, prepend=-2) != 1)
    last = np.searchsorted(backslashes, quotes[behind] - 1)
    run = last - starts[np.searchsorted(starts, last, side="right") - 1] + 1
    behind[behind] = run % 2 == 1
    inside: Counts = quotes[~behind]
    return inside


def _kinds(data: Bytes, begins: Counts, ends: Counts) -> Bytes:
    """The kinds of strings, as digits; those of elements of an array are but texts."""
    found = np.full(len(begins), _TEXT, dtype=np.uint8)
    may_say = (data[begins - 1] == _COLON) & (ends - begins <= LONGEST_TEXT + 1)
    may_say &= _FIRST[data[begins + 1]] & _LAST[data[ends - 1]]
    rows = np.flatnonzero(may_say)
    if len(rows):
        # Each text, and what stands between it and the next.
        offsets = np.stack([begins[rows] + 1, ends[rows]], axis=1).astype(np.int32).ravel()
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
        texts = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
        kinds = kinds_of_texts(texts.take(pa.array(np.arange(0, len(offsets), 2))))
        found[rows] += kinds
    return found


def _are_long(is_digit: Mask, offsets: Counts) -> Mask:
    """Which texts hold a run of 19 digits."""
    long, length = is_digit, 1
    for more in (1, 2, 4, 8, 3):
        length += more
        long = long[more:] & long[:-more]
    found = np.zeros(len(offsets) - 1, dtype=bool)
    places = np.flatnonzero(long)
    found[np.searchsorted(offsets, places, side="right") - 1] = True
    return found
