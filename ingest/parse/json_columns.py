"""Read JSON texts into Arrow columns, and say of each whether its columns hold all of it.

DuckDB reads JSON several times as fast as Spark does. Like Spark it drops what the schema does
not name, and it makes numbers of strings. So the members of each text are counted by what
stands behind their colons, and compared with what the columns hold: a text whose counts are
equal, and in which nothing is written that counting cannot see, is proven whole. Where that
proves nothing the document is read in Python and compared value by value (`fitted`). Where DuckDB
has given up on a text, for half of a surrogate pair in it, what Python reads is taken.

Numbers and booleans leave DuckDB as the text of their value, because as such they show whether
they were strings, fractions or too large.
"""

from __future__ import annotations

import atexit
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from ingest.parse.json_exact import is_too_deep
from ingest.parse.json_fit import fitted
from ingest.parse.json_layouts import Layouts
from ingest.parse.json_members import BRACE, BRACKET, Members, WrittenMembers

if TYPE_CHECKING:
    from ingest.parse.json_members import Bytes, Counts, Mask

# What counting cannot see, in a text that DuckDB takes for JSON: a colon apart from its name, a
# name that ends in a backslash, a comma too many; where a value stands, NaN, Infinity and what a
# 64-bit integer or a double may not hold: 20 digits, or 19 that begin with a nine, which those of
# nanoseconds in this century do not; more than 15 with a point, an exponent.
_UNSEEN = (
    r'"[ \t\r\n]+:|\\\\":|,[ \t\r\n]*[}\]]|(?:":|[,\[])[ \t\r\n]*-?'
    r"(?:[0-9]{20}|9[0-9]{18}|[0-9]{7,}\.|[0-9]*\.[0-9]{9}|[0-9.]+[eE]"
    r"|(?i:nan|inf(?:inity)?)[ \t\r\n]*[,}\]])"
)
# Any 18 digits are a 64-bit integer.
_WHOLE, _NUMBER = r"^-?[0-9]{1,18}$", r"^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
# Each smaller whole number is a double.
_EXACT_IN_DOUBLE = 2.0**53
_TRANSFORMED = "select json_transform($text, '$structure') as r from texts"


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of each of many values, be they spread over many columns."""

    # Members inside the value.
    inside: Members
    # Where it must be looked at.
    odd: Mask

    @staticmethod
    def nothing(length: int) -> _Found:
        return _Found(Members.none(length), np.zeros(length, dtype=bool))

    def add(self, elements: _Found, offsets: Counts) -> None:
        """Count runs of elements, each from one offset to the next, as the values' own."""
        self.inside.add(elements.inside.summed(offsets))
        np.logical_or(self.odd, any_of_runs(elements.odd, offsets), out=self.odd)


@dataclass(frozen=True, slots=True)
class Records:
    """Texts as columns: what those hold, whether that is all, and empty values without a column.

    `rescued` is JSON, by path; null for a text without such values.
    """

    columns: pa.StructArray
    are_whole: Mask
    rescued: pa.StringArray


def records(texts: pa.Array, kind: T.StructType, *, overflow_matters: bool) -> Records:
    """Each text's columns, and whether they hold all of it. A text that is no object does not fit.

    Of scalars there are only strings, bigints, doubles and booleans in `kind`, and VARIANT,
    which comes as the text of its value. `overflow_matters`: a text whose members have no
    column does not fit. Each call costs ten milliseconds, whatever it reads.
    """
    texts = legible(texts)
    columns, proven = _counted(texts, kind)
    rescued = pa.nulls(len(texts), pa.string())
    rows = np.flatnonzero(~proven).tolist()
    looked_at = {row: fitted(texts[row].as_py(), kind, overflow_matters) for row in rows}
    fitting = {row: one for row, one in looked_at.items() if one}
    proven[list(fitting)] = True
    # What DuckDB has of a text that it cannot read is a record of nulls.
    is_there = _is_there(columns)
    unread = {row: one.values() for row, one in fitting.items() if not is_there[row]}
    columns = _replaced(columns, unread)
    rescued = _replaced(rescued, {row: one.rescued for row, one in fitting.items() if one.rescued})
    return Records(columns, proven, rescued)


def _counted(texts: pa.StringArray, kind: T.StructType) -> tuple[pa.StructArray, Mask]:
    """Each text's columns, and whether counting proves that they hold all of it."""
    found = _Found.nothing(len(texts))
    columns, _ = _column(kind, _parsed(texts, kind), found)
    written = WrittenMembers(texts)
    proven = written.is_seen & written.members.equals(found.inside) & ~found.odd
    proven &= _is_there(columns) & (_first_bytes(texts) == BRACE)
    proven &= ~_mask(pc.match_substring_regex(texts, _UNSEEN), where_null=True)
    # A null is not counted, so that it may stand beside another member of its name.
    rows = np.flatnonzero(proven & (written.members.nulls > found.inside.nulls))
    if len(rows):
        proven[rows] = ~_layouts.repeating(texts if len(rows) == len(texts) else texts.take(rows))
    for row in np.flatnonzero(proven & written.may_be_deep()):
        proven[row] = not is_too_deep(texts[row].as_py())
    return columns, proven


def _replaced(values: pa.Array, others: Mapping[int, Any]) -> pa.Array:
    """The values, with others in some rows."""
    if not others:
        return values
    chosen = np.arange(len(values))
    chosen[list(others)] = len(values) + np.arange(len(others))
    # Arrow replaces no structs in their places.
    more = pa.array(others.values(), values.type)
    return pa.concat_arrays([values, more]).take(pa.array(chosen))


def legible(texts: pa.Array) -> pa.StringArray:
    """Texts, be they bytes; null where they are not UTF-8, which Arrow believes of any string."""
    strings = pa.Array.from_buffers(pa.string(), len(texts), texts.buffers(), offset=texts.offset)
    illegible = list(_illegible(strings))
    if illegible:
        mask = _nowhere(strings)
        mask[illegible] = True
        strings = pc.if_else(pa.array(mask), None, strings)
    return strings


def _illegible(strings: pa.StringArray, start: int = 0) -> Iterator[int]:
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        half = len(strings) // 2
        if half:
            yield from _illegible(strings[:half], start)
            yield from _illegible(strings[half:], start + half)
        else:
            yield start


@dataclass(slots=True)
class _Experience:
    """Whether the texts that came last had some that are no JSON, as the next will have, too.

    To look at each beforehand takes a third more time; not to, and to begin again, even more.
    """

    is_bad: bool = False


_experience = _Experience()
_layouts = Layouts()


@contextmanager
def asking(texts: pa.StringArray) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to this process's DuckDB that has `texts` as a table of this name.

    No other has it: the streams of a driver look at records at the same time.
    """
    with _database().cursor() as found:
        found.register("texts", pa.table({"text": texts}))
        yield found


@lru_cache(maxsize=1)
def _database() -> duckdb.DuckDBPyConnection:
    """Spark runs a process a core, so one thread is enough."""
    found = duckdb.connect(config={"threads": 1})
    # Its module reports every object that outlives it.
    atexit.register(_database.cache_clear)
    return found


def _parsed(texts: pa.StringArray, kind: T.StructType) -> pa.StructArray:
    if not kind.fields:
        return pa.StructArray.from_arrays([], names=[], mask=pa.array([True] * len(texts)))
    structure = json.dumps(_structure(kind)).replace("'", "''")

    def transformed(text: str) -> pa.StructArray:
        query = _TRANSFORMED.replace("$text", text).replace("$structure", structure)
        with asking(texts) as database:
            return database.sql(query).to_arrow_table()["r"].combine_chunks()

    if not _experience.is_bad:
        try:
            return transformed("text")
        except duckdb.InvalidInputException:
            # The first text that is no JSON ends the query.
            pass
    found = transformed("case when json_valid(text) then text end")
    _experience.is_bad = found.null_count > texts.null_count
    return found


def _structure(kind: T.DataType) -> Any:
    """What json_transform takes for a type."""
    if isinstance(kind, T.StructType):
        return {member.name: _structure(member.dataType) for member in kind.fields}
    if isinstance(kind, T.ArrayType):
        return [_structure(kind.elementType)]
    return _type(kind)


def _type(kind: T.DataType) -> str:
    if isinstance(kind, T.StructType):
        members = (
            f'"{member.name.replace(chr(34), chr(34) * 2)}" {_type(member.dataType)}'
            for member in kind.fields
        )
        return f"STRUCT({', '.join(members)})"
    if isinstance(kind, T.ArrayType):
        return f"{_type(kind.elementType)}[]"
    if isinstance(kind, T.MapType):
        return f"MAP(VARCHAR, {_type(kind.valueType)})"
    return "VARCHAR" if isinstance(kind, T.StringType) else "JSON"


def _column(kind: T.DataType, values: pa.Array, found: _Found) -> tuple[pa.Array, Mask]:
    """The values as their column holds them, and where there is one; adds to `found`.

    A struct of nulls does not say whether there was one.
    """
    if isinstance(kind, T.StructType):
        return _struct(kind, values, found)
    if isinstance(kind, T.ArrayType):
        return _list(kind, values, found)
    if isinstance(kind, T.MapType):
        return _map(kind, values, found)
    return _scalar(kind, values, found), _is_there(values)


def _struct(kind: T.StructType, values: pa.StructArray, found: _Found) -> tuple[pa.Array, Mask]:
    present = _nowhere(values)
    children = []
    for member, child in zip(kind.fields, values.flatten(), strict=True):
        column, there = _column(member.dataType, child, found)
        children.append(column)
        _count_members(member.dataType, column, there, found.inside)
        present |= there
    typed = pa.StructArray.from_arrays(children, names=kind.fieldNames(), mask=values.is_null())
    return typed, present


def _count_members(kind: T.DataType, column: pa.Array, there: Mask, members: Members) -> None:
    """Count each value itself, which is a member of an object."""
    if isinstance(kind, T.VariantType):
        first = _first_bytes(column)
        is_object, is_array = first == BRACE, first == BRACKET
        is_scalar = there & ~(is_object | is_array)
        nothing = np.zeros(len(there), dtype=bool)
        members.add(Members(is_scalar, there & is_object, there & is_array, nothing))
    elif isinstance(kind, T.ArrayType):
        np.add(members.arrays, there, out=members.arrays)
    elif isinstance(kind, T.StructType | T.MapType):
        np.add(members.objects, there, out=members.objects)
    else:
        np.add(members.scalars, there, out=members.scalars)


def _list(kind: T.ArrayType, values: pa.ListArray, found: _Found) -> tuple[pa.Array, Mask]:
    inner = _Found.nothing(len(values.values))
    elements, there = _column(kind.elementType, values.values, inner)
    # No colon stands for an element: one that is not there may have been anything, and a
    # string may have been an array.
    np.logical_or(inner.odd, ~there, out=inner.odd)
    if isinstance(kind.elementType, T.StringType):
        first = _first_bytes(elements)
        np.logical_or(inner.odd, (first == BRACE) | (first == BRACKET), out=inner.odd)
    found.add(inner, _numbers(values.offsets))
    typed = pa.ListArray.from_arrays(values.offsets, elements, mask=values.is_null())
    return typed, _is_there(values)


def _map(kind: T.MapType, values: pa.MapArray, found: _Found) -> tuple[pa.Array, Mask]:
    inner = _Found.nothing(len(values.items))
    items, there = _column(kind.valueType, values.items, inner)
    _count_members(kind.valueType, items, there, inner.inside)
    found.add(inner, _numbers(values.offsets))
    typed = pa.MapArray.from_arrays(values.offsets, values.keys, items, mask=values.is_null())
    return typed, _is_there(values)


def _scalar(kind: T.DataType, values: pa.Array, found: _Found) -> pa.Array:
    if isinstance(kind, T.StringType):
        return values
    if isinstance(kind, T.VariantType):
        written = WrittenMembers(values)
        found.inside.add(written.members)
        odd = _is_there(values) & ~written.is_seen
        typed = values
    elif isinstance(kind, T.BooleanType):
        typed = pc.equal(values, "true")
        odd = ~_mask(pc.or_(typed, pc.equal(values, "false")), where_null=True)
    elif isinstance(kind, T.LongType):
        typed, odd = _cast(values, pa.int64(), _WHOLE)
    else:
        typed, odd = _cast(values, pa.float64(), _NUMBER)
        if (pc.max(pc.abs(typed)).as_py() or 0) >= _EXACT_IN_DOUBLE:
            too_large = pc.greater_equal(pc.abs(typed), _EXACT_IN_DOUBLE)
            odd |= _mask(too_large, where_null=False)
    np.logical_or(found.odd, odd, out=found.odd)
    return typed


def _cast(values: pa.Array, kind: pa.DataType, number: str) -> tuple[pa.Array, Mask]:
    """Texts as numbers, and where a text is none; most that are one match `number`."""
    try:
        return values.cast(kind), _nowhere(values)
    except pa.ArrowInvalid:
        plain = pc.fill_null(pc.match_substring_regex(values, number), True)
        others = [_number(one.as_py(), kind) for one in values.filter(pc.invert(plain))]
        typed = pc.if_else(plain, values, None).cast(kind)
        typed = pc.replace_with_mask(typed, pc.invert(plain), pa.array(others, kind))
        return typed, _is_there(values) & ~_is_there(typed)


def _number(text: str, kind: pa.DataType) -> int | float | None:
    try:
        if pa.types.is_floating(kind):
            return float(text)
        return int(text) if -(2**63) <= int(text) < 2**63 else None
    except ValueError:
        return None


def _first_bytes(texts: pa.StringArray) -> Bytes:
    """Each text's first byte; of an empty one whatever stands there."""
    _, offsets, data = texts.buffers()
    if not data:
        return np.zeros(len(texts), dtype=np.uint8)
    begins = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts)]
    # One that is empty may begin behind the last byte.
    found: Bytes = np.frombuffer(data, dtype=np.uint8)[np.minimum(begins, data.size - 1)]
    return found


def _is_there(values: pa.Array) -> Mask:
    return _mask(values.is_valid(), where_null=False)


def _nowhere(values: pa.Array) -> Mask:
    return np.zeros(len(values), dtype=bool)


def _mask(values: pa.BooleanArray, *, where_null: bool) -> Mask:
    found: Mask = values.fill_null(where_null).to_numpy(zero_copy_only=False)
    return found


def _numbers(values: pa.Array) -> Counts:
    found: Counts = values.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def any_of_runs(wanted: Mask, offsets: Counts) -> Mask:
    """Whether any of each run of values is wanted."""
    return np.diff(np.concatenate([[0], np.cumsum(wanted)])[offsets]) > 0
