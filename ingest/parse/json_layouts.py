"""Find the JSON texts in which a name stands twice in one object, many at once.

A parser takes one of the two values, and where the other one is null no count shows it. Which names
stand in which objects is the *layout* of a text. Few layouts describe millions of texts: each is
known by a hash, and one text of each is read by Python.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.parse.json_members import BACKSLASH, BRACE, COLON, QUOTE, bytes_of

if TYPE_CHECKING:
    from ingest.parse.json_members import Bytes, Counts, Mask

    Words = np.ndarray[Any, np.dtype[np.uint64]]

# Bytes that a processor keeps close by while it goes over them again and again.
_NEAR = 1 << 20
_CLOSING_BRACE = ord("}")
_WORD = 8
# Odd random numbers, by which terms of a hash are multiplied: one for each place.
_FACTORS = np.random.default_rng(7).integers(0, 2**63, 1 << 16, dtype=np.uint64) * 2 + 1
_MOST_LAYOUTS = 100_000


class Layouts:
    """Layouts that this process has seen, and whether a name stands twice in an object of them."""

    def __init__(self) -> None:
        self._repeats: dict[int, bool] = {}

    def repeating(self, texts: pa.StringArray) -> Mask:
        """Which of these JSON texts repeat a name in one object; colons stand at their names."""
        share = max(1, len(texts) * _NEAR // max(texts.nbytes, 1))
        found = [self._repeating(texts[at : at + share]) for at in range(0, len(texts), share)]
        return np.concatenate([np.zeros(0, dtype=bool), *found])

    def _repeating(self, texts: pa.StringArray) -> Mask:
        layouts, have_escapes = _layouts(texts)
        found = np.zeros(len(texts), dtype=bool)
        plain = np.flatnonzero(~have_escapes)
        keys, firsts, of = np.unique(layouts[plain], return_index=True, return_inverse=True)
        rows = zip(keys.tolist(), plain[firsts].tolist(), strict=True)
        verdicts = [self._repeats_in(key, texts[row]) for key, row in rows]
        found[plain] = np.array(verdicts, dtype=bool)[of]
        # An escape writes a name in another way, so that bytes do not say which names are equal.
        for row in np.flatnonzero(have_escapes).tolist():
            found[row] = repeats_a_name(texts[row].as_py())
        return found

    def _repeats_in(self, layout: int, text: pa.StringScalar) -> bool:
        """Whether texts of a layout repeat a name; `text` is one of them."""
        if layout not in self._repeats:
            if len(self._repeats) >= _MOST_LAYOUTS:
                self._repeats.clear()
            self._repeats[layout] = repeats_a_name(text.as_py())
        return self._repeats[layout]


def _layouts(texts: pa.StringArray) -> tuple[Words, Mask]:
    """A hash of each text's layout, and which texts have an escape in a name.

    The hash is of a text's braces in their order, and of the names between them.
    """
    data, offsets = bytes_of(texts)
    quotes = np.flatnonzero(data == QUOTE)
    is_end = np.flatnonzero(data[quotes + 1] == COLON)
    begins, ends = quotes[is_end - 1] + 1, quotes[is_end]
    braces = np.flatnonzero((data == BRACE) | (data == _CLOSING_BRACE))
    of_braces, of_names = np.searchsorted(braces, offsets), np.searchsorted(ends, offsets)
    # How many braces of its text stand before each.
    before_names = np.searchsorted(braces, ends) - _repeated(of_braces[:-1], of_names)
    before_braces = np.arange(len(braces)) - _repeated(of_braces[:-1], of_braces)
    shapes = (data[braces].astype(np.uint64) + _FACTORS[0]) * _factors(before_braces)
    names = _hashes(data, begins, ends) * _factors(before_names)
    escapes = np.flatnonzero(data == BACKSLASH)
    is_escaped = np.searchsorted(escapes, ends) > np.searchsorted(escapes, begins)
    # A quote within a name stands where the name seems to begin.
    is_escaped |= data[begins - 2] == BACKSLASH
    have_escapes = np.zeros(len(texts), dtype=bool)
    have_escapes[np.searchsorted(of_names, np.flatnonzero(is_escaped), side="right") - 1] = True
    return _sums(shapes, of_braces) + _sums(names, of_names), have_escapes


def _hashes(data: Bytes, begins: Counts, ends: Counts) -> Words:
    """A hash of each run of bytes: of its length, and all of its words of eight bytes."""
    padded = np.concatenate([data, np.zeros(_WORD, dtype=np.uint8)])
    # A word begins at each byte.
    words = np.ndarray(len(padded) - _WORD + 1, dtype="<u8", buffer=padded.data, strides=(1,))
    lengths = np.maximum(ends - begins, 0)
    found: Words = (lengths + 1).astype(np.uint64) * _FACTORS[0]
    rows, number = np.flatnonzero(lengths), 0
    while len(rows):
        number += 1
        done = _WORD * (number - 1)
        # The lowest bytes come first, so what stands behind the run is shifted out at the top.
        beyond = 8 * np.maximum(_WORD - (lengths[rows] - done), 0).astype(np.uint64)
        word = (words[begins[rows] + done] << beyond) * _FACTORS[number]
        found[rows] += word ^ (word >> np.uint64(31))
        rows = rows[lengths[rows] > done + _WORD]
    return found


def _factors(places: Counts) -> Words:
    # Past the last factor layouts are alike, which costs a collision in texts of 65,000 objects.
    return _FACTORS[np.minimum(places, len(_FACTORS) - 1)]


def _repeated(values: Counts, offsets: Counts) -> Counts:
    """Each value for all of its run, from one offset to the next."""
    return np.repeat(values, np.diff(offsets))


def _sums(values: Words, offsets: Counts) -> Words:
    """The sum of each run of values, from one offset to the next."""
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values)])
    found: Words = sums[offsets[1:]] - sums[offsets[:-1]]
    return found


class _Repeated(Exception):
    """A name that stands twice."""


def _checked(pairs: Sequence[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _Repeated


_DECODER = json.JSONDecoder(object_pairs_hook=_checked)


def repeats_a_name(text: str) -> bool:
    """Whether a name stands twice in one object of a text that is JSON."""
    try:
        _DECODER.decode(text)
    except _Repeated:
        return True
    return False
