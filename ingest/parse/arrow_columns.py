"""Arrow values of a Parquet file as Spark takes them for their columns.

A value that no reader of the table could show is null, and so is what can be no column: their
texts are kept, by path and row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from ingest.column_names import member_path
from ingest.parse.arrow_texts import text_of
from ingest.parse.arrow_types import SCALARS, column_type, is_list, members
from ingest.schemas.datetimes import FIRST_MICROSECOND, LAST_MICROSECOND

if TYPE_CHECKING:
    Mask = np.ndarray[Any, np.dtype[np.bool_]]
    Numbers = np.ndarray[Any, np.dtype[np.int64]]

# Texts of what is lost, by row, by path; a path begins after the value's own.
Lost = dict[str, dict[int, str]]
# Values without inner ones, and which of them are lost; None where none are.
Scalars = tuple[pa.Array, "Mask | None"]

_DAY = 86_400_000_000
_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}


def converted_columns(batch: pa.RecordBatch, *, keeps: bool) -> tuple[dict[str, pa.Array], Lost]:
    """The columns of a batch as Spark takes them, by name, and what is lost of its rows.

    `keeps`: so is what can be no column.
    """
    found, lost = _members(pa.struct(list(batch.schema)), batch.columns, keeps)
    return found, {path.removeprefix("."): texts for path, texts in lost.items()}


def _converted(values: pa.Array, keeps: bool) -> tuple[pa.Array, Lost]:
    """Values that can be a column as Spark takes them, and what is lost of them."""
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType) and kind != pa.uuid():
        return _converted(values.storage, keeps)
    if pa.types.is_dictionary(kind):
        return _converted(values.dictionary_decode(), keeps)
    if pa.types.is_struct(kind):
        children, lost = _members(kind, values.flatten(), keeps)
        mask, names = values.is_null() if values.null_count else None, list(children)
        return pa.StructArray.from_arrays(list(children.values()), names=names, mask=mask), lost
    if pa.types.is_map(kind) or is_list(kind):
        return _list(values, keeps)
    found, is_lost = _scalars(values)
    return found, {} if is_lost is None else _texts(values, is_lost)


def _members(
    kind: pa.StructType, arrays: Sequence[pa.Array], keeps: bool
) -> tuple[dict[str, pa.Array], Lost]:
    """The members that can be columns, by name, and what is lost of them and of all others."""
    found: dict[str, pa.Array] = {}
    lost: Lost = {}
    kept = {number: name for number, name, _ in members(kind)}
    names = _numbered_names([kind.field(number).name for number in range(kind.num_fields)])
    for number, values in enumerate(arrays):
        inner: Lost = {}
        if number in kept:
            found[kept[number]], inner = _converted(values, keeps)
        elif keeps:
            inner = _texts(values, _mask(values.is_valid()))
        for path, texts in inner.items():
            lost[f".{member_path('', names[number])}{path}"] = texts
    return found, lost


def _numbered_names(names: Sequence[str]) -> list[str]:
    """Names, each with a number that has come before."""
    found: list[str] = []
    for name in names:
        number, own = 1, name
        while own in found or (number > 1 and own in names):
            number += 1
            own = f"{name}#{number}"
        found.append(own)
    return found


def _list(values: pa.Array, keeps: bool) -> tuple[pa.Array, Lost]:
    """Lists, and maps as lists of entries: where an item loses something, all of a list is lost."""
    kind = values.type
    is_map = pa.types.is_map(kind)
    lists = values
    if is_map:
        entry = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        lists = values.cast(pa.list_(entry))
    items, inner = _converted(lists.flatten(), keeps)
    sizes: Numbers = pc.list_value_length(lists).fill_null(0).to_numpy().astype(np.int64)
    owners = np.repeat(np.arange(len(lists)), sizes)
    is_lost, is_none = np.zeros(len(lists), dtype=bool), np.array(_mask(lists.is_null()))
    for texts in inner.values():
        is_lost[owners[list(texts)]] = True
    if is_map:
        # A map has each key once, and none that is null.
        odd = _rows_with_odd_keys(items.field("key"), owners)
        is_lost[odd] = is_none[odd] = True
        items, sizes = items.filter(pa.array(~is_none[owners])), np.where(is_none, 0, sizes)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32())
    mask = pa.array(is_none)
    if is_map:
        keys, entries = items.flatten()
        made = pa.MapArray.from_arrays(offsets, keys, entries, mask=mask)
    else:
        made = pa.ListArray.from_arrays(offsets, items, mask=mask)
    return made, _texts(values, is_lost)


def _rows_with_odd_keys(keys: pa.Array, owners: Numbers) -> Numbers:
    """The rows of maps with a key that is null, or there twice."""
    encoded = keys.dictionary_encode()
    codes: Numbers = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    known = len(encoded.dictionary) + 1
    pairs, counts = np.unique(owners * known + codes, return_counts=True)
    return np.concatenate([pairs[counts > 1] // known, owners[codes < 0]])


def _scalars(values: pa.Array) -> Scalars:
    for is_one, scalars in _CONVERSIONS:
        if is_one(values.type):
            return scalars(values)
    found = values.cast(SCALARS[values.type][1])
    return _valid_texts(found) if found.type == pa.string() else (found, None)


def _timestamps(values: pa.TimestampArray) -> Scalars:
    unit, zone = values.type.unit, values.type.tz and "UTC"
    numbers, is_lost = values.view(pa.int64()), None
    if unit == "ns":
        numbers = _floored(numbers, 1_000)
    else:
        scale = _MICROSECONDS[unit]
        numbers, is_lost = _within(numbers, FIRST_MICROSECOND // scale, LAST_MICROSECOND // scale)
        numbers = pc.multiply(numbers, scale) if scale > 1 else numbers
    return numbers.view(pa.timestamp("us", zone)), is_lost


def _dates(values: pa.Array) -> Scalars:
    days = values.cast(pa.date32()).view(pa.int32())
    days, is_lost = _within(days, FIRST_MICROSECOND // _DAY, LAST_MICROSECOND // _DAY)
    return days.view(pa.date32()), is_lost


def _times(values: pa.Array) -> Scalars:
    """Times of day as `HH:MM:SS.ffffff`."""
    if values.type == pa.time64("ns"):
        numbers = _floored(values.view(pa.int64()), 1_000)
    else:
        numbers = values.cast(pa.time64("us")).view(pa.int64())
    numbers, is_lost = _within(numbers, 0, _DAY - 1)
    return numbers.view(pa.time64("us")).cast(pa.string()), is_lost


def _decimals(values: pa.Array) -> Scalars:
    kind = values.type
    is_wide = isinstance(column_type(kind), T.StringType)
    target = pa.string() if is_wide else pa.decimal128(kind.precision, kind.scale)
    return values.cast(target), None


def _uuids(values: pa.ExtensionArray) -> Scalars:
    texts = [one and str(UUID(bytes=one)) for one in values.storage.to_pylist()]
    return pa.array(texts, pa.string()), None


_CONVERSIONS: Sequence[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], Scalars]]] = (
    (lambda kind: kind == pa.uuid(), _uuids),
    (pa.types.is_timestamp, _timestamps),
    (pa.types.is_date, _dates),
    (pa.types.is_time, _times),
    (pa.types.is_decimal, _decimals),
    (pa.types.is_duration, lambda values: (values.view(pa.int64()), None)),
    (pa.types.is_fixed_size_binary, lambda values: (values.cast(pa.binary()), None)),
)


def _floored(numbers: pa.Int64Array, by: int) -> pa.Int64Array:
    """Division towards the past: digits are cut, also before 1970."""
    floored = np.floor_divide(numbers.fill_null(0).to_numpy(), by)
    return pa.array(floored, mask=_mask(numbers.is_null()))


def _within(numbers: pa.Array, least: int, most: int) -> Scalars:
    """Numbers from `least` to `most`, others null."""
    ends = pc.min_max(numbers)
    if not ends["min"].is_valid or (ends["min"].as_py() >= least and ends["max"].as_py() <= most):
        return numbers, None
    out = pc.or_(pc.less(numbers, least), pc.greater(numbers, most)).fill_null(False)
    return pc.if_else(out, None, numbers), _mask(out)


def _valid_texts(texts: pa.StringArray) -> Scalars:
    """Texts that are UTF-8, others null."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        made = pa.array(map(_decoded, texts.view(pa.binary()).to_pylist()), pa.string())
        return made, _mask(pc.and_(texts.is_valid(), made.is_null()))
    return texts, None


def _decoded(raw: bytes | None) -> str | None:
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError:
        return None


def _texts(values: pa.Array, wanted: Mask) -> Lost:
    """The texts of some values."""
    rows = np.flatnonzero(wanted)
    return {"": {int(row): text_of(values[row]) for row in rows}} if len(rows) else {}


def _mask(values: pa.BooleanArray) -> Mask:
    found: Mask = values.to_numpy(zero_copy_only=False)
    return found
