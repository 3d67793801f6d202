"""SQL that turns what was read of a record into a table's columns, losing nothing unseen.

A value whose type JSON has no word for is read as text and cast for itself; where the cast
loses something the column is null and the record is known as a misfit, whose leftovers are
rescued.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import types as T

from ingest.schemas import datetimes
from ingest.spark.sql import quoted, text_literal
from ingest.type_walk import all_types, struct_with_scalars

_NONE: Mapping[str, str] = {}
# What from_json would take, and JSON has not.
_STRICT = "'allowNonNumericNumbers', 'false', 'allowSingleQuotes', 'false'"
# Names of struct members, outermost first.
Path = tuple[str, ...]


def is_json(kind: T.DataType) -> bool:
    """Whether a scalar type is one that JSON has: its values need no cast."""
    return isinstance(
        kind, T.StringType | T.LongType | T.BooleanType | T.DoubleType | T.VariantType
    )


def extracted(kind: T.StructType) -> T.StructType:
    """The columns to read: as in `kind`, with text for what is cast."""
    return struct_with_scalars(kind, lambda one: one if is_json(one) else T.StringType())


def typed(kind: T.DataType, source: str, known: Mapping[str, str] = _NONE, depth: int = 0) -> str:
    """SQL for the column's value, from the value `source` that was read; of VARIANT its text.

    `known` is SQL of values that are known where they are not null, by that of their texts.
    """
    if not _is_changed(kind):
        return source
    if isinstance(kind, T.StructType):
        return _struct(kind, source, lambda one, value: typed(one, value, known, depth))
    name = f"v{depth}"
    if isinstance(kind, T.ArrayType):
        return f"transform({source}, {name} -> {typed(kind.elementType, name, depth=depth + 1)})"
    if isinstance(kind, T.MapType):
        value = typed(kind.valueType, name, depth=depth + 1)
        return f"transform_values({source}, (k{depth}, {name}) -> {value})"
    value = _typed_text(kind, source)
    return f"coalesce({known[source]}, {value})" if source in known else value


def assembled(kind: T.DataType, source: str, made: Mapping[str, str]) -> str:
    """The same as `typed`, where SQL of all that is made of what was read is at hand.

    `made` has that by SQL of what it was made of, for each of `changed`.
    """
    if isinstance(kind, T.StructType) and _is_changed(kind):
        return _struct(kind, source, lambda one, value: assembled(one, value, made))
    return made.get(source, source)


def _struct(kind: T.StructType, source: str, value: Callable[[T.DataType, str], str]) -> str:
    members = ", ".join(
        f"{text_literal(one.name)}, {value(one.dataType, f'{source}.{quoted(one.name)}')}"
        for one in kind.fields
    )
    return f"if({source} is null, null, named_struct({members}))"


def changed(kind: T.StructType) -> list[Path]:
    """Paths of the members, in structs, whose values are others than those that were read."""
    return _members(kind, _is_changed)


def _typed_text(kind: T.DataType, text: str) -> str:
    if isinstance(kind, T.VariantType):
        # Null where a name stands twice in an object. As `try_parse_json`, which begins with an
        # empty table of names at each text.
        return _parsed(text, "variant")
    if isinstance(kind, T.BinaryType):
        # JSON has no bytes. Spark makes some of nearly any text: only base64 gives it back.
        found = f"try_to_binary({text}, 'base64')"
        return f"if(base64({found}) = {text}, {found}, null)"
    return cast_exactly(kind, text)


def variants_of(texts: str) -> str:
    """SQL of the VARIANTs of an array of texts, as `typed` makes them; empty where one is none.

    Never null, which would make `arrays_zip` null, and lose what stands beside it. All are parsed
    as one document, as each text that is parsed for itself gets a reader with a buffer of 8 KB,
    which takes a third of the time. A null comes to be the null of JSON.
    """
    kind = "array<variant>"
    parsed = _parsed(f"concat('[', array_join({texts}, ',', 'null'), ']')", kind)
    return f"coalesce({parsed}, cast(array() as {kind}))"


def _parsed(text: str, kind: str) -> str:
    return f"from_json({text}, '{kind}', map({_STRICT}))"


def misfits(
    kind: T.DataType, source: str, value: Callable[[T.DataType, str], str], depth: int = 0
) -> list[str]:
    """SQL conditions, one of which holds where something of `source` is lost by its cast.

    `value` gives SQL of what became of something, by its type and its own SQL.
    """
    if isinstance(kind, T.StructType):
        return [
            condition
            for one in kind.fields
            for condition in misfits(one.dataType, f"{source}.{quoted(one.name)}", value, depth)
        ]
    if isinstance(kind, T.ArrayType):
        return _misfits_among(kind.elementType, source, depth)
    if isinstance(kind, T.MapType):
        return _misfits_among(kind.valueType, f"map_values({source})", depth)
    if not _is_changed(kind):
        return []
    return [f"({source} is not null and {value(kind, source)} is null)"]


def _misfits_among(kind: T.DataType, values: str, depth: int) -> list[str]:
    name = f"m{depth}"
    inner = misfits(kind, name, lambda one, text: typed(one, text, depth=depth + 1), depth + 1)
    if not inner:
        return []
    either = " or ".join(f"coalesce({condition}, false)" for condition in inner)
    return [f"exists({values}, {name} -> {either})"]


def _is_changed(kind: T.DataType) -> bool:
    return any(
        isinstance(one, T.VariantType) or not is_json(one)
        for one in all_types(kind)
        if not isinstance(one, T.StructType | T.ArrayType | T.MapType)
    )


def cast_exactly(kind: T.DataType, text: str) -> str:
    """SQL that casts `text` to `kind`; null where a number would be rounded, or a time made up."""
    if datetimes.is_datetime(kind):
        return datetimes.from_text(kind, text)
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


def type_at(kind: T.DataType | None, path: Path) -> T.DataType | None:
    """The type at a path of structs; None where there is no such column."""
    for name in path:
        if not isinstance(kind, T.StructType) or name not in kind.fieldNames():
            return None
        kind = kind[name].dataType
    return kind


def members_of(kind: T.StructType, wanted: type[T.DataType]) -> list[Path]:
    """Paths of the members, in structs, that have such a type."""
    return _members(kind, lambda one: isinstance(one, wanted))


def _members(kind: T.StructType, is_wanted: Callable[[T.DataType], bool]) -> list[Path]:
    found: list[Path] = []
    for member in kind.fields:
        if isinstance(member.dataType, T.StructType):
            found += [(member.name, *path) for path in _members(member.dataType, is_wanted)]
        elif is_wanted(member.dataType):
            found.append((member.name,))
    return found


def at(source: str, path: Path) -> str:
    """SQL of the value at a path below `source`."""
    return ".".join([source, *map(quoted, path)]) if source else ".".join(map(quoted, path))
