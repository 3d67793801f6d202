"""Names of the tables of types of events, which anybody may have named to break SQL or paths."""

from __future__ import annotations

import hashlib
import itertools
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
    start, written = name[:_LONGEST] or "type", event_type.encode("utf-8", "surrogatepass")
    # With a salt where it is taken still: a third stream of the source may bring the type, too.
    digests = (
        hashlib.blake2b(written, digest_size=4, salt=again.to_bytes(4, "big")).hexdigest()
        for again in itertools.count()
    )
    names = (f"{start}_{digest}" for digest in digests)
    return next(one for one in names if one not in taken)
