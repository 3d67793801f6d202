"""What the bytes of JSON texts say of their members, for many texts at once and without a parser.

A member of an object is known by its colon, behind the quote that ends its name. What stands
after the colon shows the kind of its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.parse.json_exact import DEEPEST

if TYPE_CHECKING:
    Bytes = np.ndarray[Any, np.dtype[np.uint8]]
    Counts = np.ndarray[Any, np.dtype[np.int64]]
    Mask = np.ndarray[Any, np.dtype[np.bool_]]

QUOTE, BACKSLASH, COLON, SPACE, BRACE, BRACKET, NULL = b'"\\: {[n'
# The bit by which a brace and a bracket differ.
_BRACKET_TO_BRACE = BRACE ^ BRACKET
# What a value's first byte says of it: nothing, or that it is a scalar, an object, an array, null.
_KINDS, _IS_NULL = 5, 4
_KIND = np.zeros(256, dtype=np.int64)
_KIND[list(b'"-0123456789tf')] = 1
_KIND[BRACE], _KIND[BRACKET], _KIND[NULL] = 2, 3, _IS_NULL


@dataclass(frozen=True, slots=True)
class Members:
    """Members of objects, in each of many values, by kind of their values."""

    scalars: Counts
    objects: Counts
    arrays: Counts
    nulls: Counts

    @staticmethod
    def none(length: int) -> Members:
        """No members in so many values."""
        return Members(*(np.zeros(length, dtype=np.int64) for _ in range(4)))

    def add(self, other: Members) -> None:
        """Count those too."""
        for mine, more in zip(self._counts(), other._counts(), strict=True):
            np.add(mine, more, out=mine)

    def equals(self, other: Members) -> Mask:
        """Where the counts are equal, nulls aside: in a column null and missing are one."""
        found: Mask = self.scalars == other.scalars
        found &= (self.objects == other.objects) & (self.arrays == other.arrays)
        return found

    def _counts(self) -> Sequence[Counts]:
        return self.scalars, self.objects, self.arrays, self.nulls

    def summed(self, offsets: Counts) -> Members:
        """The members of runs of values, each from one offset to the next."""

        def sums(counts: Counts) -> Counts:
            return np.diff(np.concatenate([[0], np.cumsum(counts)])[offsets])

        return Members(*map(sums, self._counts()))


class WrittenMembers:
    """The members that texts write, counted by colons."""

    def __init__(self, texts: pa.StringArray) -> None:
        self._data, self._offsets = bytes_of(texts)
        data = self._data
        colons = np.flatnonzero(data == COLON)
        # A quote inside a string stands behind a backslash.
        self._colons = colons[(data[colons - 1] == QUOTE) & (data[colons - 2] != BACKSLASH)]
        first = data[self._colons + 1]
        spaced = np.flatnonzero(first == SPACE)
        first[spaced] = data[self._colons[spaced] + 2]
        self._kinds = _KIND[first]
        sizes = np.diff(np.searchsorted(self._colons, self._offsets))
        self._rows = np.repeat(np.arange(len(texts)), sizes)
        counts = np.bincount(self._rows * _KINDS + self._kinds, minlength=len(texts) * _KINDS)
        unknown, *known = counts.reshape(-1, _KINDS).T.copy()
        self.members = Members(*known)
        # Where a value stands behind each colon.
        self.is_seen: Mask = unknown == 0

    def may_be_deep(self) -> Mask:
        """Which texts have as many brackets as a document that is nested too deep."""
        least = DEEPEST - 1
        if not (np.diff(self._offsets) > 2 * least).any():
            return np.zeros(len(self._offsets) - 1, dtype=bool)
        opening = np.flatnonzero((self._data | _BRACKET_TO_BRACE) == BRACE)
        found: Mask = np.diff(np.searchsorted(opening, self._offsets)) >= least
        return found


def bytes_of(texts: pa.StringArray) -> tuple[Bytes, Counts]:
    """The bytes of all texts, and where each begins; the last number is their end."""
    _, offsets, data = texts.buffers()
    positions = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    begin, end = (int(positions[0]), int(positions[-1])) if len(positions) else (0, 0)
    # Two more, so that each has a next one and a second next.
    found = np.zeros(end - begin + 2, dtype=np.uint8)
    if data is not None:
        found[:-2] = np.frombuffer(data, dtype=np.uint8)[begin:end]
    return found, positions.astype(np.int64) - begin
