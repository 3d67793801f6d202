"""What strings say: numbers, booleans, dates and timestamps that were written as text.

Only the forms that come back from their type as they were written, or mean the same: a number
with a zero in front is none, nor is a timestamp without its offset.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.shapes.shape import STRING

if TYPE_CHECKING:
    Kinds = np.ndarray[Any, np.dtype[np.uint8]]
    Rows = np.ndarray[Any, np.dtype[np.integer[Any]]]

# Whole numbers of up to 38 digits; with a point up to 15 digits, which a double holds.
_WHOLE = r"-?(?:0|[1-9][0-9]{0,37})"
_FRACTION = r"-?(?:0|[1-9][0-9]{0,6})\.[0-9]{1,8}"
_DAY = (
    r"(?:[12][0-9]{3})-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))"
)
_TIME = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
    r"(?:Z|[-+](?:0[0-9]|1[0-4]):[0-5][0-9])"
)
_FORMS = {
    "TEXT_TIMESTAMP": f"{_DAY}[T ]{_TIME}",
    "TEXT_BIGINT": r"-?(?:0|[1-9][0-9]{0,17})",
    "TEXT_DOUBLE": _FRACTION,
    "TEXT_DATE": _DAY,
    "TEXT_BOOLEAN": "true|false",
    "TEXT_LARGE": _WHOLE,
}
# What texts can say, and the length of the longest such text: 38 digits and a sign.
TEXTS, LONGEST_TEXT = tuple(_FORMS), 39
# A day has a dash behind its year, which no number has.
_DAYS = ("TEXT_TIMESTAMP", "TEXT_DATE")
_OTHERS = tuple(kind for kind in TEXTS if kind not in _DAYS)
_OTHER = r"\A(?:-?[0-9]+(?:\.[0-9]+)?|true|false)\z"
_YEAR_SIZE, _DAY_SIZE, _INSTANT_SIZE = 4, 10, len("2026-11-24T12:00:00Z")
_DASH, _UTC = b"-Z"
_PATTERNS = {kind: re.compile(form) for kind, form in _FORMS.items()}


def kind_of_text(text: str) -> str:
    """The kind of shape that a string has."""
    for kind, form in _PATTERNS.items():
        if form.fullmatch(text):
            return kind
    return STRING


def kinds_of_texts(texts: pa.StringArray) -> Kinds:
    """The kind that each string has: its number among TEXTS, from 1, or 0 for STRING."""
    found = np.zeros(len(texts), dtype=np.uint8)
    data, begins, sizes = _bytes_of(texts)
    is_day = sizes >= _DAY_SIZE
    is_day[is_day] = data[begins[is_day] + _YEAR_SIZE] == _DASH
    days, others = np.flatnonzero(is_day), np.flatnonzero(~is_day)
    if _are_instants(texts.take(pa.array(days))):
        found[days] = 1 + TEXTS.index("TEXT_TIMESTAMP")
    else:
        _tell(found, texts, days, _DAYS)
    # Most others are none of all that.
    matches = pc.match_substring_regex(texts.take(pa.array(others)), _OTHER)
    _tell(found, texts, others[matches.to_numpy(zero_copy_only=False)], _OTHERS)
    return found


def _tell(found: Kinds, texts: pa.StringArray, rows: Rows, kinds: Sequence[str]) -> None:
    """Set the kinds of some rows, which are among `kinds` or STRING."""
    texts = texts.take(pa.array(rows))
    for kind in kinds:
        matches = pc.match_substring_regex(texts, f"\\A(?:{_FORMS[kind]})\\z")
        is_this = matches.to_numpy(zero_copy_only=False)
        found[rows[is_this]] = 1 + TEXTS.index(kind)
        rows, texts = rows[~is_this], texts.filter(pc.invert(matches))


def _are_instants(days: pa.StringArray) -> bool:
    """Whether all are known to be timestamps of UTC; Arrow's cast is ten times as fast as a form.

    It takes other forms too, that have other bytes at these places.
    """
    data, begins, sizes = _bytes_of(days)
    if not len(days) or sizes.min() < _INSTANT_SIZE:
        return False
    marks = ((0, b"12"), (7, b"-"), (10, b"T "), (13, b":"), (16, b":"))
    if not all(np.isin(data[begins + place], list(mark)).all() for place, mark in marks):
        return False
    if (data[begins + sizes - 1] != _UTC).any():
        return False
    try:
        pc.cast(days, pa.timestamp("us", tz="UTC"))
    except pa.ArrowInvalid:
        return False
    return True


def _bytes_of(texts: pa.StringArray) -> tuple[Kinds, Rows, Rows]:
    """The bytes in which the texts stand; where each begins, and how many it has."""
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data or b"", dtype=np.uint8), places[:-1], np.diff(places)
