"""Logical types of Avro that Spark reads otherwise than the rule of dates and times says, or not.

Spark is given schemas without them, reads the numbers that stand for them, and SQL makes of those
what files of Avro land as: `Encoded` marks where.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pyspark.sql import types as T

from ingest.registry.references import full_name
from ingest.shapes.datetimes import FIRST_MICROSECOND, LAST_MICROSECOND

_NAMED = ("record", "error", "enum", "fixed")
_SIZES = re.compile(r"decimal\((\d+),(\d+)\)")
# Of the largest decimal.
_DIGITS = 38
_DAYS = 86_400 * 10**6
_TICKS = {"millis": 10**3, "micros": 10**6, "nanos": 10**9}


class Encoded(T.DataType):
    """The type of a number, or of bytes, that stand for something else; `logical` is Avro's word.

    Of decimals it has their precision and scale: `decimal(9,2)`.
    """

    def __init__(self, logical: str) -> None:
        self.logical = logical

    def simpleString(self) -> str:  # noqa: N802
        """Tells columns of different encodings apart."""
        return self.logical

    @property
    def stands_for(self) -> T.DataType:
        """The type of what is encoded."""
        if size := _SIZES.fullmatch(self.logical):
            precision, scale = int(size[1]), int(size[2])
            return T.DecimalType(precision, scale) if precision <= _DIGITS else T.StringType()
        if self.logical == "date":
            return T.DateType()
        return T.StringType() if self.logical.startswith("time-") else T.TimestampType()

    @property
    def was_a_number(self) -> bool:
        """Whether columns of numbers have landed of it, which go on with numbers."""
        return self.logical.startswith("time-") or self.logical.endswith("-nanos")

    def value(self, source: str) -> str:
        """SQL of what is encoded; null where no column or no reader could show it."""
        if size := _SIZES.fullmatch(self.logical):
            # The text has the type's scale, so nothing is rounded.
            text, kind = _decimal_text(source, int(size[2])), self.stands_for.simpleString()
            return f"try_cast({text} as {kind})"
        if self.logical == "date":
            least, most = FIRST_MICROSECOND // _DAYS, LAST_MICROSECOND // _DAYS
            return f"if({source} between {least} and {most}, date_from_unix_date({source}), null)"
        ticks = _TICKS[self.logical.rpartition("-")[2]]
        if self.logical.startswith("time-"):
            return _time_of_day(source, ticks)
        if ticks == 10**9:
            # Of 64 bits, all are in the years of the calendar.
            return f"timestamp_micros({source} div 1000 - if({source} % 1000 < 0, 1, 0))"
        size_of_one = 10**6 // ticks
        least, most = FIRST_MICROSECOND // size_of_one, LAST_MICROSECOND // size_of_one
        micros = f"timestamp_micros({source} * {size_of_one})"
        return f"if({source} between {least} and {most}, {micros}, null)"

    def text(self, source: str) -> str:
        """SQL of what is encoded as text; of what has none, the encoding's."""
        if size := _SIZES.fullmatch(self.logical):
            return f"coalesce({_decimal_text(source, int(size[2]))}, base64({source}))"
        return f"coalesce(cast({self.value(source)} as string), cast({source} as string))"


def _decimal_text(source: str, scale: int) -> str:
    """SQL of the number that big-endian bytes are; null of more than 16 bytes or 38 digits."""
    is_negative = f"substring(hex({source}), 1, 1) >= '8'"
    digits = f"lpad(hex({source}), 32, if({is_negative}, 'F', '0'))"
    high = f"cast(conv(substring({digits}, 1, 16), 16, -10) as decimal(20,0))"
    low = f"cast(conv(substring({digits}, 17), 16, 10) as decimal(20,0))"
    wide = f"try_add(try_multiply({high}, cast({1 << 64} as decimal(20,0))), {low})"
    narrow = f"conv(lpad(hex({source}), 16, if({is_negative}, 'F', '0')), 16, -10)"
    whole = (
        f"case when octet_length({source}) between 1 and 8 then {narrow} "
        f"when octet_length({source}) between 9 and 16 then cast({wide} as string) end"
    )
    if not scale:
        return whole
    padded = f"regexp_replace({whole}, '^(-?)([0-9]{{1,{scale}}})$', '$1{'0' * scale}$2')"
    return f"regexp_replace({padded}, '^(-?)([0-9]+)([0-9]{{{scale}}})$', '$1$2.$3')"


def _time_of_day(source: str, ticks: int) -> str:
    second = f"({source} div {ticks})"
    clock = f"{second} div 3600, {second} div 60 % 60, {second} % 60"
    fraction = (
        f"regexp_replace(substring(cast({ticks} + {source} % {ticks} as string), 2), '0+$', '')"
    )
    behind = f"if({source} % {ticks} = 0, '', concat('.', {fraction}))"
    text = f"concat(format_string('%02d:%02d:%02d', {clock}), {behind})"
    return f"if({source} < 0, cast({source} as string), {text})"


_ENCODED: Mapping[tuple[str, str], Encoded] = {
    ("int", "date"): Encoded("date"),
    ("int", "time-millis"): Encoded("time-millis"),
    ("long", "time-micros"): Encoded("time-micros"),
    **{
        ("long", f"{local}timestamp-{unit}"): Encoded(f"timestamp-{unit}")
        for local in ("", "local-")
        for unit in _TICKS
    },
}


def as_encoded(schema: Any) -> Any:
    """A schema without the logical types that `encoded` tells of."""
    if isinstance(schema, list):
        return [as_encoded(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: as_encoded(one) for name, one in schema.items() if name not in _AS_THEY_ARE}
    plain |= {name: schema[name] for name in _AS_THEY_ARE if name in schema}
    if _encoding(schema):
        del plain["logicalType"]
    return plain


_AS_THEY_ARE = ("default", "symbols", "doc")


def _encoding(schema: Mapping[str, Any]) -> Encoded | None:
    kind, logical = schema.get("type"), str(schema.get("logicalType"))
    if logical == "decimal" and kind in ("bytes", "fixed"):
        precision, scale = schema.get("precision"), schema.get("scale", 0)
        # What is no decimal by Avro's rules is bytes.
        bits = 8 * schema["size"] - 1 if kind == "fixed" else None
        if not (isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision):
            return None
        is_one = precision > 0 and (bits is None or 10**precision <= 1 << bits)
        return Encoded(f"decimal({precision},{scale})") if is_one else None
    return _ENCODED.get((kind, logical)) if isinstance(kind, str) else None


def encoded(schema: Any, kind: T.DataType) -> T.DataType:
    """`kind`, as Spark reads a schema of `as_encoded`, with Encoded where `schema` says so."""
    return _encoded(schema, kind, "", {})


def _encoded(
    schema: Any, kind: T.DataType, space: str, known: dict[str, tuple[Any, str]]
) -> T.DataType:
    if isinstance(schema, list):
        return _encoded_union([one for one in schema if one != "null"], kind, space, known)
    if isinstance(schema, str):
        whole = f"{space}.{schema}"
        name = whole if space and "." not in schema and whole in known else schema
        return _encoded(known[name][0], kind, known[name][1], known) if name in known else kind
    of = schema["type"]
    if of in _NAMED:
        around, name = space, full_name(schema, space)
        space = name.rpartition(".")[0]
        known[name] = schema, around
    if of in ("record", "error") and isinstance(kind, T.StructType):
        found = zip(schema["fields"], kind.fields, strict=True)
        return T.StructType(
            [
                T.StructField(member.name, _encoded(one["type"], member.dataType, space, known))
                for one, member in found
            ]
        )
    if isinstance(of, dict | list):
        return _encoded(of, kind, space, known)
    if isinstance(kind, T.ArrayType):
        kind = T.ArrayType(_encoded(schema["items"], kind.elementType, space, known))
    elif isinstance(kind, T.MapType):
        kind = T.MapType(kind.keyType, _encoded(schema["values"], kind.valueType, space, known))
    return _encoding(schema) or kind


def _encoded_union(
    branches: list[Any], kind: T.DataType, space: str, known: dict[str, tuple[Any, str]]
) -> T.DataType:
    if len(branches) == 1:
        return _encoded(branches[0], kind, space, known)
    if not isinstance(kind, T.StructType):
        # Of an int and a long Spark makes one number.
        return kind
    found = zip(branches, kind.fields, strict=True)
    return T.StructType(
        [
            T.StructField(member.name, _encoded(one, member.dataType, space, known))
            for one, member in found
        ]
    )


def decoded(kind: T.DataType) -> T.DataType:
    """The type of a column for what is `encoded`."""
    if isinstance(kind, T.StructType):
        return T.StructType([T.StructField(one.name, decoded(one.dataType)) for one in kind])
    if isinstance(kind, T.ArrayType):
        return T.ArrayType(decoded(kind.elementType))
    if isinstance(kind, T.MapType):
        return T.MapType(kind.keyType, decoded(kind.valueType))
    return kind.stands_for if isinstance(kind, Encoded) else kind
