"""Whether records of a shape fit a table's columns, decided once a shape.

`Route` says how a value must travel so that nothing is lost unseen: straight, straight but
within the range that a double holds exactly, or as text that is cast and compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from pyspark.sql import types as T

from ingest.shapes.evolution import inferred, is_number
from ingest.shapes.shape import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    MAP,
    OBJECT,
    STRING,
    Shape,
)

Path = tuple[str, ...]
# Path components for what stands inside an array or a map.
ELEMENT, VALUE = "[]", "{}"


class Route(IntEnum):
    """How a value reaches its column; a larger one is more careful."""

    STRAIGHT = 0
    RANGED = 1
    TEXT = 2


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a shape's records can take the fast way, and by which routes."""

    clean: bool
    routes: Mapping[Path, Route]


def is_direct(kind: T.DataType) -> bool:
    """Types that a JSON value of the same kind becomes without a look at it."""
    return isinstance(
        kind, T.StringType | T.LongType | T.BooleanType | T.DoubleType | T.VariantType
    )


def fit(schema: T.StructType, shape: Shape, *, overflow_matters: bool) -> Fit:
    """How records of `shape` meet `schema`.

    `overflow_matters`: a field without a column has to be rescued (otherwise it is ignored).
    """
    routes: dict[Path, Route] = {}
    clean = shape.values == {OBJECT} and _fits_struct(schema, shape, (), routes, overflow_matters)
    return Fit(clean, routes)


def joined(fits: Iterable[Fit]) -> dict[Path, Route]:
    """The most careful route of each place over all clean shapes."""
    routes: dict[Path, Route] = {}
    for one in fits:
        if one.clean:
            for path, route in one.routes.items():
                routes[path] = max(route, routes.get(path, Route.STRAIGHT))
    return routes


def _fits_struct(
    schema: T.StructType, shape: Shape, path: Path, routes: dict[Path, Route], overflow: bool
) -> bool:
    columns = {member.name: member.dataType for member in schema.fields}
    for name, seen in shape.fields.items():
        if name not in columns:
            if overflow and inferred(seen, infer_types=True) is not None:
                return False
        elif not _fits(columns[name], seen, (*path, name), routes, overflow):
            return False
    return True


def _fits(
    kind: T.DataType, seen: Shape, path: Path, routes: dict[Path, Route], overflow: bool
) -> bool:
    kinds = seen.values
    if not kinds or isinstance(kind, T.VariantType):
        return True
    if isinstance(kind, T.StructType):
        return kinds == {OBJECT} and _fits_struct(kind, seen, path, routes, overflow)
    if isinstance(kind, T.ArrayType):
        return kinds == {ARRAY} and (
            seen.element is None
            or _fits(kind.elementType, seen.element, (*path, ELEMENT), routes, overflow)
        )
    if isinstance(kind, T.MapType):
        if kinds == {MAP}:
            return True
        return kinds == {OBJECT} and all(
            _fits(kind.valueType, value, (*path, VALUE), routes, overflow)
            for value in seen.fields.values()
        )
    return all(_fits_scalar(kind, one, path, routes) for one in kinds)


def _fits_scalar(kind: T.DataType, seen: str, path: Path, routes: dict[Path, Route]) -> bool:
    if seen in (OBJECT, ARRAY, MAP, "VARIANT", DOUBLE):
        # A number with an exponent, or too long for a decimal, has to be read exactly first.
        return False
    needed = Route.STRAIGHT
    if isinstance(kind, T.LongType):
        fits = seen == BIGINT
    elif isinstance(kind, T.BooleanType):
        fits = seen == BOOLEAN
    elif isinstance(kind, T.DoubleType):
        fits = is_number(seen)
        needed = {DECIMAL: Route.STRAIGHT, BIGINT: Route.RANGED}.get(seen, Route.TEXT)
    elif isinstance(kind, T.StringType):
        fits = True
    else:
        fits = seen in (STRING, BOOLEAN, BIGINT) or seen.startswith(DECIMAL)
        needed = Route.TEXT
    if fits and needed:
        routes[path] = max(needed, routes.get(path, Route.STRAIGHT))
    return fits
