"""What columns hold of a JSON document, decided value by value.

Of scalars there are only those of JSON in their types, and VARIANT, whose value is its text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T

from ingest.column_names import member_path
from ingest.parse.json_exact import Inexact, Number, Refused, is_double, is_unicode, loaded, written

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_HALF = re.compile("[\ud800-\udfff]")
_BOOLEANS = {"true": True, "false": False}
# Doubles that JSON has no number for; in strings Spark's own parser takes them, too.
NON_NUMBERS = frozenset({"NaN", "Infinity", "-Infinity"})


@dataclass(frozen=True, slots=True)
class Fitting:
    """A document all of which columns of a `kind` hold, but for empty values without a column.

    Those are `rescued`, as JSON by path: an empty list or object has no type that a column could
    have.
    """

    document: dict[str, Any]
    kind: T.StructType
    rescued: str | None

    def values(self) -> Any:
        """What the columns take."""
        return taken(self.document, self.kind)


def fitted(text: str | None, kind: T.StructType, overflow_matters: bool) -> Fitting | None:
    """The document that `text` is; None where it is no object all of which `kind` holds.

    Any scalar fits a string. A number fits if it is shown again as it was written, but for
    zeros at its end: none of digits that 64 bits do not hold, nor in a string one with an
    exponent. `overflow_matters`: what no column is named for does not fit.
    """
    try:
        text = text or ""
        document = loaded(text)
    except Refused:
        return None
    empty: dict[str, Any] = {}
    look = _Look(overflow_matters, empty)
    if not isinstance(document, dict) or not look.fits(document, kind, ()):
        return None
    # Only escapes can write half of a surrogate pair, which no column holds.
    if "\\u" in text and not is_unicode(json.dumps(document, ensure_ascii=False)):
        return None
    return Fitting(document, kind, written(empty) if empty else None)


# Names of members and numbers of elements.
_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at one document, which finds its empty values without a column."""

    overflow_matters: bool
    empty: dict[str, Any]

    def fits(self, value: Any, kind: T.DataType, path: _Path) -> bool:
        if value is None:
            return True
        if isinstance(kind, T.StructType):
            return isinstance(value, dict) and self._fits_struct(value, kind, path)
        if isinstance(kind, T.ArrayType):
            return isinstance(value, list) and all(
                self.fits(one, kind.elementType, (*path, number))
                for number, one in enumerate(value)
            )
        if isinstance(kind, T.MapType):
            return isinstance(value, dict) and all(
                self.fits(one, kind.valueType, (*path, name)) for name, one in value.items()
            )
        if isinstance(kind, T.VariantType):
            return _is_shown_again(value)
        return _fits_scalar(value, kind)

    def _fits_struct(self, value: Mapping[str, Any], kind: T.StructType, path: _Path) -> bool:
        columns = {member.name: member.dataType for member in kind.fields}
        for name, one in value.items():
            if one is None:
                continue
            if name in columns:
                if not self.fits(one, columns[name], (*path, name)):
                    return False
            elif self.overflow_matters:
                if not _is_empty(one):
                    return False
                self.empty[_path_text((*path, name))] = one
        return True


def _path_text(path: _Path) -> str:
    """A path as `_rescued` has it."""
    text = ""
    for step in path:
        text = f"{text}[{step}]" if isinstance(step, int) else member_path(text, step)
    return text


def _fits_scalar(value: Any, kind: T.DataType) -> bool:
    if isinstance(kind, T.BooleanType):
        return isinstance(value, bool)
    if isinstance(kind, T.LongType):
        return isinstance(value, Number) and is_long(value)
    if isinstance(kind, T.DoubleType):
        return isinstance(value, Number) and is_double(value)
    return not isinstance(value, dict | list) and _is_shown_again(value)


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict | list):
        return all(map(_is_empty, value.values() if isinstance(value, dict) else value))
    return value is None


def _is_shown_again(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_shown_again, value.values()))
    if isinstance(value, list):
        return all(map(_is_shown_again, value))
    if isinstance(value, Number):
        return is_long(value) or ("e" not in value.lower() and is_double(value))
    return not isinstance(value, Inexact)


def is_long(digits: str) -> bool:
    """Whether the digits are those of a 64-bit integer."""
    return digits.lstrip("-").isdecimal() and -(2**63) <= int(digits) < 2**63


def taken(value: Any, kind: T.DataType) -> Any:
    """What a column of type `kind` takes of a value of `loaded`, as Arrow does; else None.

    Numbers and booleans are taken from strings too, written as JSON writes them. A string takes
    anything, as its text, but half of a surrogate pair; a VARIANT has U+FFFD in its place.
    """
    if value is None:
        return None
    if isinstance(kind, T.VariantType):
        return written(without_halves(value))
    if isinstance(value, dict):
        return _taken_object(value, kind)
    if isinstance(value, list) and isinstance(kind, T.ArrayType):
        return [taken(one, kind.elementType) for one in value]
    return _taken_text(str(value) if isinstance(value, str) else written(value), kind)


def without_halves(value: Any) -> Any:
    """A value of `loaded` as UTF-8 can hold it: halves of surrogate pairs are U+FFFD there.

    Members whose names have such a half are left out.
    """
    if isinstance(value, dict):
        return {name: without_halves(one) for name, one in value.items() if is_unicode(name)}
    if isinstance(value, list):
        return [without_halves(one) for one in value]
    if isinstance(value, str) and not is_unicode(value):
        return _HALF.sub("\ufffd", value)
    return value


def _taken_object(value: Mapping[str, Any], kind: T.DataType) -> Any:
    if isinstance(kind, T.StructType):
        return {
            one.name: taken(value[one.name], one.dataType)
            for one in kind.fields
            if one.name in value
        }
    if isinstance(kind, T.MapType):
        return [
            (name, taken(one, kind.valueType)) for name, one in value.items() if is_unicode(name)
        ]
    return _taken_text(written(value), kind)


def _taken_text(text: str, kind: T.DataType) -> Any:
    if isinstance(kind, T.StringType):
        return text if is_unicode(text) else None
    if isinstance(kind, T.BooleanType):
        return _BOOLEANS.get(text)
    number = _NUMBER.fullmatch(text)
    if number and isinstance(kind, T.LongType):
        fraction, exponent = number[2] or "", number[3]
        digits = text.removesuffix(fraction)
        is_whole = not exponent and not fraction.strip(".0")
        return int(digits) if is_whole and is_long(digits) else None
    is_taken = isinstance(kind, T.DoubleType) and (
        text in NON_NUMBERS or (number and is_double(text))
    )
    return float(text) if is_taken else None


def arrow_type(kind: T.DataType) -> pa.DataType:
    """The type of what `taken` gives."""
    if isinstance(kind, T.StructType):
        return pa.struct([(one.name, arrow_type(one.dataType)) for one in kind.fields])
    if isinstance(kind, T.ArrayType):
        return pa.list_(arrow_type(kind.elementType))
    if isinstance(kind, T.MapType):
        return pa.map_(pa.string(), arrow_type(kind.valueType))
    if isinstance(kind, T.BooleanType):
        return pa.bool_()
    if isinstance(kind, T.LongType):
        return pa.int64()
    return pa.float64() if isinstance(kind, T.DoubleType) else pa.string()
