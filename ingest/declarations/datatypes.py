"""Spark data types from their SQL text, without a Spark session.

PySpark parses type texts only in a running JVM; declarations are checked without one.
Grammar: Spark SQL reference, "Data Types".
"""

from __future__ import annotations

import re

from pyspark.sql import types as T

_SIMPLE: dict[str, T.DataType] = {
    "string": T.StringType(),
    "boolean": T.BooleanType(),
    "byte": T.ByteType(),
    "tinyint": T.ByteType(),
    "short": T.ShortType(),
    "smallint": T.ShortType(),
    "int": T.IntegerType(),
    "integer": T.IntegerType(),
    "long": T.LongType(),
    "bigint": T.LongType(),
    "float": T.FloatType(),
    "real": T.FloatType(),
    "double": T.DoubleType(),
    "date": T.DateType(),
    "timestamp": T.TimestampType(),
    "timestamp_ltz": T.TimestampType(),
    "timestamp_ntz": T.TimestampNTZType(),
    "binary": T.BinaryType(),
    "variant": T.VariantType(),
}
_ALLOWED = f" of a column; allowed: {', '.join(_SIMPLE)}, decimal(p,s), array<>, map<>, struct<>"
_DECIMAL = re.compile(
    r"(?:decimal|dec|numeric)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?", re.IGNORECASE
)
_NAME = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([A-Za-z_]\w*))\s*")
_COMMENT = re.compile(r"\s*(not\s+null)?\s*(comment\s+'[^']*')?\s*", re.IGNORECASE)


def data_type(text: str) -> T.DataType:
    """The type that `text` names, such as `struct<a: int, b: array<decimal(10,2)>>`.

    Raises ValueError with what was not understood.
    """
    parsed, rest = _parse(text.strip())
    if rest.strip():
        raise ValueError(f"{text!r} is not a Spark type: {rest.strip()!r} was not expected")
    return parsed


def _parse(text: str) -> tuple[T.DataType, str]:
    text = text.lstrip()
    if decimal := _DECIMAL.match(text):
        precision, scale = int(decimal[1] or 10), int(decimal[2] or 0)
        if not 1 <= precision <= 38 or scale > precision:
            raise ValueError(
                f"decimal({precision},{scale}): precision is 1 to 38, scale at most that"
            )
        return T.DecimalType(precision, scale), text[decimal.end() :]
    word = re.match(r"\w*", text)
    name = word[0].lower() if word else ""
    rest = text[len(name) :].lstrip()
    if name in ("array", "map", "struct") and rest.startswith("<"):
        return _NESTED[name](rest[1:])
    if name in _SIMPLE:
        return _SIMPLE[name], rest
    raise ValueError(f"{name or text!r} is not a Spark type{_ALLOWED}")


def _array(text: str) -> tuple[T.DataType, str]:
    element, rest = _parse(text)
    return T.ArrayType(element), _after(rest, ">")


def _map(text: str) -> tuple[T.DataType, str]:
    key, rest = _parse(text)
    value, rest = _parse(_after(rest, ","))
    if not isinstance(key, T.StringType):
        raise ValueError(f"map<{key.simpleString()}, …>: keys of JSON objects are strings")
    return T.MapType(key, value), _after(rest, ">")


def _struct(text: str) -> tuple[T.DataType, str]:
    fields: list[T.StructField] = []
    rest = text.lstrip()
    while not rest.startswith(">"):
        name = _NAME.match(rest)
        if not name:
            raise ValueError(f"a field name was expected at {rest!r}")
        rest = rest[name.end() :].removeprefix(":")
        kind, rest = _parse(rest)
        fields.append(T.StructField((name[1] or name[2]).replace("``", "`"), kind))
        extra = _COMMENT.match(rest)
        rest = rest[extra.end() :] if extra else rest
        if not rest.startswith(","):
            break
        rest = rest[1:].lstrip()
    return T.StructType(fields), _after(rest, ">")


def _after(text: str, token: str) -> str:
    text = text.lstrip()
    if not text.startswith(token):
        raise ValueError(f"{token!r} was expected at {text!r}")
    return text[len(token) :]


_NESTED = {"array": _array, "map": _map, "struct": _struct}
