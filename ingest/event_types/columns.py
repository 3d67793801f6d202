"""The columns of a type of event, which grow with what its events bring.

They follow from the shape that is *kept* of a type: the first JSON type at each place, widened
by all that came after it. A value of another JSON type is a conflict. It changes nothing unless
a person accepts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.event_types.variations import json_type
from ingest.schemas.evolution import leaves, struct_of
from ingest.schemas.shape import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    EMPTY,
    LARGE,
    MAP,
    OBJECT,
    TEXT_KINDS,
    TIMESTAMP,
    WIDE,
    Shape,
)

# What a column's field says of it in its metadata: the attribute's name in the payload.
ATTRIBUTE = "attribute"
_HOLDERS = {OBJECT, ARRAY}
_TYPES = {
    BIGINT: T.LongType(),
    LARGE: T.DecimalType(38, 0),
    DOUBLE: T.DoubleType(),
    BOOLEAN: T.BooleanType(),
    DATE: T.DateType(),
    TIMESTAMP: T.TimestampType(),
}
_NUMBERS = (BIGINT, LARGE, DOUBLE)
Hints = Mapping[tuple[str, ...], T.DataType]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that held one JSON type, and now holds another."""

    path: tuple[str, ...]
    kept: str
    found: str

    def __str__(self) -> str:
        names = (one if one.isprintable() else ascii(one)[1:-1] for one in self.path)
        return f"{'.'.join(names) or 'payload'}: {self.kept}, and now {self.found}"


def kept_with(kept: Shape, new: Shape) -> tuple[Shape, list[Conflict]]:
    """`kept` with as much of `new` as has the JSON types that are kept, and the conflicts.

    What has had several JSON types from its first batch on, or since a person accepted them,
    takes all. Empty objects and arrays give way to whatever comes: they have no type.
    """
    conflicts: list[Conflict] = []
    return _kept_with(kept, new, (), conflicts), conflicts


def _kept_with(kept: Shape, new: Shape, path: tuple[str, ...], conflicts: list[Conflict]) -> Shape:
    if new.is_scalar and new.kinds <= kept.kinds:
        return kept
    own = {json_type(kind) for kind in kept.kinds}
    if len(own) != 1:
        return kept.merged(new)
    alien = {kind for kind in new.kinds if json_type(kind) not in own}
    if alien and type_of(kept) is None:
        return new
    if alien:
        found = ", ".join(sorted({_word(json_type(kind)) for kind in alien}))
        conflicts.append(Conflict(path, _word(*own), found))
    fields, element = dict(kept.fields), kept.element
    if own == {OBJECT}:
        for name, one in new.fields.items():
            inner = kept.fields.get(name, EMPTY)
            fields[name] = _kept_with(inner, one, (*path, name), conflicts)
    is_holder = own == {ARRAY} or (own == {OBJECT} and MAP in new.kinds)
    if is_holder and new.element:
        element = _kept_with(element or EMPTY, new.element, (*path, "[]"), conflicts)
    return Shape(kept.kinds | (new.kinds - alien), fields, element)


def _word(kind: str) -> str:
    return kind.lower()


def columns_of(
    kept: Shape,
    before: T.StructType,
    *,
    payload: str,
    reserved: Iterable[str],
    hints: Hints,
    max_columns: int,
) -> T.StructType:
    """The columns of a type, those of `before` first, each with its ATTRIBUTE.

    `hints` are declared types by path. Names in `reserved`, and those that begin with an
    underscore, get the name of the payload in front.
    """
    room = max_columns
    own = {folded(name) for name in reserved}
    taken = set(own)
    fields: list[T.StructField] = []
    known = [field.metadata[ATTRIBUTE] for field in before.fields]
    names = {field.metadata[ATTRIBUTE]: field.name for field in before.fields}
    declared = [path[0] for path in hints]
    for attribute in dict.fromkeys([*known, *declared, *sorted(kept.fields)]):
        kind = hints.get((attribute,)) or type_of(
            kept.fields.get(attribute, EMPTY), (attribute,), hints
        )
        if attribute in names:
            was = before[names[attribute]].dataType
            kind = was if kind is None else _in_order_of(was, kind)
            kind = kind if leaves(kind) <= room else was
        elif kind is None or leaves(kind) > room:
            continue
        room -= leaves(kind)
        name = names.get(attribute) or _free(column_name(attribute, payload, own), taken)
        taken.add(folded(name))
        fields.append(T.StructField(name, kind, metadata={ATTRIBUTE: attribute}))
    return T.StructType(fields)


def kept_type(kept: Shape, path: Sequence[str]) -> str:
    """The JSON type that is kept at a path of attributes; empty where any is taken."""
    for name in path:
        kept = kept.fields.get(name, EMPTY)
    own = {json_type(kind) for kind in kept.kinds}
    return own.pop() if len(own) == 1 else ""


def column_name(attribute: str, payload: str, reserved: set[str]) -> str:
    """A name that needs no quotes, as near to the attribute's as can be."""
    name = re.sub(r"\W", "_", attribute) or "_"
    if name[0] == "_" or name[0].isdecimal() or folded(name) in reserved:
        return f"{payload}_{name}"
    return name


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while folded(found) in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def type_of(
    shape: Shape, path: tuple[str, ...] = (), hints: Hints | None = None
) -> T.DataType | None:
    """The narrowest type that holds all that is kept; None where only nulls were seen."""
    kinds = {json_type(kind) for kind in shape.values}
    if not kinds:
        return None
    if len(kinds) > 1:
        return T.VariantType() if kinds & _HOLDERS else T.StringType()
    if kinds == {ARRAY}:
        element = type_of(shape.element or EMPTY, (*path, "[]"), hints)
        return T.ArrayType(element) if element else None
    if kinds == {OBJECT}:
        return _object(shape, path, hints or {})
    return _scalar(shape.values)


def _object(shape: Shape, path: tuple[str, ...], hints: Hints) -> T.DataType | None:
    if MAP in shape.kinds:
        if shape.fields:
            return T.VariantType()
        value = type_of(shape.element or EMPTY)
        return T.MapType(T.StringType(), value) if value else None
    found = struct_of(
        {
            name: hints.get((*path, name)) or type_of(inner, (*path, name), hints)
            for name, inner in shape.fields.items()
        }
    )
    if found is None and any(one.kinds for one in shape.fields.values()):
        return T.VariantType()
    return found


def _scalar(kinds: frozenset[str]) -> T.DataType:
    said = {TEXT_KINDS.get(kind, kind) for kind in kinds - {WIDE}}
    if said <= set(_NUMBERS):
        return _TYPES[max(said, key=_NUMBERS.index)]
    return _TYPES.get(said.pop(), T.StringType()) if len(said) == 1 else T.StringType()


def only_adds(before: Shape, after: Shape) -> bool:
    """Whether a type that gets fields shows the values of before as it did.

    It does not where there were values that had no type, such as an empty array.
    """
    if before.values and type_of(before) is None and type_of(after) is not None:
        return False
    inner = [(one, after.fields.get(name, EMPTY)) for name, one in before.fields.items()]
    if before.element:
        inner.append((before.element, after.element or EMPTY))
    return all(only_adds(*pair) for pair in inner)


def _in_order_of(before: T.DataType, kind: T.DataType) -> T.DataType:
    """A type with the fields that were there before in their places, and new ones behind them.

    A table that gets fields has them in this order.
    """
    if isinstance(before, T.StructType) and isinstance(kind, T.StructType):
        mine = {folded(field.name): field for field in kind.fields}
        fields = {}
        for field in before.fields:
            if found := mine.pop(folded(field.name), None):
                # Of names that differ only in case, the one that was there.
                is_same = found.name == field.name
                inner = _in_order_of(field.dataType, found.dataType) if is_same else field.dataType
                fields[field.name] = T.StructField(field.name, inner)
        return T.StructType([*fields.values(), *mine.values()])
    if isinstance(before, T.ArrayType) and isinstance(kind, T.ArrayType):
        return T.ArrayType(_in_order_of(before.elementType, kind.elementType))
    if isinstance(before, T.MapType) and isinstance(kind, T.MapType):
        return T.MapType(T.StringType(), _in_order_of(before.valueType, kind.valueType))
    return kind


def added(before: T.StructType, after: T.StructType) -> Sequence[tuple[str, str]]:
    """What is new in `after` as (column, type)."""
    known = {field.name: field.dataType for field in before.fields}
    return [
        (field.name, field.dataType.simpleString())
        for field in after.fields
        if known.get(field.name) != field.dataType
    ]
