"""Names of the tables of types of events, which anybody may have named to break SQL or paths."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Set as AbstractSet

# A file's name may have 255 bytes, and a type's tables add to it.
_LONGEST = 100
# Words that SQL reads as something else where a table's name may stand.
_RESERVED = frozenset({"table", "values", "lateral", "select", "from", "where", "join", "on"})


def table_name(event_type: str, taken: AbstractSet[str]) -> str:
    """A name for a type's table that is not in `taken`: lower-case letters, digits and `_`."""
    name = re.sub(r"[^a-z0-9]+", "_", event_type.lower()).strip("_")
    if name and not name[0].isdecimal() and name not in _RESERVED | taken and len(name) <= _LONGEST:
        return name
    digest = hashlib.blake2b(event_type.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{name[:_LONGEST]}_{digest}" if name else f"type_{digest}"
