"""Objects and lists whose shape their message's schema declares, whatever they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ingest.parse.json_exact import DECIMAL_DIGITS
from ingest.schemas.shape import (
    ARRAY,
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    MAP,
    OBJECT,
    STRING,
    TIMESTAMP,
    VOID,
    quoted_name,
)

Convert = Callable[[Any], Any]
# Avro's logical types that Connect has no name for.
AVRO = "org.apache.avro"
DECIMAL = "org.apache.kafka.connect.data.Decimal"
_CONNECT, _DEBEZIUM = "org.apache.kafka.connect.data", "io.debezium"
_NAMED = {
    f"{_CONNECT}.Date": DATE,
    f"{_CONNECT}.Time": STRING,
    f"{_CONNECT}.Timestamp": TIMESTAMP,
    **{
        f"{AVRO}.{local}timestamp-{unit}": TIMESTAMP
        for local in ("", "local-")
        for unit in ("millis", "micros", "nanos")
    },
    **{f"{AVRO}.time-{unit}": STRING for unit in ("millis", "micros")},
    f"{_DEBEZIUM}.data.VariableScaleDecimal": STRING,
    **{f"{_DEBEZIUM}.time.{name}": DATE for name in ("Date", "IsoDate")},
    **{f"{_DEBEZIUM}.time.{name}": STRING for name in ("Time", "IsoTime", "MicroTime", "NanoTime")},
    **{
        f"{_DEBEZIUM}.time.{name}": TIMESTAMP
        for name in (
            *("Timestamp", "MicroTimestamp", "NanoTimestamp"),
            *("IsoTimestamp", "ZonedTimestamp"),
        )
    },
}
_SCALARS = {
    "null": VOID,
    "int8": BIGINT,
    "int16": BIGINT,
    "int32": BIGINT,
    "int64": BIGINT,
    "float": DOUBLE,
    "double": DOUBLE,
    "boolean": BOOLEAN,
    "string": STRING,
    "bytes": BINARY,
}


class ShapedObject(dict[str, Any]):
    """A struct or a map; `shape` is a text as `shape.py` reads it.

    It is empty for a map whose shape follows from its values alone.
    """

    __slots__ = ("shape",)
    shape: str


class ShapedList(list[Any]):
    """An array; `shape` is a text as `shape.py` reads it."""

    __slots__ = ("shape",)
    shape: str


def shaped(convert: Convert, schema: Mapping[str, Any]) -> Convert:
    """`convert` for values of a Connect schema of a struct, an array or a map, with their shape."""
    shape, of = shape_of_schema(schema), schema["type"]
    holder = ShapedList if of == "array" else ShapedObject
    plain = list if of == "array" else dict
    if not shape and of != "map":
        return convert

    def converted(value: Any) -> Any:
        if not isinstance(value, plain):
            return value
        found = holder(convert(value))
        found.shape = shape
        return found

    return converted


def shape_of_schema(schema: Mapping[str, Any]) -> str:
    """The shape of a Connect schema's values; empty where it follows from the values alone."""
    name, of = schema.get("name") or "", schema.get("type")
    if name == DECIMAL:
        return kind_of_decimal(schema.get("parameters") or {}) or STRING
    if name in _NAMED:
        return _NAMED[name]
    if of == "struct":
        members = [(one["field"], shape_of_schema(one)) for one in schema.get("fields", ())]
        is_known = members and all(shape for _, shape in members)
        inside = ", ".join(f"{quoted_name(name)}: {one}" for name, one in members)
        return f"{OBJECT}<{inside}>" if is_known else ""
    if of in ("array", "map"):
        inner = shape_of_schema(schema["items" if of == "array" else "values"])
        return f"{ARRAY if of == 'array' else MAP}<{inner}>" if inner else ""
    return _SCALARS.get(str(of), "")


def kind_of_decimal(parameters: Mapping[str, Any]) -> str:
    """The kind of Connect's decimals; empty where no column has that many digits."""
    scale = int(parameters.get("scale", 0))
    precision = int(parameters.get("connect.decimal.precision", DECIMAL_DIGITS))
    # Databases have decimals of fewer digits than their scale, and of scales below zero.
    digits = max(precision, scale, precision - scale)
    return f"DECIMAL({digits},{max(scale, 0)})" if 0 < digits <= DECIMAL_DIGITS else ""
