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

from ingest.decode.json_members import bytes_of
from ingest.shapes.shape import ARRAY, BIGINT, BOOLEAN, DOUBLE, OBJECT, STRING, VOID, Shape, merged
from ingest.shapes.texts import LONGEST_TEXT, TEXTS, kinds_of_texts

if TYPE_CHECKING:
    Bytes = np.ndarray[Any, np.dtype[np.uint8]]
    Counts = np.ndarray[Any, np.dtype[np.int64]]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]
    Words = np.ndarray[Any, np.dtype[np.uint64]]

# Bytes that a processor keeps close by while it goes over them again and again.
_NEAR = 1 << 21
_QUOTE, _BACKSLASH, _COLON, _ZERO = b'"\\:0'
# The digits of kinds: all whole numbers come to be 0.
_WHOLE, _TEXT = 0, 1
_KINDS = (BIGINT, STRING, *TEXTS)
# How texts that say something begin, and their last two bytes, of which a quote may be one.
_FIRST, _LAST, _LAST_BUT_ONE = np.zeros((3, 256), dtype=bool)
_FIRST[list(b"-0123456789tf")] = _LAST[list(b"0123456789Ze")] = True
_LAST_BUT_ONE[list(b'"-.0123456789us')] = True
NOTHING = Shape(frozenset({VOID}))


def outlined(texts: pa.StringArray) -> tuple[pa.StringArray, Mask]:
    """The outline of each text, and where it does not tell all: of numbers of 19 digits or more.

    `texts` are JSON without white space; an outline is empty where there is no text.
    """
    share = max(1, len(texts) * _NEAR // max(texts.nbytes, 1))
    shares = [_outlined(texts[at : at + share]) for at in range(0, len(texts), share)]
    outlines = pa.chunked_array([one for one, _ in shares], pa.string()).combine_chunks()
    return outlines, np.concatenate(
        [np.zeros(0, dtype=bool), *(are_long for _, are_long in shares)]
    )


def _outlined(texts: pa.StringArray) -> tuple[pa.StringArray, Mask]:
    data, offsets = bytes_of(texts.fill_null("") if texts.null_count else texts)
    is_quote = _quotes(data)
    quotes = np.flatnonzero(is_quote)
    begins, ends = quotes[::2], quotes[1::2]
    is_value = data[ends + 1] != _COLON
    begins, ends = begins[is_value], ends[is_value]
    # The quote that begins a value stays, as its kind.
    turns = np.zeros(len(data), dtype=bool)
    turns[begins + 1] = turns[ends + 1] = True
    digits = _packed(data - _ZERO < 10) & ~_inside(_packed(is_quote))
    # A text may be a number, and follow one.
    starts = np.zeros(len(data), dtype=bool)
    starts[offsets[1:-1]] = True
    follows = digits & _later(digits, 1) & ~_packed(starts)
    keeps = _unpacked(~_inside(_packed(turns)) & ~follows, len(data))
    keeps[offsets[-1] :] = False
    # Numpy's own choice between two values takes ten times as long as to reckon with them.
    is_digit = _unpacked(digits, len(data)).view(np.uint8)
    told = data ^ (data ^ np.uint8(_ZERO + _WHOLE)) * is_digit
    told[begins] = _ZERO + _kinds(data, begins, ends)
    sizes = np.add.reduceat(keeps.view(np.uint8), offsets[:-1], dtype=np.int32)
    sizes[offsets[:-1] == offsets[1:]] = 0
    ends_told = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    found = told[keeps]
    buffers = [None, pa.py_buffer(ends_told), pa.py_buffer(found)]
    outlines = pa.Array.from_buffers(pa.string(), len(texts), buffers)
    return outlines, _are_long(digits, offsets)


@lru_cache(maxsize=10_000)
def shape_told(outline: str) -> Shape | None:
    """The shape that an outline tells; None where it is no JSON, or too deep."""
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


def _are_long(digits: Words, offsets: Counts) -> Mask:
    """Which texts hold the end of a run of 19 digits."""
    long = digits
    for more in (1, 2, 4, 8, 3):
        long = long & _later(long, more)
    found = np.zeros(len(offsets) - 1, dtype=bool)
    if long.any():
        places = np.flatnonzero(_unpacked(long, int(offsets[-1])))
        found[np.searchsorted(offsets, places, side="right") - 1] = True
    return found
