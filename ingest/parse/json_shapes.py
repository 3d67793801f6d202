"""The shape of one JSON document, written as `shape.py` reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyspark.sql import types as T

from ingest.parse.json_exact import Known, Number, is_unicode
from ingest.parse.json_fit import is_long
from ingest.parse.known_shapes import ShapedList, ShapedObject
from ingest.schemas.shape import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DOUBLE,
    LARGE,
    MAP,
    OBJECT,
    STRING,
    VOID,
    quoted_name,
)

_NUMBERS = (BIGINT, LARGE, DOUBLE)
_HOLDING = T.StructType | T.ArrayType | T.MapType | T.VariantType
# A shape is a scalar's word, a list of the one shape of all elements, or a dict of members.
_Shape = str | list[Any] | dict[str, Any]


def shape_text(document: dict[str, Any], columns: T.StructType) -> str:
    """The shape of a document of `loaded`, as far as columns can have its names.

    What the table holds as VARIANT adds nothing to it, nor do the names of its maps of scalars.
    """
    return _text(_shape(document, columns))


def _shape(value: Any, kind: T.DataType | None) -> _Shape:
    if isinstance(value, ShapedObject | ShapedList) and value.shape:
        return value.shape
    if isinstance(value, ShapedObject):
        return f"{MAP}<{_text(_merged(_shape(one, None) for one in value.values()))}>"
    if isinstance(value, dict):
        return _object(value, kind)
    if isinstance(value, list):
        element = kind.elementType if isinstance(kind, T.ArrayType) else None
        return [_merged(_shape(one, element) for one in value)]
    return _scalar(value)


def number_kind(digits: Number) -> str:
    """The kind of shape that a number has."""
    if is_long(digits):
        return BIGINT
    return LARGE if digits.lstrip("-").isdecimal() else DOUBLE


def _scalar(value: Any) -> str:
    if isinstance(value, Number):
        return number_kind(value)
    if isinstance(value, bool):
        return BOOLEAN
    return VOID if value is None else value.kind if isinstance(value, Known) else STRING


def _object(value: dict[str, Any], kind: T.DataType | None) -> _Shape:
    if isinstance(kind, T.MapType) and not isinstance(kind.valueType, _HOLDING):
        if not any(isinstance(one, dict | list) for one in value.values()):
            return MAP
        kind = None
    columns = (
        {one.name: one.dataType for one in kind.fields} if isinstance(kind, T.StructType) else {}
    )
    return {
        name: _shape(one, columns.get(name))
        for name, one in value.items()
        if is_unicode(name) and not isinstance(columns.get(name), T.VariantType)
    }


def _merged(shapes: Iterable[_Shape]) -> _Shape:
    found: _Shape = VOID
    for shape in shapes:
        found = _both(found, shape)
    return found


def _both(left: _Shape, right: _Shape) -> _Shape:
    if left in (VOID, right):
        return right
    if right == VOID:
        return left
    if isinstance(left, dict) and isinstance(right, dict):
        return left | {name: _both(left.get(name, VOID), one) for name, one in right.items()}
    if isinstance(left, list) and isinstance(right, list):
        return [_both(left[0], right[0])]
    if left in _NUMBERS and right in _NUMBERS:
        return max(str(left), str(right), key=_NUMBERS.index)
    return "VARIANT"


def _text(shape: _Shape) -> str:
    if isinstance(shape, dict):
        members = (f"{quoted_name(name)}: {_text(one)}" for name, one in sorted(shape.items()))
        return f"{OBJECT}<{', '.join(members)}>"
    if isinstance(shape, list):
        return f"{ARRAY}<{_text(shape[0])}>"
    return shape
