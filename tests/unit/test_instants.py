"""Instants that Arrow reads out of texts; what Spark makes of the same is in tests/spark."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T

from ingest.parse.timestamps import instants_in, without_instants

KIND = T.StructType(
    [
        T.StructField("at", T.TimestampType()),
        T.StructField("deep", T.StructType([T.StructField("at", T.TimestampType())])),
        T.StructField("on", T.DateType()),
    ]
)
NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)


def test_instants_leave_the_record_column_by_column() -> None:
    paths = instants_in(KIND)
    assert paths == [("at",), ("deep", "at")]
    told: list[dict[str, Any]] = [
        {"at": "2026-11-24T12:00:00Z", "deep": {"at": "yesterday", "n": 1}},
        {"at": None, "deep": None},
        {"at": "2026-11-24T12:00:00.5Z", "deep": {"at": "2026-11-24T12:00:00Z", "n": 2}},
    ]
    record, instants = without_instants(pa.array(told), paths)
    at, deep_at = (one.to_pylist() for one in instants)
    assert at == [NOON, None, NOON.replace(microsecond=500_000)]
    # One of its texts is none, so all of them are Spark's to cast.
    assert deep_at == [None, None, None]
    assert record.to_pylist() == [one | {"at": None} for one in told]


def test_of_a_nested_instant_the_rest_of_its_struct_stays() -> None:
    told = [{"deep": {"at": "2026-11-24T12:00:00Z", "n": 1}}, {"deep": None}]
    record, (instant,) = without_instants(pa.array(told), [("deep", "at")])
    assert instant.to_pylist() == [NOON, None]
    assert record.to_pylist() == [{"deep": {"at": None, "n": 1}}, {"deep": None}]


def test_pieces_of_a_column_are_read_as_they_lie() -> None:
    texts = pa.array([{"at": text} for text in ("no instant", "2026-11-24T12:00:00Z", None)])
    _, (instant,) = without_instants(texts[1:], [("at",)])
    assert instant.to_pylist() == [NOON, None]
