"""Records that have types already, brought into a table's columns: nothing is rounded away, and
what fits no column is rescued as text."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.decode.avro_encodings import Encoded
from ingest.shapes.conversion import at, cast_exactly, text_literal

# Casts between types that lose nothing.
_WIDENING = {
    (T.ByteType, T.ShortType), (T.ByteType, T.IntegerType), (T.ByteType, T.LongType),
    (T.ShortType, T.IntegerType), (T.ShortType, T.LongType), (T.IntegerType, T.LongType),
    (T.FloatType, T.DoubleType), (T.IntegerType, T.DoubleType), (T.ShortType, T.DoubleType),
    (T.TimestampNTZType, T.TimestampType), (T.DateType, T.TimestampType),
}  # fmt: skip
# What did not fit: its path, and SQL of its text, null where there is nothing.
_Lost = tuple[str, str]
_NESTED = (T.StructType, T.ArrayType, T.MapType)


def typed_row(
    columns: T.StructType, record: str, found: T.StructType, *, keeps: bool
) -> tuple[Sequence[str], str]:
    """SQL of each column's value, and of the rescued text, from the struct `record`.

    `keeps`: fields that have no column are rescued too.
    """
    values, lost = _members(columns, found, record, keeps)
    if not lost:
        return values, "cast(null as string)"
    pairs = ", ".join(f"{text_literal(path)}, {text}" for path, text in lost)
    there = f"to_json(map_filter(map({pairs}), (k, v) -> v is not null))"
    # Of most records nothing is lost, which is seen without a map.
    is_some = f"coalesce({', '.join(text for _, text in lost)}) is not null"
    return values, f"if({is_some}, {there}, null)"


def _members(
    columns: T.StructType, found: T.StructType, record: str, keeps: bool
) -> tuple[list[str], list[_Lost]]:
    values: list[str] = []
    lost: list[_Lost] = []
    there = {folded(member.name): member for member in found.fields}
    for column in columns.fields:
        member = there.pop(folded(column.name), None)
        if member is None:
            values.append(f"cast(null as {column.dataType.simpleString()})")
            continue
        source = at(record, (member.name,))
        value, more = _fitted(column.dataType, member.dataType, source, keeps)
        values.append(value)
        lost += [(f"{column.name}{path}", text) for path, text in more]
    if keeps:
        for member in there.values():
            lost.append((member.name, _as_text(member.dataType, at(record, (member.name,)))))
    return values, lost


def _fitted(
    kind: T.DataType, found: T.DataType, source: str, keeps: bool
) -> tuple[str, list[_Lost]]:
    """SQL of the column's value, and what it may not hold, by paths that begin below it."""
    if isinstance(found, Encoded):
        return _fitted_number(kind, found, source, keeps)
    return (source, []) if kind == found else _converted(kind, found, source, keeps)


def _converted(
    kind: T.DataType, found: T.DataType, source: str, keeps: bool
) -> tuple[str, list[_Lost]]:
    """See `_fitted`: of another type than the column's."""
    if (type(found), type(kind)) in _WIDENING:
        return f"cast({source} as {kind.simpleString()})", []
    if isinstance(kind, T.VariantType):
        # Only what is nested has a function of its own.
        is_nested = isinstance(found, _NESTED)
        return f"to_variant_object({source})" if is_nested else f"cast({source} as variant)", []
    if isinstance(kind, T.StructType) and isinstance(found, T.StructType):
        values, lost = _members(kind, found, source, keeps)
        names = (text_literal(one.name) for one in kind.fields)
        pairs = ", ".join(f"{name}, {value}" for name, value in zip(names, values, strict=True))
        value = f"if({source} is null, null, named_struct({pairs}))"
        return value, [(f".{path}", text) for path, text in lost]
    if isinstance(kind, T.ArrayType | T.MapType) and type(kind) is type(found):
        return _fitted_elements(kind, found, source, keeps)
    text = _as_text(found, source)
    value = f"cast(null as {kind.simpleString()})"
    if not isinstance(kind, _NESTED):
        value = cast_exactly(kind, text)
    return value, [("", f"if({source} is not null and {value} is null, {text}, null)")]


def _fitted_elements(
    kind: T.ArrayType | T.MapType, found: T.DataType, source: str, keeps: bool
) -> tuple[str, list[_Lost]]:
    """See `_fitted`: where an item, or a map's value, loses something, all of them are rescued."""
    name = f"i{source.count('.')}"
    if isinstance(kind, T.MapType) and isinstance(found, T.MapType):
        item, lost = _fitted(kind.valueType, found.valueType, name, keeps)
        value, items = f"transform_values({source}, (k, {name}) -> {item})", f"map_values({source})"
    else:
        item, lost = _fitted(_element(kind), _element(found), name, keeps)
        value, items = f"transform({source}, {name} -> {item})", source
    if not lost:
        return value, []
    either = " or ".join(f"({text}) is not null" for _, text in lost)
    return value, [("", f"if(exists({items}, {name} -> {either}), to_json({source}), null)")]


def _element(kind: T.DataType) -> T.DataType:
    return kind.elementType if isinstance(kind, T.ArrayType) else kind


def _fitted_number(
    kind: T.DataType, found: Encoded, source: str, keeps: bool
) -> tuple[str, list[_Lost]]:
    """See `_fitted`: of a number, or bytes, that stand for something else."""
    if found.was_a_number and isinstance(kind, T.IntegerType | T.LongType):
        return _fitted(kind, found.number, source, keeps)
    value, lost = _fitted(kind, found.stands_for, found.value(source), keeps)
    texts = [text for _, text in lost]
    if there := found.lost(source):
        texts.append(there)
    return value, [("", f"coalesce({', '.join(texts)})")] if texts else []


def _as_text(found: T.DataType, source: str) -> str:
    if isinstance(found, T.StringType):
        return source
    if isinstance(found, _NESTED):
        return f"to_json({source})"
    if isinstance(found, T.BinaryType):
        return f"base64({source})"
    if isinstance(found, Encoded):
        return found.text(source)
    return f"cast({source} as string)"


def nullable(kind: T.DataType) -> T.DataType:
    """A type as a table has it: whatever it holds may be null, and times are instants."""
    if isinstance(kind, T.StructType):
        return T.StructType([T.StructField(one.name, nullable(one.dataType)) for one in kind])
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(nullable(kind.elementType))
    if isinstance(kind, T.MapType):
        return T.MapType(kind.keyType, nullable(kind.valueType))
    return T.TimestampType() if isinstance(kind, T.TimestampNTZType) else kind
