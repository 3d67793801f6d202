"""SQL that turns a VARIANT into a table's columns without losing anything unseen.

A record is cast once, to a struct in which a value that must be looked at stays text. Each
text is then cast for itself; where the cast loses something the column is null and the
record is known as a misfit, whose leftovers are rescued.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import types as T

from ingest.shapes.fitting import ELEMENT, VALUE, Path, Route, is_direct

# 2^53: every whole number up to it is a double.
_EXACT_IN_DOUBLE = 9007199254740992


def quoted(name: str) -> str:
    """A name as a SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def text_literal(text: str) -> str:
    """A text as a SQL literal."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


@dataclass(frozen=True, slots=True)
class Conversion:
    """The way of one schema's values: by the routes given, or all as text (`careful`)."""

    routes: Mapping[Path, Route]
    careful: bool = False

    def route(self, kind: T.DataType, path: Path) -> Route:
        """How the scalar at `path` travels."""
        if isinstance(kind, T.StringType | T.VariantType):
            return Route.STRAIGHT
        if self.careful or VALUE in path or not is_direct(kind):
            return Route.TEXT
        return self.routes.get(path, Route.STRAIGHT)

    def extracted(self, kind: T.DataType, path: Path = ()) -> T.DataType:
        """The type to cast a VARIANT to: `kind`, with text where the route is TEXT."""
        if isinstance(kind, T.StructType):
            return T.StructType(
                [
                    T.StructField(
                        member.name, self.extracted(member.dataType, (*path, member.name))
                    )
                    for member in kind.fields
                ]
            )
        if isinstance(kind, T.ArrayType):
            return T.ArrayType(self.extracted(kind.elementType, (*path, ELEMENT)))
        if isinstance(kind, T.MapType):
            return T.MapType(kind.keyType, self.extracted(kind.valueType, (*path, VALUE)))
        return T.StringType() if self.route(kind, path) is Route.TEXT else kind

    def typed(self, kind: T.DataType, source: str, path: Path) -> str:
        """SQL for the column's value, from the extracted value `source`."""
        if self.extracted(kind, path) == kind:
            return source
        if isinstance(kind, T.StructType):
            members = ", ".join(
                f"{text_literal(member.name)}, "
                + self.typed(
                    member.dataType, f"{source}.{quoted(member.name)}", (*path, member.name)
                )
                for member in kind.fields
            )
            return f"if({source} is null, null, named_struct({members}))"
        if isinstance(kind, T.ArrayType):
            name = f"e{len(path)}"
            element = self.typed(kind.elementType, name, (*path, ELEMENT))
            return f"transform({source}, {name} -> {element})"
        if isinstance(kind, T.MapType):
            name = f"v{len(path)}"
            value = self.typed(kind.valueType, name, (*path, VALUE))
            return f"transform_values({source}, (k{len(path)}, {name}) -> {value})"
        return cast_exactly(kind, source)

    def misfits(self, kind: T.DataType, source: str, typed: str, path: Path) -> list[str]:
        """SQL conditions, one of which holds where a value of `source` does not fit.

        `typed` is the value of the column that `source` became.
        """
        if isinstance(kind, T.StructType):
            return [
                condition
                for member in kind.fields
                for condition in self.misfits(
                    member.dataType,
                    f"{source}.{quoted(member.name)}",
                    f"{typed}.{quoted(member.name)}",
                    (*path, member.name),
                )
            ]
        if isinstance(kind, T.ArrayType | T.MapType):
            return self._misfits_inside(kind, source, path)
        route = self.route(kind, path)
        if route is Route.TEXT:
            return [f"({source} is not null and {typed} is null)"]
        if route is Route.RANGED:
            return [f"abs({source}) > {_EXACT_IN_DOUBLE}D"]
        return []

    def _misfits_inside(self, kind: T.ArrayType | T.MapType, source: str, path: Path) -> list[str]:
        name = f"m{len(path)}"
        if isinstance(kind, T.ArrayType):
            place, element, values = (*path, ELEMENT), kind.elementType, source
        else:
            place, element, values = (*path, VALUE), kind.valueType, f"map_values({source})"
        inner = self.misfits(element, name, self.typed(element, name, place), place)
        if not inner:
            return []
        either = " or ".join(f"coalesce({condition}, false)" for condition in inner)
        return [f"exists({values}, {name} -> {either})"]


def cast_exactly(kind: T.DataType, text: str) -> str:
    """SQL that casts `text` to `kind`, or gives null where a number would be rounded."""
    cast = f"try_cast({text} as {kind.simpleString()})"
    if isinstance(kind, T.StringType):
        return text
    if isinstance(kind, T.DoubleType | T.FloatType):
        return f"if({_is_same_float(kind, text, cast)}, {cast}, null)"
    if isinstance(kind, T.DecimalType):
        return f"if({_is_same_decimal(kind, text, cast)}, {cast}, null)"
    return cast


def _is_same_float(kind: T.DoubleType | T.FloatType, text: str, cast: str) -> str:
    """SQL: the float shows the digits of the text again, so none was rounded away.

    Decimals compare only texts that they hold whole, or both sides would be rounded alike.
    """
    # So many digits come back from a float unchanged (DBL_DIG and FLT_DIG of IEEE 754).
    digits, exponent = (15, "[0-9]{1,2}") if isinstance(kind, T.DoubleType) else (6, "[12]?[0-9]")
    shown = f"cast({cast} as string)"
    return (
        f"(abs({cast}) < double('Infinity') and ({shown} = {text}"
        f" or ({_matches(text, '[0-9]{1,19}([.][0-9]{0,19}0*)?')} and {_equal(text, shown, 19)})"
        f" or ({_matches(text, '0?[.][0-9]{1,38}0*')} and {_equal(text, shown, 38)})"
        f" or {_matches(text, f'[0-9]([.][0-9]{{0,{digits - 1}}})?[eE][-+]?{exponent}')}))"
    )


def _is_same_decimal(kind: T.DecimalType, text: str, cast: str) -> str:
    """SQL: the decimal's scale holds every digit of the text that is not a trailing zero."""
    fraction = f"[0-9]*([.][0-9]{{0,{kind.scale}}}0*)?"
    # A double with an exponent shows at most this many digits that a decimal can compare.
    exponent = "[0-9]+([.][0-9]{1,10})?[eE][+]?[0-9]{1,2}"
    scale = 38 - (kind.precision - kind.scale)
    held = (
        f"({_matches(text, exponent)} and {_equal(text, cast, scale)})" if scale >= 10 else "false"
    )
    return f"({_matches(text, fraction)} or {held})"


def _matches(text: str, number: str) -> str:
    return f"{text} rlike {text_literal('^[ ]*[-+]?' + number + '[ ]*$')}"


def _equal(text: str, other: str, scale: int) -> str:
    return f"try_cast({text} as decimal(38,{scale})) = try_cast({other} as decimal(38,{scale}))"


def union(left: T.StructType, right: T.StructType) -> T.StructType:
    """The members of both structs of one schema, `left`'s first."""
    members = {member.name: member for member in left.fields}
    for member in right.fields:
        mine = members.get(member.name)
        if mine is None:
            members[member.name] = member
        elif isinstance(mine.dataType, T.StructType) and isinstance(member.dataType, T.StructType):
            members[member.name] = T.StructField(member.name, union(mine.dataType, member.dataType))
    return T.StructType(list(members.values()))


def type_at(kind: T.DataType, path: Path) -> T.DataType | None:
    """The type at a path of structs; None where there is no such column."""
    for name in path:
        if not isinstance(kind, T.StructType) or name not in kind.fieldNames():
            return None
        kind = kind[name].dataType
    return kind


def at(source: str, path: Path) -> str:
    """SQL of the value at a path below `source`."""
    return ".".join([source, *map(quoted, path)]) if source else ".".join(map(quoted, path))
