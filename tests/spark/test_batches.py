"""Work on records, batch by batch: here or by tasks of Spark, it comes to the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ingest.decoders.arrow_batches import Batches

# Kind, place and payload of the records of each share, in batches.
SHARES: list[list[list[tuple[str | None, ...]]]] = [
    [
        [("a", "x", "1"), ("a", "x", None), ("a", "y", None), (None, None, None)],
        [("a", "x", "2"), ("b", "x", "3")],
    ],
    [[("a", "y", None)], [("c", "x", "4")]],
]
COLUMNS = "kind string, place string, payload string"


@pytest.fixture(params=[True, False], ids=["here", "in tasks"])
def records(request: pytest.FixtureRequest, spark: SparkSession) -> Batches:
    """All records."""

    # Workers cannot import this module, so what they do stands inside a function.
    def found(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for share in (one for batch in batches for one in batch.column(0).to_pylist()):
            for rows in shares[share]:
                columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
                yield pa.RecordBatch.from_arrays(columns, ["kind", "place", "payload"])

    shares = SHARES
    return Batches.of_shares(spark, len(shares), found, COLUMNS, here=request.param)


def test_each_combination_is_reported_once_with_its_first_payload(
    records: Batches,
) -> None:
    assert records.firsts(("kind", "place"), "payload") == {
        ("a", "x"): "1",
        ("a", "y"): None,
        (None, None): None,
        ("b", "x"): "3",
        ("c", "x"): "4",
    }


def test_texts_are_counted_once_without_nulls(records: Batches) -> None:
    assert records.distinct("kind") == {"a", "b", "c"}


def test_work_is_done_in_its_order(records: Batches) -> None:
    def louder(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            kinds = [f"{kind}!" for kind in batch["kind"].to_pylist()]
            yield batch.set_column(0, "kind", pa.array(kinds))

    def twice(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.set_column(
                0, "kind", pa.array([one * 2 for one in batch["kind"].to_pylist()])
            )

    made = records.mapped(louder, COLUMNS).mapped(twice, COLUMNS)
    assert made.distinct("kind") == {"a!a!", "b!b!", "c!c!", "None!None!"}
