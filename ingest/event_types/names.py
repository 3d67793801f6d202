"""Names of the tables of types of events, which anybody may have named to break SQL or paths."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

# A file's name may have 255 bytes, and a type's tables add to it.
_LONGEST = 100
# Words that SQL reads as something else where a table's name may stand.
_RESERVED = frozenset({"table", "values", "lateral", "select", "from", "where", "join", "on"})


def table_name(event_type: str, taken: AbstractSet[str]) -> str:
    """A name for a type's table that is not in `taken`: lower-case letters, digits and `_`."""
    name = re.sub(r"[^a-z0-9]+", "_", event_type.lower()).strip("_")
    is_word = bool(name) and not name[0].isdecimal() and len(name) <= _LONGEST
    if is_word and name not in _RESERVED and name not in taken:
        return name
    start, written = name[:_LONGEST] or "type", event_type.encode("utf-8", "surrogatepass")
    # With a salt where it is taken still: a third stream of the source may bring the type, too.
    digests = (
        hashlib.blake2b(written, digest_size=4, salt=again.to_bytes(4, "big")).hexdigest()
        for again in itertools.count()
    )
    names = (f"{start}_{digest}" for digest in digests)
    return next(one for one in names if one not in taken)


@dataclass(frozen=True, slots=True)
class TableNames:
    """Names of the tables of a source's types: `given` to those of a stream, `taken` by any."""

    given: Mapping[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def of(self, event_type: str) -> str:
        """The name that a type of the stream was given, or one that is taken from now on."""
        name = self.given.get(event_type) or table_name(event_type, self.taken)
        self.taken.add(name)
        return name
