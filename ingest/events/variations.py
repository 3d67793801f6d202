"""Which variations of a type of event are known.

A variation is the list of attribute paths and their JSON types in an event: numbers are one
type, strings are one, a null is no attribute. An object whose names are data is a map, whose
names tell nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ingest.shapes.evolution import MAP_FROM_KEYS, keys_are_data
from ingest.shapes.shape import (
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
    Shape,
    merged,
)

NUMBER = "NUMBER"
_JSON_TYPES = {
    BIGINT: NUMBER,
    LARGE: NUMBER,
    DOUBLE: NUMBER,
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
        if MAP in seen.kinds or keys_are_data(shape.fields):
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


def with_maps(seen: Shape) -> Shape:
    """A type's merged shape, with maps where events have brought too many names."""
    kinds, fields, element = seen.kinds, seen.fields, seen.element
    if OBJECT in kinds and (MAP in kinds or len(fields) > MAP_FROM_KEYS):
        kinds = kinds - {OBJECT} | {MAP}
        inside = merged(fields.values())
        element, fields = element.merged(inside) if element else inside, {}
    return Shape(
        kinds,
        {name: with_maps(one) for name, one in fields.items()},
        with_maps(element) if element else None,
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
class Known:
    """What a worker needs to say of an event that nothing about it is new."""

    seen: Mapping[str, Shape] = field(default_factory=dict)
    variations: frozenset[int] = frozenset()

    def judged(self, event_type: str, shape: Shape) -> tuple[int, bool]:
        """An event's variation, and whether all of it is known."""
        seen = self.seen.get(event_type, EMPTY)
        found = canonical(shape, seen)
        number = variation(event_type, found)
        return number, number in self.variations and seen.covers(found)
