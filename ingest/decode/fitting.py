"""Whether columns hold all of a JSON document, decided value by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import types as T

from ingest.decode.exact_json import Inexact, Number, Refused, is_double, loaded


def fits(text: str | None, kind: T.StructType, *, overflow_matters: bool) -> bool:
    """Whether `text` is an object, and columns of type `kind` hold all of it.

    Of scalars there are only those of JSON in `kind`, and VARIANT. Any scalar fits a string.
    A number fits if it is shown again as it was written, but for zeros at its end: none of
    digits that 64 bits do not hold, nor in a string one with an exponent.
    `overflow_matters`: what no column is named for does not fit.
    """
    try:
        document = loaded(text or "")
    except Refused:
        return False
    return isinstance(document, dict) and _fits_struct(document, kind, overflow_matters)


def _fits(value: Any, kind: T.DataType, overflow: bool) -> bool:
    if value is None:
        return True
    if isinstance(kind, T.StructType):
        return isinstance(value, dict) and _fits_struct(value, kind, overflow)
    if isinstance(kind, T.ArrayType):
        return isinstance(value, list) and all(
            _fits(one, kind.elementType, overflow) for one in value
        )
    if isinstance(kind, T.MapType):
        return isinstance(value, dict) and all(
            _fits(one, kind.valueType, overflow) for one in value.values()
        )
    if isinstance(kind, T.VariantType):
        return _is_shown_again(value)
    return _fits_scalar(value, kind)


def _fits_scalar(value: Any, kind: T.DataType) -> bool:
    if isinstance(kind, T.BooleanType):
        return isinstance(value, bool)
    if isinstance(kind, T.LongType):
        return isinstance(value, Number) and _is_long(value)
    if isinstance(kind, T.DoubleType):
        return isinstance(value, Number) and is_double(value)
    return not isinstance(value, dict | list) and _is_shown_again(value)


def _fits_struct(value: Mapping[str, Any], kind: T.StructType, overflow: bool) -> bool:
    columns = {member.name: member.dataType for member in kind.fields}
    return all(
        _fits(one, columns[name], overflow) if name in columns else not overflow or _is_empty(one)
        for name, one in value.items()
    )


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_is_empty, value.values() if isinstance(value, dict) else value))
    return value is None


def _is_shown_again(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_is_shown_again, value.values() if isinstance(value, dict) else value))
    if isinstance(value, Number):
        return _is_long(value) or ("e" not in value.lower() and is_double(value))
    return not isinstance(value, Inexact)


def _is_long(digits: str) -> bool:
    return digits.lstrip("-").isdecimal() and -(2**63) <= int(digits) < 2**63
