"""What somebody who misspelt a name may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_SHOWN = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names that are most like `name`, as the end of an error; none is an empty text.

    A name without a schema is compared with tables of every one.
    """
    full = {one if "." in name else one.rpartition(".")[2]: one for one in sorted(known)}
    near = difflib.get_close_matches(name, full, _SHOWN)
    return f"; nearest: {', '.join(full[one] for one in near)}" if near else ""
