"""Logical types of Avro that Spark reads otherwise than the rule of dates and times says, or not.

Spark is given schemas without them, reads the numbers that stand for them, and SQL makes of those
what files of Avro land as: `Encoded` marks where.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import types as T

from ingest.registry.logical_types import decimal_size, is_uuid
from ingest.registry.references import full_name
from ingest.schemas.datetimes import FIRST_MICROSECOND, LAST_MICROSECOND
from ingest.type_walk import with_scalars

_NAMED = ("record", "error", "enum", "fixed")
_SIZES = re.compile(r"decimal\((\d+),(\d+)\)")
# Of the largest decimal.
_DIGITS = 38
_DAYS = 86_400 * 10**6
_UUID = "uuid"
_HEX_OF_UUID = "^(.{8})(.{4})(.{4})(.{4})(.{12})$"
_TICKS = {"millis": 10**3, "micros": 10**6, "nanos": 10**9}


class Encoded(T.DataType):
    """The type of a value that Spark reads as it is encoded; `logical` is Avro's word.

    Of decimals it has their precision and scale: `decimal(9,2)`. `fixed` has their bytes, where
    they are a fixed number of bytes, or more digits than a decimal; else Spark reads them as
    decimals of 38 digits, of which those that are too many show.
    """

    def __init__(self, logical: str, *, fixed: bool = False) -> None:
        self.logical, self.fixed = logical, fixed

    def simpleString(self) -> str:  # noqa: N802
        """Tells columns of different encodings apart."""
        return f"{self.logical} {'fixed' if self.fixed else ''}"

    @property
    def _size(self) -> tuple[int, int] | None:
        """Precision and scale of a decimal."""
        found = _SIZES.fullmatch(self.logical)
        return (int(found[1]), int(found[2])) if found else None

    @property
    def stands_for(self) -> T.DataType:
        """The type of what is encoded."""
        if size := self._size:
            return T.DecimalType(*size) if size[0] <= _DIGITS else T.StringType()
        if self.logical == "date":
            return T.DateType()
        if self._is_time or self.logical == _UUID:
            return T.StringType()
        return T.TimestampNTZType() if self._is_local else T.TimestampType()

    @property
    def _is_local(self) -> bool:
        return self.logical.startswith("local-")

    @property
    def encoding(self) -> T.DataType:
        """The type of what stands for it; not of decimals."""
        if self.logical == _UUID:
            return T.BinaryType()
        return T.IntegerType() if self.logical in ("date", "time-millis") else T.LongType()

    @property
    def was_landed(self) -> Sequence[type[T.DataType]]:
        """Types of columns in which the encoding itself has landed, and goes on to land."""
        if self.logical == _UUID:
            return (T.BinaryType,)
        was = self._is_time or self.logical.endswith("-nanos")
        return (T.IntegerType, T.LongType) if was else ()

    @property
    def _is_time(self) -> bool:
        return self.logical.startswith("time-")

    def value(self, source: str) -> str:
        """SQL of what is encoded; null where no column or no reader could show it."""
        if size := self._size:
            # The text has the type's scale, so nothing is rounded.
            text = _decimal_text(source, size[1]) if self.fixed else source
            return f"try_cast({text} as {self.stands_for.simpleString()})"
        if self.logical == "date":
            return f"if({source} {self._is_shown}, date_from_unix_date({source}), null)"
        if self.logical == _UUID:
            return f"regexp_replace(lower(hex({source})), '{_HEX_OF_UUID}', '$1-$2-$3-$4-$5')"
        ticks = _TICKS[self.logical.rpartition("-")[2]]
        if self._is_time:
            return _time_of_day(source, ticks)
        if ticks == 10**9:
            # Of 64 bits, all are in the years of the calendar.
            moment = f"timestamp_micros({source} div 1000 - if({source} % 1000 < 0, 1, 0))"
        else:
            micros = f"timestamp_micros({source} * {10**6 // ticks})"
            moment = f"if({source} {self._is_shown}, {micros}, null)"
        return f"cast({moment} as timestamp_ntz)" if self._is_local else moment

    @property
    def _is_shown(self) -> str:
        """SQL, after a number: whether every reader can show its date or timestamp."""
        unit = _DAYS if self.logical == "date" else 10**6 // _TICKS[self.logical.rpartition("-")[2]]
        return f"between {FIRST_MICROSECOND // unit} and {LAST_MICROSECOND // unit}"

    def lost(self, source: str) -> str | None:
        """SQL of the text of what has no `value`, else null; None where all have one."""
        if self._size:
            is_lost = f"{source} is not null and {self.value(source)} is null"
            return f"if({is_lost}, {self.text(source)}, null)"
        if self.was_landed:
            return None
        return f"if(not {source} {self._is_shown}, cast({source} as string), null)"

    def text(self, source: str) -> str:
        """SQL of what is encoded as text; of what has none, the encoding's."""
        if size := self._size:
            whole = f"coalesce({_decimal_text(source, size[1])}, base64({source}))"
            return whole if self.fixed else f"cast({source} as string)"
        return f"coalesce(cast({self.value(source)} as string), cast({source} as string))"


def _decimal_text(source: str, scale: int) -> str:
    """SQL of the number that big-endian bytes are; null of more than 16 bytes or 38 digits."""
    is_negative = f"substring(hex({source}), 1, 1) >= '8'"
    digits = f"lpad(hex({source}), 32, if({is_negative}, 'F', '0'))"
    high = f"cast(conv(substring({digits}, 1, 16), 16, -10) as decimal(20,0))"
    low = f"cast(conv(substring({digits}, 17), 16, 10) as decimal(20,0))"
    wide = f"try_add(try_multiply({high}, cast({1 << 64} as decimal(20,0))), {low})"
    whole = f"if(octet_length({source}) between 1 and 16, cast({wide} as string), null)"
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
    point = f"if({source} % {ticks} = 0, '', concat('.', {fraction}))"
    text = f"concat(format_string('%02d:%02d:%02d', {clock}), {point})"
    is_of_a_day = f"{source} between 0 and {86_400 * ticks - 1}"
    return f"if({is_of_a_day}, {text}, cast({source} as string))"


_ENCODED: Mapping[tuple[str, str], Encoded] = {
    ("int", "date"): Encoded("date"),
    ("int", "time-millis"): Encoded("time-millis"),
    ("long", "time-micros"): Encoded("time-micros"),
    **{
        ("long", f"{local}timestamp-{unit}"): Encoded(f"{local}timestamp-{unit}")
        for local in ("", "local-")
        for unit in _TICKS
    },
}


def as_encoded(schema: Any) -> Any:
    """A schema without the logical types that `encoded` marks."""
    if isinstance(schema, list):
        return [as_encoded(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: as_encoded(one) for name, one in schema.items() if name not in _AS_THEY_ARE}
    plain |= {name: schema[name] for name in _AS_THEY_ARE if name in schema}
    if encoding := _encoding(schema):
        if encoding.logical.startswith("decimal") and not encoding.fixed:
            return {**plain, "precision": _DIGITS}
        del plain["logicalType"]
    return plain


_AS_THEY_ARE = ("default", "symbols", "doc")


def _encoding(schema: Mapping[str, Any]) -> Encoded | None:
    kind, logical = schema.get("type"), str(schema.get("logicalType"))
    if size := decimal_size(schema):
        are_bytes = kind == "fixed" or size[0] > _DIGITS
        return Encoded(f"decimal({size[0]},{size[1]})", fixed=are_bytes)
    if is_uuid(schema):
        return Encoded(_UUID)
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
    """The type of a column for what is `encoded`: of local times instants, as for other formats."""
    return with_scalars(kind, _decoded_scalar)


def _decoded_scalar(kind: T.DataType) -> T.DataType:
    kind = kind.stands_for if isinstance(kind, Encoded) else kind
    return T.TimestampType() if isinstance(kind, T.TimestampNTZType) else kind
