"""Python's work on records, batch by batch: in Spark's workers, or here where they are few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, slots=True)
class Batches:
    """Records; `columns` are their names and types in words of Spark.

    `work` is still to be done on what was found: all of it by one worker of a task, as what goes
    from one to the next takes its time.
    """

    spark: SparkSession
    columns: str
    found: DataFrame | Sequence[pa.RecordBatch]
    work: Work | None = None

    @staticmethod
    def of_shares(
        spark: SparkSession, shares: int, work: Work, columns: str, *, here: bool
    ) -> Batches:
        """What `work` makes of numbers, each that of a share: each in a task, or `here`."""
        if not here:
            return Batches(spark, columns, spark.range(0, shares, 1, shares), work)
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
        before = self.work
        both = (lambda batches: work(before(batches))) if before else work
        return Batches(self.spark, columns, self.found, both)

    def joined(self, others: Batches) -> Batches:
        """These and others, which have the same columns."""
        return Batches(self.spark, self.columns, self.rows().union(others.rows()))

    def kept(self) -> Batches:
        """The same, made only once."""
        if isinstance(self.found, Sequence):
            return self
        return Batches(self.spark, self.columns, self.rows().persist())

    def forget(self) -> None:
        """Give back what `kept` keeps."""
        if not isinstance(self.found, Sequence):
            self.found.unpersist()

    def rows(self) -> DataFrame:
        """For Spark."""
        if not isinstance(self.found, Sequence):
            return self.found.mapInArrow(self.work, self.columns) if self.work else self.found
        if not any(len(batch) for batch in self.found):
            return self.spark.createDataFrame([], self.columns)
        # Spark takes a batch without rows for the end.
        whole = pa.Table.from_batches(self.found).combine_chunks()
        return self.spark.createDataFrame(whole, self.columns)

    def values(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        """Some columns of each record."""
        if not isinstance(self.found, Sequence):
            return [tuple(row) for row in self.rows().select(*names).collect()]
        columns = [
            [one for batch in self.found for one in batch[name].to_pylist()] for name in names
        ]
        return list(zip(*columns, strict=True))

    def distinct(self, column: str) -> set[str]:
        """The texts in a column."""
        return {text for text in self.firsts([column], column).values() if text is not None}

    def firsts(
        self, keys: Sequence[str], value: str
    ) -> Mapping[tuple[str | None, ...], str | None]:
        """The text in column `value` of the first record of each combination of `keys`.

        Of those that several tasks find, one that is not null.
        """
        names = list(dict.fromkeys([*keys, value]))
        first = self.mapped(
            _first_of_each(keys, names), ", ".join(f"{one} string" for one in names)
        )
        found: dict[tuple[str | None, ...], str | None] = {}
        for *key, text in first.values([*keys, value]):
            found[tuple(key)] = found.get(tuple(key)) or text
        return found


def _first_of_each(keys: Sequence[str], names: Sequence[str]) -> Work:
    """Some columns of the first record of each combination of keys."""

    def first(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen: set[tuple[str | None, ...]] = set()
        for batch in batches:
            rows = zip(*(batch[key].to_pylist() for key in keys), strict=True)
            new = []
            for number, row in enumerate(rows):
                if row not in seen:
                    seen.add(row)
                    new.append(number)
            if new:
                yield batch.select(names).take(pa.array(new))

    return first


def balanced(sizes: Sequence[int], count: int) -> list[list[int]]:
    """The numbers of things of such sizes, in `count` shares of about the same size."""
    shares: list[list[int]] = [[] for _ in range(count)]
    weights = [0] * count
    for number in sorted(range(len(sizes)), key=lambda one: -sizes[one]):
        lightest = weights.index(min(weights))
        shares[lightest].append(number)
        weights[lightest] += sizes[number]
    return [sorted(share) for share in shares]
