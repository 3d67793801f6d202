"""What cases of `ingest fuzz` are drawn from: the newest rows, and rare ones that a model names."""

from __future__ import annotations

from pyspark.sql import SparkSession

from ingest.trials.samples import sampled

LANDED = "number int, _batch_id bigint, _partition int, _offset bigint, _event_type string"


def test_rare_rows_of_files_that_a_model_names_are_there_in_order_of_landing(
    spark: SparkSession,
) -> None:
    types = ["rare", "rarer", *["often"] * 700]
    # Rows of a file have no offset.
    rows = [(number, number // 100, None, None, kind) for number, kind in enumerate(types)]
    sample, named = sampled(spark.createDataFrame(rows, LANDED), {"rare", "select"})
    found = [(row["_place"], row["number"]) for row in sample.orderBy("_place").collect()]
    assert found == list(enumerate([0, *range(202, 702)]))
    assert named == [0]


def test_changes_of_a_database_have_no_types(spark: SparkSession) -> None:
    rows = [(number, 1, 0, number, None) for number in range(3)]
    sample, named = sampled(spark.createDataFrame(rows, LANDED), {"rare"})
    assert [row["number"] for row in sample.orderBy("_place").collect()] == [0, 1, 2]
    assert named == []
