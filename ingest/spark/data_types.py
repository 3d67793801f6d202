"""What a type holds, at any depth."""

from __future__ import annotations

from pyspark.sql import types as T


def has_variant(kind: T.DataType) -> bool:
    """Whether a type is a variant, or holds one."""
    return _has(kind, T.VariantType)


def has_local_times(kind: T.DataType) -> bool:
    """Whether a type is a timestamp without a time zone, or holds one."""
    return _has(kind, T.TimestampNTZType)


def _has(kind: T.DataType, wanted: type[T.DataType]) -> bool:
    if isinstance(kind, T.StructType):
        return any(_has(field.dataType, wanted) for field in kind.fields)
    if isinstance(kind, T.ArrayType):
        return _has(kind.elementType, wanted)
    if isinstance(kind, T.MapType):
        return _has(kind.valueType, wanted)
    return isinstance(kind, wanted)
