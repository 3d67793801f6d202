"""Records that have types already, brought into a table's columns: nothing is rounded away, and
what fits no column is rescued as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import types as T

from ingest.column_names import folded, member_path
from ingest.decoders.avro_encodings import Encoded
from ingest.schemas.conversion import at, cast_exactly
from ingest.spark.sql import sql_type, text_literal
from ingest.type_walk import with_scalars

# Casts between types that lose nothing.
_WIDENING = {
    (T.ByteType, T.ShortType), (T.ByteType, T.IntegerType), (T.ByteType, T.LongType),
    (T.ShortType, T.IntegerType), (T.ShortType, T.LongType), (T.IntegerType, T.LongType),
    (T.FloatType, T.DoubleType), (T.IntegerType, T.DoubleType), (T.ShortType, T.DoubleType),
    (T.TimestampNTZType, T.TimestampType), (T.DateType, T.TimestampType),
}  # fmt: skip
# Digits of the whole numbers that a type holds.
_DIGITS: Mapping[type[T.DataType], int] = {
    T.ByteType: 3,
    T.ShortType: 5,
    T.IntegerType: 10,
    T.LongType: 19,
}
_MOST_DIGITS = 38
# What did not fit: its path, and SQL of its text, null where there is nothing.
_Lost = tuple[str, str]
_NESTED = (T.StructType, T.ArrayType, T.MapType)
_NOTHING = "cast(null as string)"


def typed_row(
    columns: T.StructType, record: str, found: T.StructType, *, keeps: bool, lost: str = ""
) -> tuple[Sequence[str], str]:
    """SQL of each column's value, and of the rescued text, from the struct `record`.

    `keeps`: fields that have no column are rescued too. `lost`: SQL of a map of further texts, by
    path, of what `record` does not hold.
    """
    values, misfits = _members(columns, found, record, keeps)
    if not misfits:
        return values, f"if(cardinality({lost}) > 0, to_json({lost}), null)" if lost else _NOTHING
    pairs = ", ".join(f"{text_literal(path)}, {text}" for path, text in misfits)
    # Of most records nothing is lost, which is seen without a map.
    is_some = f"coalesce({', '.join(text for _, text in misfits)}) is not null"
    rescued = f"if({is_some}, map_filter(map({pairs}), (k, v) -> v is not null), null)"
    if lost:
        both = f"map_zip_with({lost}, {rescued}, (k, v, w) -> coalesce(v, w))"
        rescued = f"coalesce({both}, {lost}, {rescued})"
    return values, f"if(cardinality({rescued}) > 0, to_json({rescued}), null)"


def _members(
    columns: T.StructType, found: T.StructType, record: str, keeps: bool, depth: int = 0
) -> tuple[list[str], list[_Lost]]:
    values: list[str] = []
    lost: list[_Lost] = []
    there = {folded(member.name): member for member in found.fields}
    for column in columns.fields:
        member = there.pop(folded(column.name), None)
        if member is None:
            values.append(f"cast(null as {sql_type(column.dataType)})")
            continue
        source = at(record, (member.name,))
        value, more = _fitted(column.dataType, member.dataType, source, keeps, depth)
        values.append(value)
        own = member_path("", member.name)
        lost += [(f"{own}{path}", text) for path, text in more]
    if keeps:
        for member in there.values():
            text = _as_text(member.dataType, at(record, (member.name,)))
            lost.append((member_path("", member.name), text))
    return values, lost


def _fitted(
    kind: T.DataType, found: T.DataType, source: str, keeps: bool, depth: int
) -> tuple[str, list[_Lost]]:
    """SQL of the column's value, and what it may not hold, by paths that begin below it."""
    if isinstance(found, Encoded):
        return _fitted_number(kind, found, source, keeps, depth)
    if kind == found:
        return source, []
    if (type(found), type(kind)) in _WIDENING or isinstance(kind, T.VariantType):
        return _widened(kind, found, source, depth), []
    return _converted(kind, found, source, keeps, depth)


def _converted(
    kind: T.DataType, found: T.DataType, source: str, keeps: bool, depth: int
) -> tuple[str, list[_Lost]]:
    """See `_fitted`: of another type, which does not hold all that the value's does."""
    if isinstance(kind, T.StructType) and isinstance(found, T.StructType):
        return _fitted_members(kind, found, source, keeps, depth)
    if isinstance(kind, T.ArrayType) and isinstance(found, T.ArrayType):
        return _fitted_items(kind, found, source, keeps, depth)
    if (
        isinstance(kind, T.MapType)
        and isinstance(found, T.MapType)
        # Each key has a text of its own, but not each text is a key.
        and kind.keyType in (found.keyType, T.StringType())
    ):
        return _fitted_entries(kind, found, source, keeps, depth)
    value = _fitted_scalar(kind, found, source)
    lost_text = _as_text(found, source)
    return value, [("", f"if({source} is not null and {value} is null, {lost_text}, null)")]


def _widened(kind: T.DataType, found: T.DataType, source: str, depth: int) -> str:
    """SQL of a value of a type that holds all that another one does."""
    if isinstance(kind, T.VariantType) and isinstance(found, _NESTED):
        # Names in a variant are texts.
        value, _ = _fitted(_keyed_by_text(found), found, source, True, depth)
        return f"to_variant_object({value})"
    return f"cast({source} as {kind.simpleString()})"


def _keyed_by_text(kind: T.DataType) -> T.DataType:
    """The type, with texts for the keys of its maps."""
    return with_scalars(kind, lambda one: one, key=lambda _: T.StringType())


def _fitted_members(
    kind: T.StructType, found: T.StructType, source: str, keeps: bool, depth: int
) -> tuple[str, list[_Lost]]:
    """See `_fitted`."""
    values, lost = _members(kind, found, source, keeps, depth)
    names = (text_literal(one.name) for one in kind.fields)
    pairs = ", ".join(f"{name}, {value}" for name, value in zip(names, values, strict=True))
    value = f"if({source} is null, null, named_struct({pairs}))"
    return value, [(f".{path}", text) for path, text in lost]


def _fitted_scalar(kind: T.DataType, found: T.DataType, source: str) -> str:
    """SQL of a value of another type; null where it would become another value."""
    is_number_as_boolean = isinstance(kind, T.BooleanType) and not isinstance(found, T.StringType)
    is_instant_as_local = isinstance(kind, T.TimestampNTZType) and isinstance(
        found, T.TimestampType
    )
    if is_number_as_boolean or is_instant_as_local or isinstance(kind, _NESTED):
        return f"cast(null as {sql_type(kind)})"
    if isinstance(found, T.BinaryType) and isinstance(kind, T.StringType):
        # Many writers do not mark texts as such.
        text = f"cast({source} as string)"
        return f"if(is_valid_utf8({text}), {text}, null)"
    are_bytes = isinstance(found, T.BinaryType) or (
        isinstance(kind, T.BinaryType) and not isinstance(found, T.StringType)
    )
    if are_bytes:
        return f"cast(null as {sql_type(kind)})"
    return cast_exactly(kind, _as_text(found, source))


def _fitted_items(
    kind: T.ArrayType, found: T.ArrayType, source: str, keeps: bool, depth: int
) -> tuple[str, list[_Lost]]:
    """See `_fitted`: where an item loses something, all of them are rescued."""
    name = f"i{depth}"
    item, lost = _fitted(kind.elementType, found.elementType, name, keeps, depth + 1)
    value = f"transform({source}, {name} -> {item})"
    return value, _all_of(found, source, source, name, lost)


def _fitted_entries(
    kind: T.MapType, found: T.MapType, source: str, keeps: bool, depth: int
) -> tuple[str, list[_Lost]]:
    """See `_fitted`: where a value loses something, all of the map is rescued."""
    key, name = f"k{depth}", f"v{depth}"
    item, lost = _fitted(kind.valueType, found.valueType, name, keeps, depth + 1)
    value = f"transform_values({source}, ({key}, {name}) -> {item})"
    if kind.keyType != found.keyType:
        text = _as_text(found.keyType, key)
        value = f"transform_keys({value}, ({key}, {name}) -> {text})"
    return value, _all_of(found, source, f"map_values({source})", name, lost)


def _all_of(
    found: T.DataType, source: str, items: str, name: str, lost: Sequence[_Lost]
) -> list[_Lost]:
    if not lost:
        return []
    either = " or ".join(f"({text}) is not null" for _, text in lost)
    text = _as_text(found, source)
    return [("", f"if(exists({items}, {name} -> {either}), {text}, null)")]


def _fitted_number(
    kind: T.DataType, found: Encoded, source: str, keeps: bool, depth: int
) -> tuple[str, list[_Lost]]:
    """See `_fitted`: of a number, or bytes, that stand for something else."""
    if type(kind) in found.was_landed:
        return _fitted(kind, found.encoding, source, keeps, depth)
    value, lost = _fitted(kind, found.stands_for, found.value(source), keeps, depth)
    texts = [text for _, text in lost]
    if there := found.lost(source):
        texts.append(there)
    return value, [("", f"coalesce({', '.join(texts)})")] if texts else []


def _as_text(found: T.DataType, source: str) -> str:
    if isinstance(found, T.StringType):
        return source
    if isinstance(found, _NESTED):
        return f"to_json({_json_value(found, source)})"
    if isinstance(found, T.BinaryType):
        return f"base64({source})"
    if isinstance(found, Encoded):
        return found.text(source)
    return f"cast({source} as string)"


def _json_value(found: T.DataType, source: str, depth: int = 0) -> str:
    """SQL of a value of which `to_json` writes what it means.

    It cuts timestamps to milliseconds, knows no encodings, and writes keys of maps as Spark holds
    them: a date as a number, bytes as Java's name of their array.
    """
    if isinstance(found, T.StructType):
        members = [(one.name, at(source, (one.name,)), one.dataType) for one in found.fields]
        values = [(name, own, _json_value(kind, own, depth)) for name, own, kind in members]
        if all(own == value for _, own, value in values):
            return source
        pairs = ", ".join(f"{text_literal(name)}, {value}" for name, _, value in values)
        return f"if({source} is null, null, named_struct({pairs}))"
    key, name = f"jk{depth}", f"jv{depth}"
    if isinstance(found, T.ArrayType):
        value = _json_value(found.elementType, name, depth + 1)
        return source if value == name else f"transform({source}, {name} -> {value})"
    if isinstance(found, T.MapType):
        value = _json_value(found.valueType, name, depth + 1)
        text = _as_text(found.keyType, key)
        if value != name:
            source = f"transform_values({source}, ({key}, {name}) -> {value})"
        return source if text == key else f"transform_keys({source}, ({key}, {name}) -> {text})"
    if isinstance(found, T.TimestampType | T.TimestampNTZType):
        zone = "Z" if isinstance(found, T.TimestampType) else ""
        return f"concat(replace(cast({source} as string), ' ', 'T'), '{zone}')"
    return _as_text(found, source) if isinstance(found, T.BinaryType | Encoded) else source


def merged_columns(left: T.StructType, right: T.StructType) -> T.StructType:
    """The columns of files that bring these: of one name, the type that holds both, or text."""
    more = {folded(one.name): one for one in right.fields}
    fields = []
    for one in left.fields:
        other = more.pop(folded(one.name), None)
        kind = _merged(one.dataType, other.dataType) if other else one.dataType
        fields.append(T.StructField(one.name, kind))
    return T.StructType([*fields, *more.values()])


def _merged(left: T.DataType, right: T.DataType) -> T.DataType:
    if left == right:
        return left
    if isinstance(left, T.StructType) and isinstance(right, T.StructType):
        return merged_columns(left, right)
    if isinstance(left, T.ArrayType) and isinstance(right, T.ArrayType):
        return T.ArrayType(_merged(left.elementType, right.elementType))
    if isinstance(left, T.MapType) and isinstance(right, T.MapType):
        # Entries keep their keys, or get texts for them.
        keys = left.keyType if left.keyType == right.keyType else T.StringType()
        return T.MapType(keys, _merged(left.valueType, right.valueType))
    return _merged_scalars(left, right)


def _merged_scalars(left: T.DataType, right: T.DataType) -> T.DataType:
    if (type(left), type(right)) in _WIDENING:
        return right
    if (type(right), type(left)) in _WIDENING:
        return left
    kinds = {type(left), type(right)}
    if kinds <= {T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType}:
        return T.DoubleType()
    if kinds <= {*_DIGITS, T.DecimalType}:
        (whole, scale), (other, digits) = _digits(left), _digits(right)
        whole, scale = max(whole, other), max(scale, digits)
        if whole + scale <= _MOST_DIGITS:
            return T.DecimalType(whole + scale, scale)
    return T.StringType()


def _digits(kind: T.DataType) -> tuple[int, int]:
    """Digits of a number before its point, and behind it."""
    if isinstance(kind, T.DecimalType):
        return kind.precision - kind.scale, kind.scale
    return _DIGITS[type(kind)], 0


def nullable(kind: T.DataType) -> T.DataType:
    """A type as a table has it: whatever it holds may be null, and times are instants."""
    return with_scalars(
        kind, lambda one: T.TimestampType() if isinstance(one, T.TimestampNTZType) else one
    )
