"""Names of columns as Spark compares them."""

from __future__ import annotations

import re
from functools import lru_cache

# Delta refuses these in column names unless columns are mapped (Delta protocol, "Column
# Mapping"), and in Arrow a name ends at a zero.
_REFUSED_NAME = re.compile(r"[ ,;{}()\n\t=\0]|^$")
# Java's Character.toLowerCase of a capital I with a dot; Python's has two characters.
_DOTTED_I = "\u0130"
# A name that would read as more than one part of a path, or as none; Java reads it alike.
ODD_PART = r"[.\[\]`]|^$"


def member_path(path: str, name: str) -> str:
    """The path of a member below `path`, as `_rescued` has it: `a.b`, and with a dot in its name
    between backticks, as in a declaration."""
    part = f"`{name.replace('`', '``')}`" if re.search(ODD_PART, name) else name
    return f"{path}.{part}" if path else part


@lru_cache(maxsize=10_000)
def folded(name: str) -> str:
    """The text that two names share where Spark takes them for one column.

    Spark asks Java's String.equalsIgnoreCase, which compares characters in upper case, and then
    those in lower case, one for one: an i without a dot is an i, a final sigma is a sigma, and a
    sharp s is not two. Python's `lower` and `casefold` both disagree.
    """
    return "".join(map(_folded, name))


def is_column_name(name: str) -> bool:
    """Whether Delta takes `name` for a column."""
    return not _REFUSED_NAME.search(name)


def _folded(character: str) -> str:
    if character == _DOTTED_I:
        return "i"
    upper = character.upper()
    lower = (upper if len(upper) == 1 else character).lower()
    return lower if len(lower) == 1 else character
