"""Rows of bronze that cases are drawn from, and the lake that slices of them arrive in."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.storage.layout import Lake
from ingest.trials.cases import Sample, Slice
from ingest.trials.frames import as_json, read, shown_columns, write
from ingest.trials.related import values_of
from ingest.trials.scratch import Project, Scratch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows of each table of bronze that cases are drawn from: the newest, and the newest of each type
# of events that a model names, which may be rare.
_NEWEST = 500
_NAMED = 500
_PLACE, _ROW, _OF_TYPE = "_place", "_row", "_of_type"


@dataclass(frozen=True, slots=True)
class Samples:
    """A sample of each table, each row with its place; and the lake that they arrive in."""

    lake: Lake
    spark: SparkSession
    frames: Mapping[str, DataFrame]
    samples: Mapping[str, Sample]

    @classmethod
    def copied(
        cls, scratch: Scratch, project: Project, tables: Sequence[str], texts: Set[str]
    ) -> Samples:
        """Start Spark; copy the rows, and what builds read of `ops`.

        `texts` may name event types.
        """
        spark = scratch.spark(project)
        scratch.copy_ops(spark, tables)
        frames, samples = {}, {}
        for table in tables:
            whole = read(spark, scratch.real.bronze(table))
            frames[table], named = sampled(whole, texts)
            rows = as_json(frames[table].orderBy(_PLACE)).collect()
            values = [values_of(one.row) for one in rows]
            samples[table] = Sample(len(rows), shown_columns(whole), values, named)
        return cls(scratch.lake, spark, frames, samples)

    def land(self, table: str, slices: Sequence[Slice], build: int) -> None:
        """Let slices of a table arrive; the first build finds nothing else."""
        from pyspark.sql import functions as F

        parts = [self.rows(one) for one in slices] or [self.frames[table].limit(0)]
        rows = functools.reduce(lambda one, more: one.unionByName(more), parts)
        rows = rows.drop(_PLACE).withColumn("_batch_id", F.lit(build).cast("bigint"))
        if slices or build == 0:
            write(rows, self.lake.bronze(table), is_new=build == 0)

    def rows(self, part: Slice) -> DataFrame:
        """The rows of a slice."""
        from pyspark.sql import functions as F

        frame = self.frames[part.table]
        rows = frame.where(F.col(_PLACE).isin(list(part.rows)))
        if part.null:
            kind = frame.schema[part.null].dataType
            rows = rows.withColumn(part.null, F.lit(None).cast(kind))
        return rows


def sampled(whole: DataFrame, texts: Set[str]) -> tuple[DataFrame, Sequence[int]]:
    """Rows that cases are drawn from, each with its place in the order of landing.

    And the places of those whose event type is one of `texts`.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    # Rows of files have no offset.
    rows = whole.withColumn(_ROW, F.monotonically_increasing_id())
    landed = [F.col(one) for one in ("_batch_id", "_partition", "_offset", _ROW)]
    newest = [one.desc() for one in landed]
    of_type = F.row_number().over(Window.partitionBy("_event_type").orderBy(*newest))
    rows = rows.withColumn(_OF_TYPE, of_type).where(F.col(_OF_TYPE) <= max(_NEWEST, _NAMED))
    rows = rows.withColumn(_PLACE, F.row_number().over(Window.orderBy(*newest))).localCheckpoint()
    types = [one for (one,) in rows.select("_event_type").distinct().collect() if one in texts]
    is_named = F.col("_event_type").isin(types)
    is_among = F.col(_OF_TYPE) <= max(1, _NAMED // max(1, len(types)))
    rows = rows.where((F.col(_PLACE) <= _NEWEST) | (is_named & is_among))
    rows = rows.withColumn(_PLACE, F.row_number().over(Window.orderBy(*landed)) - 1)
    rows = rows.drop(_ROW, _OF_TYPE).localCheckpoint()
    named = rows.where(is_named).select(_PLACE).orderBy(_PLACE).collect()
    return rows, [place for (place,) in named]
