"""What strings say: numbers, booleans, dates and timestamps that were written as text.

Only the forms that come back from their type as they were written, or mean the same: a number
with a zero in front is none, nor is a timestamp without its offset.
"""

from __future__ import annotations

import re

from ingest.shapes.shape import STRING

# Whole numbers of up to 38 digits; with a point up to 15 digits, which a double holds.
_WHOLE = r"-?(?:0|[1-9][0-9]{0,37})"
_FRACTION = r"-?(?:0|[1-9][0-9]{0,6})\.[0-9]{1,8}"
_NUMBER_OR_BOOLEAN = f"(?:{_WHOLE}|{_FRACTION}|true|false)"
_DAY = (
    r"(?:[12][0-9]{3})-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))"
)
_TIME = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
    r"(?:Z|[-+](?:0[0-9]|1[0-4]):[0-5][0-9])"
)
# All forms: the first group has a number or a boolean, the second what stands between the day
# and the time of a timestamp.
SAYING_TEXT = f"(?:({_NUMBER_OR_BOOLEAN})|{_DAY}(?:([T ]){_TIME})?)"
_KINDS = (
    ("TEXT_BOOLEAN", re.compile("true|false")),
    ("TEXT_BIGINT", re.compile(r"-?(?:0|[1-9][0-9]{0,17})")),
    ("TEXT_LARGE", re.compile(_WHOLE)),
    ("TEXT_DOUBLE", re.compile(_FRACTION)),
    ("TEXT_TIMESTAMP", re.compile(f"{_DAY}[T ]{_TIME}")),
    ("TEXT_DATE", re.compile(_DAY)),
)


def kind_of_text(text: str) -> str:
    """The kind of shape that a string has."""
    for kind, form in _KINDS:
        if form.fullmatch(text):
            return kind
    return STRING
