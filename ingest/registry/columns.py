"""The columns that messages of an Avro schema have.

Source: Spark's "Avro Files", "Supported types for Avro -> Spark SQL conversion"; dates and times
are those of `decoders/avro_encodings.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyspark.sql import types as T

from ingest.registry.logical_types import decimal_size, is_uuid
from ingest.registry.references import full_name

_SCALARS: Mapping[str, T.DataType] = {
    "null": T.NullType(),
    "boolean": T.BooleanType(),
    "int": T.IntegerType(),
    "long": T.LongType(),
    "float": T.FloatType(),
    "double": T.DoubleType(),
    "bytes": T.BinaryType(),
    "string": T.StringType(),
}
_LOGICAL: Mapping[tuple[str, str], T.DataType] = {
    ("int", "date"): T.DateType(),
    ("int", "time-millis"): T.StringType(),
    ("long", "time-micros"): T.StringType(),
    **{
        ("long", f"{local}timestamp-{unit}"): T.TimestampType()
        for local in ("", "local-")
        for unit in ("millis", "micros", "nanos")
    },
}
_NAMED = ("record", "error", "enum", "fixed")
# The column of what is no record.
_VALUE = "value"


def columns(text: str) -> T.StructType:
    """The columns of a schema; what is no record is one column, `value`.

    Raises ValueError for a type that holds itself, which has no columns.
    """
    kind = _kind(json.loads(text), "", {})
    if isinstance(kind, T.StructType):
        return kind
    return T.StructType([T.StructField(_VALUE, kind)])


def _kind(schema: Any, space: str, known: dict[str, T.DataType | None]) -> T.DataType:
    if isinstance(schema, list):
        return _union(schema, space, known)
    if isinstance(schema, str):
        return _SCALARS[schema] if schema in _SCALARS else _named(schema, space, known)
    if schema["type"] in _NAMED:
        return _defined(schema, space, known)
    return _unnamed(schema, space, known)


def _unnamed(schema: Any, space: str, known: dict[str, T.DataType | None]) -> T.DataType:
    kind = schema["type"]
    if kind == "array":
        return T.ArrayType(_kind(schema["items"], space, known))
    if kind == "map":
        return T.MapType(T.StringType(), _kind(schema["values"], space, known))
    if kind == "bytes":
        return _bytes(schema)
    if isinstance(kind, str) and (logical := _LOGICAL.get((kind, schema.get("logicalType")))):
        return logical
    return _kind(kind, space, known)


def _bytes(schema: Mapping[str, Any]) -> T.DataType:
    """Of bytes, fixed ones too: a decimal is text where no decimal has so many digits."""
    if size := decimal_size(schema):
        return T.DecimalType(*size) if size[0] <= 38 else T.StringType()
    return T.StringType() if is_uuid(schema) else T.BinaryType()


def _named(name: str, space: str, known: Mapping[str, T.DataType | None]) -> T.DataType:
    whole = name if "." in name or not space else f"{space}.{name}"
    kind = known.get(whole) or known.get(name)
    if kind is None:
        raise ValueError(f"{name} holds itself")
    return kind


def _defined(schema: Any, space: str, known: dict[str, T.DataType | None]) -> T.DataType:
    name = full_name(schema, space)
    known[name] = None
    kind: T.DataType
    if schema["type"] == "enum":
        kind = T.StringType()
    elif schema["type"] == "fixed":
        kind = _bytes(schema)
    else:
        inner = name.rpartition(".")[0]
        typed_members = [
            (one["name"], _kind(one["type"], inner, known)) for one in schema["fields"]
        ]
        kind = T.StructType([T.StructField(field, each) for field, each in typed_members])
    known[name] = kind
    return kind


def _union(branches: list[Any], space: str, known: dict[str, T.DataType | None]) -> T.DataType:
    kinds = [_kind(one, space, known) for one in branches if one != "null"]
    if len(kinds) == 1:
        return kinds[0]
    if kinds in ([T.IntegerType(), T.LongType()], [T.LongType(), T.IntegerType()]):
        return T.LongType()
    if kinds in ([T.FloatType(), T.DoubleType()], [T.DoubleType(), T.FloatType()]):
        return T.DoubleType()
    names = [f"member_{_branch(one)}" for one in branches if one != "null"]
    members = zip(names, kinds, strict=True)
    return T.StructType([T.StructField(name, kind) for name, kind in members])


def _branch(schema: Any) -> str:
    """What Spark calls a branch of a union, without the namespace."""
    if isinstance(schema, str):
        return schema.rpartition(".")[2]
    kind = schema["type"]
    return str(schema["name"]) if kind in _NAMED else _branch(kind)
