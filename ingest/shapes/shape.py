"""The shape of a JSON record: its attribute paths and the JSON types found there.

A shape is one text, in the words of Spark's `schema_of_variant`, for instance
`OBJECT<id: BIGINT, tags: ARRAY<STRING>>`. Few distinct texts describe millions of records,
so what columns there must be is decided once a shape, on the driver.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce

VOID, STRING, BOOLEAN, BIGINT, DOUBLE = "VOID", "STRING", "BOOLEAN", "BIGINT", "DOUBLE"
OBJECT, ARRAY = "OBJECT", "ARRAY"
# An object whose names are data, and whose values are no objects or arrays.
MAP = "MAP"
# Known from a message's own schema; so are decimals, as `DECIMAL(12,2)`.
BINARY, DATE, TIMESTAMP = "BINARY", "DATE", "TIMESTAMP"
# A whole number past 64 bits.
LARGE = "DECIMAL(38,0)"

_NAME = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^`:<>, ]+)):\s*")
_SCALAR = re.compile(r"\s*([A-Z_]+(?:\(\d+,\s*\d+\))?)")


@dataclass(frozen=True, slots=True)
class Shape:
    """What one place of a record holds: one kind in a record, several once merged."""

    kinds: frozenset[str]
    fields: Mapping[str, Shape] = field(default_factory=dict)
    element: Shape | None = None

    @property
    def values(self) -> frozenset[str]:
        """The kinds without null."""
        return self.kinds - {VOID}

    def merged(self, other: Shape) -> Shape:
        """Both shapes in one."""
        fields = dict(self.fields)
        for name, shape in other.fields.items():
            fields[name] = fields[name].merged(shape) if name in fields else shape
        if self.element and other.element:
            element: Shape | None = self.element.merged(other.element)
        else:
            element = self.element or other.element
        return Shape(self.kinds | other.kinds, fields, element)


EMPTY = Shape(frozenset())


def merged(shapes: Iterable[Shape]) -> Shape:
    """All shapes in one."""
    return reduce(Shape.merged, shapes, EMPTY)


def parse_shape(text: str) -> Shape:
    """The shape that a text tells; ValueError where it is none."""
    shape, rest = _parse(text)
    if rest.strip():
        raise ValueError(f"not a shape: {text!r}")
    return shape


def _parse(text: str) -> tuple[Shape, str]:
    text = text.lstrip()
    if text.startswith("OBJECT<"):
        return _object(text[len("OBJECT<") :])
    if text.startswith("ARRAY<"):
        element, rest = _parse(text[len("ARRAY<") :])
        if not rest.startswith(">"):
            raise ValueError(f"not a shape: {text!r}")
        return Shape(frozenset({ARRAY}), element=element), rest[1:]
    scalar = _SCALAR.match(text)
    if not scalar:
        raise ValueError(f"not a shape: {text!r}")
    return Shape(frozenset({scalar[1].replace(" ", "")})), text[scalar.end() :]


def _object(text: str) -> tuple[Shape, str]:
    fields: dict[str, Shape] = {}
    while not text.startswith(">"):
        name = _NAME.match(text)
        if not name:
            raise ValueError(f"not a shape: a name was expected at {text!r}")
        key = name[2] if name[1] is None else name[1].replace("``", "`")
        fields[key], text = _parse(text[name.end() :])
        text = text.removeprefix(",").lstrip()
    return Shape(frozenset({OBJECT}), fields), text[1:]
