"""Which variations of a type of event are known.

A variation is the list of attribute paths and their JSON types in an event: numbers are one
type, strings are one, a null is no attribute. An object whose names are data is a map, whose
names do not count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ingest.schemas.evolution import MAP_FROM_KEYS, look_like_data
from ingest.schemas.shape import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DOUBLE,
    EMPTY,
    LARGE,
    MAP,
    OBJECT,
    STRING,
    VOID,
    WIDE,
    Shape,
    merged,
)

NUMBER = "NUMBER"
# An object of a map has fewer than one in so many of all names.
_SPARSE = 4
# Past so many types, names of types are taken for data: their events land, and have no table.
MOST_TYPES = 5_000
# Past so many, shapes of a type are no longer recorded one by one where its columns hold all.
MOST_VARIATIONS = 1_000
_JSON_TYPES = {
    BIGINT: NUMBER,
    LARGE: NUMBER,
    DOUBLE: NUMBER,
    WIDE: NUMBER,
    BOOLEAN: BOOLEAN,
    OBJECT: OBJECT,
    MAP: OBJECT,
    ARRAY: ARRAY,
}


def json_type(kind: str) -> str:
    """The JSON type of a shape's kind; whatever else it says, a text is a string."""
    return _JSON_TYPES.get(kind, STRING)


def canonical(shape: Shape, seen: Shape = EMPTY) -> Shape:
    """A shape without nulls, with maps where names are data, or where `seen` has one."""
    kinds = shape.values
    fields: Mapping[str, Shape] = {}
    element = canonical(shape.element, seen.element or EMPTY) if shape.element else None
    if OBJECT in kinds:
        if MAP in seen.kinds or look_like_data(shape.fields):
            kinds = kinds - {OBJECT} | {MAP}
            inside = canonical(merged(shape.fields.values()), seen.element or EMPTY)
            element = element.merged(inside) if element else inside
        else:
            fields = {
                name: inner
                for name, one in shape.fields.items()
                if (inner := canonical(one, seen.fields.get(name, EMPTY))).kinds
            }
    return Shape(kinds, fields, element if element and element.kinds else None)


def with_maps(seen: Shape, new: Shape = EMPTY) -> Shape:
    """A type's merged shape, with maps where events bring ever other names.

    That is where there are many names, of which `new`, an event that has some, has few.
    """
    if seen.is_scalar and OBJECT not in seen.kinds:
        return seen
    kinds, fields, element = seen.kinds, seen.fields, seen.element
    are_many = len(fields) > max(MAP_FROM_KEYS, _SPARSE * len(new.fields)) and bool(new.fields)
    if OBJECT in kinds and (MAP in kinds or are_many):
        kinds = kinds - {OBJECT} | {MAP}
        inside = merged(fields.values())
        element, fields = element.merged(inside) if element else inside, {}
    return Shape(
        kinds,
        {name: with_maps(one, new.fields.get(name, EMPTY)) for name, one in fields.items()},
        with_maps(element, new.element or EMPTY) if element else None,
    )


def variation(event_type: str, shape: Shape) -> int:
    """Hash of a canonical shape of one type, as a 64-bit integer."""
    digest = hashlib.blake2b(event_type.encode("utf-8", "surrogatepass"), digest_size=8)
    for line in sorted(_paths(shape)):
        digest.update(b"\n" + line.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "big", signed=True)


def _paths(shape: Shape, path: str = "$") -> Iterator[str]:
    for kind in {json_type(one) for one in shape.kinds - {VOID}}:
        yield f"{path} {kind}"
    for name, inner in shape.fields.items():
        yield from _paths(inner, f"{path}.{name!r}")
    if shape.element:
        yield from _paths(shape.element, f"{path}[]")


@dataclass(frozen=True, slots=True)
class KnownShapes:
    """What a worker needs to say of an event that nothing about it is new.

    `seen` is what has landed of each type; of those in `many` new variations are no news.
    """

    seen: Mapping[str, Shape] = field(default_factory=dict)
    variations: frozenset[int] = frozenset()
    many: frozenset[str] = frozenset()

    def judged(self, event_type: str, shape: Shape) -> tuple[int, bool]:
        """An event's variation, and whether all of it is known."""
        seen = self.seen.get(event_type, EMPTY)
        found = canonical(shape, seen)
        number = variation(event_type, found)
        if event_type not in self.seen and len(self.seen) >= MOST_TYPES:
            return number, True
        is_landed = number in self.variations or event_type in self.many
        return number, is_landed and seen.covers(found)
