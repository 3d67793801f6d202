"""What strings say: numbers, booleans, dates and timestamps that were written as text.

Only the forms that come back from their type as they were written, or mean the same: a number
with a zero in front is none, nor is a timestamp without its offset.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.schemas.shape import STRING

if TYPE_CHECKING:
    Kinds = np.ndarray[Any, np.dtype[np.uint8]]

# A number as JSON writes it.
NUMBER_FORM = "-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][-+]?[0-9]+)?"
# Whole numbers of up to 38 digits; with a point up to 15 digits, which a double holds.
_WHOLE = r"-?(?:0|[1-9][0-9]{0,37})"
_FRACTION = r"-?(?:0|[1-9][0-9]{0,6})\.[0-9]{1,8}"
_LEAP_YEAR = r"(?:[12][0-9](?:0[48]|[2468][048]|[13579][26])|(?:1[26]|2[048])00)"
_DAY = (
    r"(?:[12][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    rf"|{_LEAP_YEAR}-02-29)"
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
    rows = np.arange(len(texts))
    for number, form in enumerate(_FORMS.values(), 1):
        matches = pc.match_substring_regex(texts, f"\\A(?:{form})\\z")
        is_this = matches.to_numpy(zero_copy_only=False)
        found[rows[is_this]] = number
        rows, texts = rows[~is_this], texts.filter(pc.invert(matches))
    return found
