"""What somebody who misspelt a name may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SHOWN = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names that are most like `name`, as the end of an error; none is an empty text."""
    near = difflib.get_close_matches(name, sorted(known), _SHOWN)
    return f"; nearest: {', '.join(near)}" if near else ""
