"""Work on records, batch by batch, without Spark."""

from __future__ import annotations

from typing import cast

import pyarrow as pa
from pyspark.sql import SparkSession

from ingest.decode.batches import Batches


def records(*batches: list[tuple[str | None, ...]]) -> Batches:
    """Records of three texts each: kind, place and payload."""
    found = [
        pa.RecordBatch.from_arrays(
            [pa.array(column, pa.string()) for column in zip(*batch, strict=True)],
            ["kind", "place", "payload"],
        )
        for batch in batches
    ]
    columns = "kind string, place string, payload string"
    return Batches(cast(SparkSession, None), columns, found)


def test_each_combination_is_told_once_with_the_payload_of_its_first_record() -> None:
    found = records(
        [("a", "x", "1"), ("a", "x", None), ("a", "y", None), (None, None, None)],
        [("a", "x", "2"), ("b", "x", "3")],
    ).firsts(("kind", "place"), "payload")
    assert found == {
        ("a", "x"): "1",
        ("a", "y"): None,
        (None, None): None,
        ("b", "x"): "3",
    }


def test_texts_are_told_once_and_nulls_are_none() -> None:
    found = records([("a", None, None), (None, None, None)], [("a", None, None), ("b", None, None)])
    assert found.distinct("kind") == {"a", "b"}
