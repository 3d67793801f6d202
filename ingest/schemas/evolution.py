"""How a table's columns follow the shapes of its records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import types as T

from ingest.column_names import folded, is_column_name
from ingest.declarations.stream import ColumnHint, Evolution, SchemaEvolution
from ingest.schemas.shape import (
    ARRAY,
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    LARGE,
    MAP,
    OBJECT,
    TIMESTAMP,
    Shape,
    merged,
)
from ingest.type_walk import inner_types

# Past this many names, the names of an object are taken for data.
MAP_FROM_KEYS = 100
# Names that are data at first sight: numbers, UUIDs, long hexadecimals, ISO dates.
_DATA_KEY = re.compile(
    r"\d+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.*\d)[0-9a-f]{12,}|\d{4}-\d\d(-\d\d.*)?",
    re.IGNORECASE,
)
# Kinds that JSON has no word for, but a message's own schema.
_TYPES_OF_KINDS = {BINARY: T.BinaryType(), DATE: T.DateType(), TIMESTAMP: T.TimestampType()}
_DECIMAL_KIND = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_DECIMAL_DIGITS = 38
# A table's schema is JSON of three levels a struct, and delta-rs reads 128 levels.
_MOST_LEVELS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolved:
    """A table's columns after a batch, and what came new as (path, type)."""

    schema: T.StructType
    added: tuple[tuple[str, str], ...] = ()


def declared_schema(columns: Sequence[ColumnHint]) -> T.StructType:
    """The columns that a declaration names with their types, nested paths as structs."""
    fields: dict[str, T.DataType] = {}
    nested: dict[str, list[ColumnHint]] = {}
    for hint in columns:
        if hint.type is None:
            continue
        if len(hint.path) == 1:
            fields[hint.path[0]] = hint.type
        else:
            nested.setdefault(hint.path[0], []).append(
                ColumnHint(path=hint.path[1:], type=hint.type)
            )
            fields.setdefault(hint.path[0], T.StructType())
    for name, hints in nested.items():
        if isinstance(kind := fields[name], T.StructType):
            members = [ColumnHint(path=(one.name,), type=one.dataType) for one in kind.fields]
            fields[name] = declared_schema([*members, *hints])
    return T.StructType([T.StructField(name, kind) for name, kind in fields.items()])


def evolved(
    schema: T.StructType, seen: Shape, evolution: Evolution, reserved: frozenset[str]
) -> Evolved:
    """`schema` with the columns that `seen` brings, as far as the declaration allows.

    Names in `reserved` are never added at the top. What is not added stays in the record and
    goes to `_rescued` later.
    """
    if evolution.mode is not SchemaEvolution.ADD_NEW_COLUMNS:
        return Evolved(schema=schema)
    room = _Room(evolution.max_columns - leaves(schema))
    added: list[tuple[str, str]] = []
    grown = _grown(schema, seen, evolution, room, added, (), reserved)
    return Evolved(schema=grown, added=tuple(added))


def widened(
    schema: T.StructType, incoming: T.StructType, evolution: Evolution, reserved: frozenset[str]
) -> Evolved:
    """`schema` with the columns of typed files, as far as the declaration allows."""
    if evolution.mode is not SchemaEvolution.ADD_NEW_COLUMNS:
        return Evolved(schema=schema)
    room = _Room(evolution.max_columns - leaves(schema))
    added: list[tuple[str, str]] = []
    grown = _widened(schema, incoming, room, added, (), reserved)
    return Evolved(schema=grown, added=tuple(added))


def _widened(
    schema: T.StructType,
    incoming: T.StructType,
    room: _Room,
    added: list[tuple[str, str]],
    path: tuple[str, ...],
    reserved: frozenset[str] = frozenset(),
) -> T.StructType:
    new = {folded(member.name): member for member in incoming.fields}
    fields = []
    for old in schema.fields:
        match = new.pop(folded(old.name), None)
        kind = old.dataType
        if match and isinstance(kind, T.StructType) and isinstance(match.dataType, T.StructType):
            kind = _widened(kind, match.dataType, room, added, (*path, old.name))
        fields.append(T.StructField(old.name, kind))
    for lowered, member in new.items():
        if lowered in reserved or not is_column_name(member.name):
            continue
        if room.takes(member.dataType, path):
            fields.append(T.StructField(member.name, member.dataType))
            added.append((".".join((*path, member.name)), member.dataType.simpleString()))
    return T.StructType(fields)


@dataclass(slots=True)
class _Room:
    """Leaf columns that may still be added, none of them nested too deep."""

    columns: int

    def takes(self, kind: T.DataType, path: tuple[str, ...]) -> bool:
        """Whether there is room for a column of this type below `path`, which is taken then."""
        if len(path) + levels(kind) > _MOST_LEVELS or (count := leaves(kind)) > self.columns:
            return False
        self.columns -= count
        return True


def _grown(
    schema: T.StructType,
    seen: Shape,
    evolution: Evolution,
    room: _Room,
    added: list[tuple[str, str]],
    path: tuple[str, ...],
    reserved: frozenset[str] = frozenset(),
) -> T.StructType:
    fields = [
        T.StructField(
            old.name,
            _grown_type(
                old.dataType, seen.fields.get(old.name), evolution, room, added, (*path, old.name)
            ),
        )
        for old in schema.fields
    ]
    taken = {folded(old.name) for old in schema.fields} | reserved
    for name in sorted(set(seen.fields) - {old.name for old in schema.fields}):
        kind = inferred(seen.fields[name], evolution.infer_column_types)
        if kind is None or not is_column_name(name) or folded(name) in taken:
            continue
        if room.takes(kind, path):
            taken.add(folded(name))
            fields.append(T.StructField(name, kind))
            added.append((".".join((*path, name)), kind.simpleString()))
    return T.StructType(fields)


def _grown_type(
    kind: T.DataType,
    seen: Shape | None,
    evolution: Evolution,
    room: _Room,
    added: list[tuple[str, str]],
    path: tuple[str, ...],
) -> T.DataType:
    if seen is None:
        return kind
    if isinstance(kind, T.StructType) and seen.fields:
        return _grown(kind, seen, evolution, room, added, path)
    if isinstance(kind, T.ArrayType) and seen.element:
        element = _grown_type(
            kind.elementType, seen.element, evolution, room, added, (*path, "element")
        )
        return T.ArrayType(element)
    if isinstance(kind, T.MapType) and seen.element:
        value = _grown_type(kind.valueType, seen.element, evolution, room, added, (*path, "value"))
        return T.MapType(kind.keyType, value)
    return kind


def inferred(seen: Shape, infer_types: bool) -> T.DataType | None:
    """The type of a new column; None where only nulls and empty things were seen."""
    kinds = seen.values
    if not kinds:
        return None
    if kinds == {OBJECT}:
        return _inferred_object(seen, infer_types)
    if kinds == {ARRAY}:
        element = inferred(seen.element, infer_types) if seen.element else None
        return T.ArrayType(element) if element else None
    if MAP in kinds and kinds <= {MAP, OBJECT}:
        value = inferred(seen.element, infer_types) if seen.element else None
        return T.MapType(T.StringType(), value or T.StringType())
    return _inferred_scalar(kinds) if infer_types else T.StringType()


def _inferred_scalar(kinds: frozenset[str]) -> T.DataType:
    """The narrowest type that holds all of these kinds; text where they disagree."""
    if kinds == {BOOLEAN}:
        return T.BooleanType()
    if kinds == {BIGINT}:
        return T.LongType()
    if all(is_number(kind) for kind in kinds):
        whole = kinds <= {BIGINT, LARGE}
        return T.DecimalType(38, 0) if whole else T.DoubleType()
    if len(kinds) == 1:
        (kind,) = kinds
        return _TYPES_OF_KINDS.get(kind) or _decimal(kinds)
    return _decimal(kinds)


def _decimal(kinds: frozenset[str]) -> T.DataType:
    """The decimal that holds all of these; text where one is none, or no decimal does."""
    found = [_DECIMAL_KIND.fullmatch(kind) for kind in kinds]
    sizes = [(int(one[1]), int(one[2])) for one in found if one]
    scale = max((scale for _, scale in sizes), default=0)
    precision = scale + max((precision - scale for precision, scale in sizes), default=0)
    fits = len(sizes) == len(kinds) and 0 < precision <= _DECIMAL_DIGITS
    return T.DecimalType(precision, scale) if fits else T.StringType()


def _inferred_object(seen: Shape, infer_types: bool) -> T.DataType | None:
    if keys_are_data(seen.fields):
        value = inferred(merged(seen.fields.values()), infer_types)
        return T.MapType(T.StringType(), value) if value else None
    return struct_of({name: inferred(one, infer_types) for name, one in seen.fields.items()})


def struct_of(members: Mapping[str, T.DataType | None]) -> T.StructType | None:
    """The struct of an object's members that have a type; None where none has.

    Of names that differ only in case it has the first: the record has the others.
    """
    fields: dict[str, T.StructField] = {}
    for name, kind in sorted(members.items()):
        if kind is not None and is_column_name(name):
            fields.setdefault(folded(name), T.StructField(name, kind))
    return T.StructType(list(fields.values())) if fields else None


def keys_are_data(names: Mapping[str, object]) -> bool:
    """Whether an object's names are values of something rather than attributes."""
    return len(names) > MAP_FROM_KEYS or look_like_data(names)


def look_like_data(names: Iterable[str]) -> bool:
    """Whether all of some names are values at first sight; no names are none."""
    found = [_DATA_KEY.fullmatch(name) for name in names]
    return bool(found) and all(found)


def is_number(kind: str) -> bool:
    """Whether a shape's kind is a JSON number."""
    return kind in (BIGINT, LARGE, DOUBLE)


def extends(kind: T.DataType, before: T.DataType) -> bool:
    """Whether a type is the one before, but for fields that it has and that one has not."""
    if isinstance(kind, T.StructType) and isinstance(before, T.StructType):
        there = {folded(field.name): field.dataType for field in kind.fields}
        return all(
            folded(field.name) in there and extends(there[folded(field.name)], field.dataType)
            for field in before.fields
        )
    if isinstance(kind, T.ArrayType) and isinstance(before, T.ArrayType):
        return extends(kind.elementType, before.elementType)
    if isinstance(kind, T.MapType) and isinstance(before, T.MapType):
        return extends(kind.valueType, before.valueType)
    return kind == before


def leaves(kind: T.DataType) -> int:
    """Leaf columns of a type: what a Parquet file has to hold."""
    if isinstance(kind, T.StructType):
        return sum(leaves(member.dataType) for member in kind.fields)
    if isinstance(kind, T.ArrayType):
        return leaves(kind.elementType)
    if isinstance(kind, T.MapType):
        return leaves(kind.keyType) + leaves(kind.valueType)
    return 1


def levels(kind: T.DataType) -> int:
    """How deep a type is nested; 1 of a scalar."""
    return 1 + max(map(levels, inner_types(kind)), default=0)
