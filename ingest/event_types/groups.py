"""Which group a type of event belongs to.

Declared rules come first. Types that no rule takes and that have a table of their own are put
together in the order in which they came, so that a few queries fill hundreds of tables and none
of them waits for all of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ingest.declarations.stream import REST_OF_TYPES, Events, PerType

# Filling a table takes a fifth of a second, so a turn of a full group takes twenty.
MOST_OF_A_GROUP = 100


def placed(event_types: Iterable[str], events: Events) -> Mapping[str, str]:
    """The name of each type's group. `event_types` are all of a stream's, oldest first."""
    groups: dict[str, str] = {}
    count = 0
    for name in event_types:
        group = events.group_of(name)
        groups[name] = group.name
        if group.name == REST_OF_TYPES and group.per_type is PerType.TABLES:
            groups[name] = f"{REST_OF_TYPES}_{count // MOST_OF_A_GROUP + 1}"
            count += 1
    return groups
