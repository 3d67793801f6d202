"""Python's work on records, batch by batch: in Spark's workers, or here where they are few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Batches:
    """Records; `columns` are their names and types in words of Spark."""

    spark: SparkSession
    columns: str
    found: DataFrame | Sequence[pa.RecordBatch]

    @staticmethod
    def of_shares(
        spark: SparkSession, shares: int, work: Work, columns: str, *, here: bool
    ) -> Batches:
        """What `work` makes of numbers, each that of a share: each in a task, or `here`."""
        if not here:
            numbers = spark.range(0, shares, 1, shares)
            return Batches(spark, columns, numbers.mapInArrow(work, columns))
        ids = pa.RecordBatch.from_arrays([pa.array(range(shares), pa.int64())], ["id"])
        return Batches(spark, columns, list(work([ids])))

    @property
    def are_here(self) -> bool:
        """Whether they are so few that no job is worth it."""
        return isinstance(self.found, Sequence)

    def mapped(self, work: Work, columns: str) -> Batches:
        """What `work` makes of them."""
        if isinstance(self.found, Sequence):
            return Batches(self.spark, columns, list(work(self.found)))
        return Batches(self.spark, columns, self.found.mapInArrow(work, columns))

    def joined(self, others: Batches) -> Batches:
        """These and others, which have the same columns."""
        return Batches(self.spark, self.columns, self.rows().union(others.rows()))

    def kept(self) -> Batches:
        """The same, made only once."""
        if isinstance(self.found, Sequence):
            return self
        return Batches(self.spark, self.columns, self.found.persist())

    def forget(self) -> None:
        """Give back what `kept` keeps."""
        if not isinstance(self.found, Sequence):
            self.found.unpersist()

    def rows(self) -> DataFrame:
        """For Spark."""
        if not isinstance(self.found, Sequence):
            return self.found
        if not any(len(batch) for batch in self.found):
            return self.spark.createDataFrame([], self.columns)
        # Spark takes a batch without rows for the end.
        whole = pa.Table.from_batches(self.found).combine_chunks()
        return self.spark.createDataFrame(whole, self.columns)

    def values(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        """Some columns of each record."""
        if not isinstance(self.found, Sequence):
            return [tuple(row) for row in self.found.select(*names).collect()]
        columns = [
            [one for batch in self.found for one in batch[name].to_pylist()] for name in names
        ]
        return list(zip(*columns, strict=True))

    def distinct(self, column: str) -> set[str]:
        """The texts in a column."""
        if isinstance(self.found, Sequence):
            found = self.values([column])
        else:
            found = [tuple(row) for row in self.found.select(column).distinct().collect()]
        return {text for (text,) in found if text is not None}

    def firsts(
        self, keys: Sequence[str], value: str
    ) -> Mapping[tuple[str | None, ...], str | None]:
        """A text in column `value` of each distinct combination of `keys`.

        Of each combination, the first row of each batch must have one.
        """
        if isinstance(self.found, Sequence):
            # Backwards, so that the first one stays.
            rows = self.values([*keys, value])[::-1]
        else:
            first = F.first(value, ignorenulls=True).alias(value)
            rows = [tuple(row) for row in self.found.groupBy(*keys).agg(first).collect()]
        return {row[:-1]: row[-1] for row in rows}
