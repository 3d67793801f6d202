"""The shape of a JSON record: its attribute paths and the JSON types found there.

A shape is one text, in the words of Spark's `schema_of_variant`, for instance
`OBJECT<id: BIGINT, tags: ARRAY<STRING>>`. Few distinct texts describe millions of records,
so what columns there must be is decided once a shape, on the driver. Where several kinds were
seen at one place, they stand with `|` between: `BIGINT|STRING`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce

VOID, STRING, BOOLEAN, BIGINT, DOUBLE = "VOID", "STRING", "BOOLEAN", "BIGINT", "DOUBLE"
OBJECT, ARRAY = "OBJECT", "ARRAY"
# An object whose names are data, and whose values are no objects or arrays.
MAP = "MAP"
# Known from a message's own schema; so are decimals, as `DECIMAL(12,2)`.
BINARY, DATE, TIMESTAMP = "BINARY", "DATE", "TIMESTAMP"
# A whole number past 64 bits.
LARGE = "DECIMAL(38,0)"
# Stands with a number's kind where numbers may have more digits than a double.
WIDE = "WIDE"
# Strings that say something else, by what they say.
TEXT_KINDS = {
    "TEXT_BIGINT": BIGINT,
    "TEXT_LARGE": LARGE,
    "TEXT_DOUBLE": DOUBLE,
    "TEXT_BOOLEAN": BOOLEAN,
    "TEXT_DATE": DATE,
    "TEXT_TIMESTAMP": TIMESTAMP,
}

_NAME = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^`:<>, ]+)):\s*")
_HOLDER = re.compile(r"(ARRAY|MAP)<")
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

    @property
    def is_scalar(self) -> bool:
        """Whether there is nothing inside."""
        return not self.fields and self.element is None

    def covers(self, other: Shape) -> bool:
        """Whether all that `other` has was seen here; nulls are nothing."""
        if not other.values <= self.kinds:
            return False
        if other.element and not (self.element or EMPTY).covers(other.element):
            return False
        return all(
            self.fields.get(name, EMPTY).covers(shape) for name, shape in other.fields.items()
        )

    def merged(self, other: Shape) -> Shape:
        """Both shapes in one."""
        if other.is_scalar and other.kinds <= self.kinds:
            return self
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


def written_shape(shape: Shape) -> str:
    """A shape as text."""
    return "|".join(_written(kind, shape) for kind in sorted(shape.kinds)) or VOID


def _written(kind: str, shape: Shape) -> str:
    if kind == OBJECT:
        members = sorted(shape.fields.items())
        texts = (f"{quoted_name(name)}: {written_shape(one)}" for name, one in members)
        return f"{OBJECT}<{', '.join(texts)}>"
    if kind in (ARRAY, MAP) and shape.element:
        return f"{kind}<{written_shape(shape.element)}>"
    return kind


def quoted_name(name: str) -> str:
    """An attribute's name, as a shape has it."""
    return name if name.isidentifier() else "`" + name.replace("`", "``") + "`"


@lru_cache(maxsize=10_000)
def parse_shape(text: str) -> Shape:
    """The shape that a text describes; ValueError where it is none."""
    shape, rest = _parse(text)
    if rest.strip():
        raise ValueError(f"not a shape: {text!r}")
    return shape


def _parse(text: str) -> tuple[Shape, str]:
    shape, rest = _parse_kind(text.lstrip())
    while rest.startswith("|"):
        other, rest = _parse_kind(rest[1:])
        shape = shape.merged(other)
    return shape, rest


def _parse_kind(text: str) -> tuple[Shape, str]:
    if text.startswith("OBJECT<"):
        return _object(text[len("OBJECT<") :])
    if holder := _HOLDER.match(text):
        element, rest = _parse(text[holder.end() :])
        if not rest.startswith(">"):
            raise ValueError(f"not a shape: {text!r}")
        return Shape(frozenset({holder[1]}), element=element), rest[1:]
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
