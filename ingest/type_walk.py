"""Spark's nested types: what one holds at any depth, and the same with other scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pyspark.sql import types as T


def inner_types(kind: T.DataType) -> Sequence[T.DataType]:
    """Types right inside: of a struct's members, an array's elements, a map's values."""
    if isinstance(kind, T.StructType):
        return [one.dataType for one in kind.fields]
    if isinstance(kind, T.ArrayType):
        return [kind.elementType]
    return [kind.valueType] if isinstance(kind, T.MapType) else []


def all_types(kind: T.DataType) -> Iterator[T.DataType]:
    """The type itself, then all in it, but for keys of maps."""
    yield kind
    for one in inner_types(kind):
        yield from all_types(one)


def has_variant(kind: T.DataType) -> bool:
    """Whether a type is a variant, or holds one."""
    return any(isinstance(one, T.VariantType) for one in all_types(kind))


def has_local_times(kind: T.DataType) -> bool:
    """Whether a type is a timestamp without a time zone, or holds one."""
    return any(isinstance(one, T.TimestampNTZType) for one in all_types(kind))


def with_scalars(
    kind: T.DataType,
    scalar: Callable[[T.DataType], T.DataType],
    key: Callable[[T.DataType], T.DataType] = lambda kind: kind,
) -> T.DataType:
    """The type with each scalar, and each key of a map, changed; all that it holds may be null."""
    if isinstance(kind, T.StructType):
        return struct_with_scalars(kind, scalar, key)
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(with_scalars(kind.elementType, scalar, key))
    if isinstance(kind, T.MapType):
        return T.MapType(key(kind.keyType), with_scalars(kind.valueType, scalar, key))
    return scalar(kind)


def struct_with_scalars(
    kind: T.StructType,
    scalar: Callable[[T.DataType], T.DataType],
    key: Callable[[T.DataType], T.DataType] = lambda kind: kind,
) -> T.StructType:
    """See `with_scalars`."""
    return T.StructType(
        [T.StructField(one.name, with_scalars(one.dataType, scalar, key)) for one in kind.fields]
    )
