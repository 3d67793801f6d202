"""Which column an Arrow type of a Parquet file becomes, by one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import pyarrow as pa
from pyspark.sql import types as T

from ingest.column_names import folded, is_column_name

_MOST_DIGITS = 38
_NESTED = (T.StructType, T.ArrayType, T.MapType)
_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
# Of types without parameters: the column's, and the type in Arrow that Spark takes for it.
SCALARS: Mapping[pa.DataType, tuple[T.DataType, pa.DataType]] = {
    pa.bool_(): (T.BooleanType(), pa.bool_()),
    pa.int8(): (T.ByteType(), pa.int8()),
    pa.int16(): (T.ShortType(), pa.int16()),
    pa.int32(): (T.IntegerType(), pa.int32()),
    pa.int64(): (T.LongType(), pa.int64()),
    pa.uint8(): (T.ShortType(), pa.int16()),
    pa.uint16(): (T.IntegerType(), pa.int32()),
    pa.uint32(): (T.LongType(), pa.int64()),
    pa.uint64(): (T.DecimalType(20, 0), pa.decimal128(20, 0)),
    pa.float16(): (T.FloatType(), pa.float32()),
    pa.float32(): (T.FloatType(), pa.float32()),
    pa.float64(): (T.DoubleType(), pa.float64()),
    pa.string(): (T.StringType(), pa.string()),
    pa.large_string(): (T.StringType(), pa.string()),
    pa.string_view(): (T.StringType(), pa.string()),
    pa.binary(): (T.BinaryType(), pa.binary()),
    pa.large_binary(): (T.BinaryType(), pa.binary()),
    pa.binary_view(): (T.BinaryType(), pa.binary()),
    pa.date32(): (T.DateType(), pa.date32()),
    pa.date64(): (T.DateType(), pa.date32()),
}


@lru_cache(maxsize=10_000)
def column_type(kind: pa.DataType) -> T.DataType | None:
    """The type of a column for such values; None where there can be none."""
    for is_one, column in _COLUMNS:
        if is_one(kind):
            return column(kind)
    return SCALARS[kind][0] if kind in SCALARS else None


@lru_cache(maxsize=10_000)
def members(kind: pa.StructType) -> Sequence[tuple[int, str, T.DataType]]:
    """The members of a struct that can be columns: number, name and type.

    Of names that Spark takes for one, the first can.
    """
    found: dict[str, tuple[int, str, T.DataType]] = {}
    for number in range(kind.num_fields):
        member = kind.field(number)
        inner = column_type(member.type)
        if inner is not None and is_column_name(member.name):
            found.setdefault(folded(member.name), (number, member.name, inner))
    return tuple(found.values())


def is_list(kind: pa.DataType) -> bool:
    """Whether values are lists, of any layout; maps are none."""
    return any(is_one(kind) for is_one in _LISTS)


def _extension(kind: pa.BaseExtensionType) -> T.DataType | None:
    return T.StringType() if kind == pa.uuid() else column_type(kind.storage_type)


def _struct(kind: pa.StructType) -> T.DataType | None:
    fields = [T.StructField(name, inner) for _, name, inner in members(kind)]
    return T.StructType(fields) if fields else None


def _map(kind: pa.MapType) -> T.DataType | None:
    key, value = column_type(kind.key_type), column_type(kind.item_type)
    if key is None or value is None or isinstance(key, _NESTED):
        return None
    return T.MapType(key, value)


def _list(kind: pa.DataType) -> T.DataType | None:
    element = column_type(kind.value_type)
    return T.ArrayType(element) if element else None


def _decimal(kind: pa.DataType) -> T.DataType:
    is_known = kind.precision <= _MOST_DIGITS and 0 <= kind.scale <= kind.precision
    return T.DecimalType(kind.precision, kind.scale) if is_known else T.StringType()


def _timestamp(kind: pa.TimestampType) -> T.DataType:
    return T.TimestampType() if kind.tz else T.TimestampNTZType()


_COLUMNS: Sequence[
    tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], T.DataType | None]]
] = (
    (lambda kind: isinstance(kind, pa.BaseExtensionType), _extension),
    (pa.types.is_dictionary, lambda kind: column_type(kind.value_type)),
    (pa.types.is_struct, _struct),
    (pa.types.is_map, _map),
    (is_list, _list),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_time, lambda _: T.StringType()),
    (pa.types.is_duration, lambda _: T.LongType()),
    (pa.types.is_fixed_size_binary, lambda _: T.BinaryType()),
)
