"""Instants of JSON, which Arrow reads out of their texts many times as fast as Spark does.

Only those of which both make the same: a date, a time with seconds and up to six digits of a
fraction, and at the end a Z or an offset of hours and minutes. Of all others the text stays, which
Spark casts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from ingest.schemas.conversion import Path, members_of
from ingest.schemas.datetimes import FIRST_MICROSECOND, LAST_MICROSECOND

# An offset is less than 18 hours: that is Spark's greatest, and Arrow takes greater ones.
INSTANT = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
    r"(?:Z|[+-](?:0[0-9]|1[0-7]):[0-5][0-9])$"
)
_TYPE = pa.timestamp("us", tz="UTC")
# Bytes of "2026-11-24T12:00:00Z", the shortest; what is shorter says no seconds.
_LEAST = 20
_UTC = ord("Z")


def instants_in(kind: T.StructType) -> Sequence[Path]:
    """Paths of the timestamps in structs."""
    return members_of(kind, T.TimestampType)


def without_instants(
    record: pa.StructArray, paths: Sequence[Path]
) -> tuple[pa.StructArray, Sequence[pa.TimestampArray]]:
    """The record without the texts of which instants were made, and those, path by path."""
    instants = []
    for path in paths:
        text = pc.struct_field(record, list(path))
        instant = instants_of(text)
        if instant is None:
            instant = pa.nulls(len(record), _TYPE)
        else:
            record = _replaced(record, path, pa.nulls(len(record), pa.string()))
        instants.append(instant)
    return record, instants


def instants_of(texts: pa.StringArray) -> pa.TimestampArray | None:
    """Texts as instants; None where one of them may be none."""
    there = texts.drop_null() if texts.null_count else texts
    if not len(there):
        return None
    if not (_are_in_utc(there) or pc.all(pc.match_substring_regex(there, INSTANT)).as_py()):
        return None
    try:
        instants = pc.cast(texts, _TYPE)
    except pa.ArrowInvalid:
        return None
    return instants if within_years(instants).null_count == texts.null_count else None


def within_years(instants: pa.TimestampArray) -> pa.TimestampArray:
    """Instants; null where they are not in the years 1 to 9999."""
    ticks = instants.cast(pa.int64())
    is_within = pc.and_(
        pc.greater_equal(ticks, FIRST_MICROSECOND), pc.less_equal(ticks, LAST_MICROSECOND)
    )
    return pc.if_else(is_within, instants, None)


def _are_in_utc(texts: pa.StringArray) -> bool:
    """Whether each text is long enough, and has a Z at its end; of such the rest is seen later."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32)
    offsets = offsets[texts.offset : texts.offset + len(texts) + 1]
    ends = np.frombuffer(texts.buffers()[2] or b"", dtype=np.uint8)
    return bool(np.diff(offsets).min() >= _LEAST and (ends[offsets[1:] - 1] == _UTC).all())


def _replaced(record: pa.StructArray, path: Path, value: pa.Array) -> pa.StructArray:
    index = record.type.get_field_index(path[0])
    children = record.flatten()
    children[index] = value if len(path) == 1 else _replaced(children[index], path[1:], value)
    names = [field.name for field in record.type]
    return pa.StructArray.from_arrays(children, names=names, mask=record.is_null())
