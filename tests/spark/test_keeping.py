"""Rows that an application of changes keeps, and what it leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ingest.cdc.apply import ChangeApplication, Target
from ingest.cdc.rules import Rules
from ingest.spark.checkpointed import kept, release


def held(spark: SparkSession) -> set[int]:
    """Ids of what is kept on disk alone, as these rows are and Delta's own are not."""
    context: Any = spark.sparkContext._jsc
    return {
        number
        for number, rows in context.getPersistentRDDs().items()
        if not rows.getStorageLevel().useMemory()
    }


def test_rows_stay_as_they_were_when_their_table_is_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = str(tmp_path / "table")
    spark.range(3).write.format("delta").save(table)
    before = held(spark)
    rows = kept(spark.read.format("delta").load(table))
    spark.range(5).write.format("delta").mode("overwrite").save(table)
    assert rows.count() == 3
    new = held(spark) - before
    assert new
    release(rows)
    assert not held(spark) & new


@pytest.mark.long
def test_old_deletes_are_looked_for_once_an_hour_and_nothing_stays_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    ran: list[str] = []
    target = Target(
        table=f"delta.`{tmp_path}/t`", state=f"delta.`{tmp_path}/t__memory`", view="kept__t"
    )
    rules = Rules(
        keys=("id",),
        sequence_by=("at",),
        apply_as_deletes="operation = 'D'",
        unavailable_value="not sent",
    )
    apply = ChangeApplication(spark, target, rules, ran.append)
    before = held(spark)
    for at in range(4):
        spark.sql(
            f"select 1 as id, {at} as at, 'U' as operation, 'a' as name"
        ).createOrReplaceTempView("kept__arrived")
        apply("kept__arrived")
    assert held(spark) <= before
    # The first application makes the table, so that there is nothing to forget.
    looks = [statement for statement in ran if statement.startswith("delete")]
    assert len(looks) == 1
