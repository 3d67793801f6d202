"""Records as Arrow has read them, made into a table's columns without Spark.

Only what is plain to see: of each other value it is said that Spark has to judge it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from ingest.arrow_files.variant import variants
from ingest.parse.json_columns import any_of_runs
from ingest.parse.timestamps import INSTANT, instants_of, within_years
from ingest.schemas.conversion import is_json
from ingest.schemas.datetimes import DATE_FORM

if TYPE_CHECKING:
    Mask = np.ndarray[Any, np.dtype[np.bool_]]

_WHOLE = r"^-?[0-9]{1,18}$"
# Of a decimal of 128 bits.
_MOST_DIGITS = 38
_SMALL: dict[type[T.DataType], int] = {T.ByteType: 8, T.ShortType: 16, T.IntegerType: 32}
_PLAIN = (T.DateType, T.TimestampType, T.DecimalType, *_SMALL)


def are_plain(kind: T.DataType) -> bool:
    """Whether all columns of a type can be made here."""
    if isinstance(kind, T.StructType):
        return bool(kind.fields) and all(are_plain(one.dataType) for one in kind.fields)
    if isinstance(kind, T.ArrayType):
        return are_plain(kind.elementType)
    if isinstance(kind, T.MapType):
        return are_plain(kind.valueType)
    if isinstance(kind, T.DecimalType):
        return kind.precision > kind.scale
    return is_json(kind) or type(kind) in _PLAIN


# Spark 4.0 takes UTC by itself; later versions are given a time zone.
_IN_UTC: dict[str, Any] = (
    {"timezone": "UTC"} if "timezone" in signature(to_arrow_type).parameters else {}
)


def arrow_type(kind: T.DataType) -> pa.DataType:
    """A column's type in Arrow, and so in Parquet."""
    return to_arrow_type(kind, **_IN_UTC)


def made(kind: T.DataType, values: pa.Array) -> tuple[pa.Array, Mask]:
    """A column of `values`, as they were read, and where Spark has to judge: there it is null."""
    if isinstance(kind, T.StructType):
        return _struct(kind, values)
    if isinstance(kind, T.ArrayType):
        return _list(kind, values)
    if isinstance(kind, T.MapType):
        return _map(kind, values)
    if is_json(kind) and not isinstance(kind, T.VariantType):
        return values.cast(arrow_type(kind)), np.zeros(len(values), dtype=bool)
    typed = _made_of_text(kind, values)
    unsure: Mask = _mask(values.is_valid()) & ~_mask(typed.is_valid())
    return typed, unsure


def _struct(kind: T.StructType, values: pa.StructArray) -> tuple[pa.Array, Mask]:
    unsure = np.zeros(len(values), dtype=bool)
    children = []
    for member, child in zip(kind.fields, values.flatten(), strict=True):
        column, odd = made(member.dataType, child)
        children.append(column)
        unsure |= odd
    names = kind.fieldNames()
    return pa.StructArray.from_arrays(children, names=names, mask=values.is_null()), unsure


def _list(kind: T.ArrayType, values: pa.ListArray) -> tuple[pa.Array, Mask]:
    elements, odd = made(kind.elementType, values.values)
    typed = pa.ListArray.from_arrays(
        values.offsets, elements, type=arrow_type(kind), mask=values.is_null()
    )
    return typed, any_of_runs(odd, values.offsets.to_numpy())


def _map(kind: T.MapType, values: pa.MapArray) -> tuple[pa.Array, Mask]:
    items, odd = made(kind.valueType, values.items)
    typed = pa.MapArray.from_arrays(
        values.offsets, values.keys, items, type=arrow_type(kind), mask=values.is_null()
    )
    return typed, any_of_runs(odd, values.offsets.to_numpy())


def _made_of_text(kind: T.DataType, texts: pa.StringArray) -> pa.Array:
    """Null where a text is not plainly one of the type."""
    target = arrow_type(kind)
    if isinstance(kind, T.VariantType):
        return variants(texts)
    if isinstance(kind, T.TimestampType):
        instants = instants_of(texts)
        # One that is none, or is written otherwise, makes none of all.
        if instants is not None:
            return instants
        return within_years(_cast(texts, INSTANT, target, _instant))
    if isinstance(kind, T.DateType):
        return _cast(texts, f"^{DATE_FORM}$", target, _date)
    if isinstance(kind, T.DecimalType):
        # Zeros that do not count, too, but no more digits than Arrow reads without a fault.
        zeros = _MOST_DIGITS - kind.precision
        some = rf"[0-9]{{1,{kind.scale}}}0{{0,{zeros}}}" if kind.scale else rf"0{{1,{zeros}}}"
        fraction = rf"(\.{some})?" if kind.scale or zeros else ""
        number = rf"^-?[0-9]{{1,{kind.precision - kind.scale}}}{fraction}$"
        return _cast(texts, number, target, Decimal)
    whole = _cast(texts, _WHOLE, pa.int64(), int)
    bits = next(size for one, size in _SMALL.items() if isinstance(kind, one))
    in_range = pc.and_(pc.greater_equal(whole, -(2 ** (bits - 1))), pc.less(whole, 2 ** (bits - 1)))
    return pc.if_else(in_range, whole, None).cast(target)


def _cast(
    texts: pa.StringArray, plain: str, kind: pa.DataType, one: Callable[[str], Any]
) -> pa.Array:
    """Texts that match `plain`, cast; `one` casts a single one, or gives None."""
    fitting = pc.match_substring_regex(texts, plain)
    if not pc.all(fitting).as_py():
        texts = pc.if_else(fitting, texts, None)
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:
        return pa.array([one(text) if text else None for text in texts.to_pylist()], kind)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _instant(text: str) -> datetime | None:
    try:
        # Of midnight at a day's end, newer Pythons make the next day.
        return None if text[11:13] == "24" else datetime.fromisoformat(text)
    except ValueError:
        return None


def _mask(values: pa.BooleanArray) -> Mask:
    found: Mask = values.to_numpy(zero_copy_only=False)
    return found
