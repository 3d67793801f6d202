"""Cases on a lake of their own: rows land, dbt builds, and what it built is compared."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.declarations.project import declared_streams
from ingest.errors import InputError, TerminalError
from ingest.serve.build_queue import Outcome
from ingest.serve.dbt_build import DbtBuild
from ingest.serve.driver_state import DriverState
from ingest.serve.fast_bookkeeping import FastBookkeeping
from ingest.storage.layout import Lake
from ingest.trials.cases import BUILDS, Case, Sample, Slice, drawn, smallest
from ingest.trials.inputs import Inputs, inputs_of
from ingest.trials.scratch import Scratch, as_json, read, shown_columns, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Newest rows of each table of bronze that cases are drawn from.
_SAMPLED = 1000
# Builds of smaller cases, once one differs.
_SMALLER = 40
_PLACE = "_place"


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows of a table after increments and after a full refresh, by how many times more."""

    table: str
    increments: Counter[str]
    refresh: Counter[str]


@dataclass(frozen=True, slots=True)
class Found:
    """A case whose increments differ from the full refresh, made small."""

    seed: int
    case: Case
    difference: Difference
    rows: Mapping[Slice, Sequence[str]]


def tried(
    models: Sequence[str], cases: int, seed: int, say: Callable[[str], None]
) -> Iterator[tuple[str, Found | None]]:
    """Each model with the first case that differs, or None.

    Raises InputError where a model cannot be tried, TerminalError where one cannot be built.
    """
    scratch = Scratch.beside("fuzz")
    manifest = scratch.manifest()
    inputs = [inputs_of(manifest, model) for model in models]
    tables = sorted({table for each in inputs for table in each.bronze})
    scratch.check_landed(tables)
    say(f"copying the newest rows of {', '.join(tables)}")
    samples = _Samples.copied(scratch, tables)
    facts = DriverState(scratch.lake, declared_streams((), manifest=manifest))
    records = FastBookkeeping(scratch.lake, lambda: True)
    dbt = DbtBuild(manifest, facts, records, target=scratch.target)
    for each in inputs:
        yield each.model, _Trials(dbt, each, samples).first(cases, seed, say)


@dataclass(frozen=True, slots=True)
class _Samples:
    """Newest rows of each table, each with its place; and the lake that they arrive in."""

    lake: Lake
    spark: SparkSession
    frames: Mapping[str, DataFrame]
    samples: Mapping[str, Sample]

    @classmethod
    def copied(cls, scratch: Scratch, tables: Sequence[str]) -> _Samples:
        """Start Spark; copy the rows, and what builds read of `ops`."""
        from pyspark.sql import functions as F
        from pyspark.sql.window import Window

        spark = scratch.spark()
        scratch.copy_ops(spark, tables)
        frames, samples = {}, {}
        for table in tables:
            whole = read(spark, scratch.real.bronze(table))
            landed = [F.col("_batch_id"), F.col("_partition"), F.col("_offset")]
            newest = whole.orderBy(*(one.desc() for one in landed)).limit(_SAMPLED)
            place = F.row_number().over(Window.orderBy(*landed)) - 1
            frames[table] = newest.withColumn(_PLACE, place).localCheckpoint()
            samples[table] = Sample(frames[table].count(), shown_columns(whole))
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


@dataclass(frozen=True, slots=True)
class _Trials:
    dbt: DbtBuild
    inputs: Inputs
    samples: _Samples

    def first(self, cases: int, seed: int, say: Callable[[str], None]) -> Found | None:
        """The first case that differs, made small.

        Raises InputError where the model had no rows in any case: then nothing was compared.
        """
        tables = self.inputs.bronze
        samples = {table: self.samples.samples[table] for table in tables}
        had_rows = False
        for number in range(cases):
            case = drawn(samples, seed + number)
            difference = self.difference(case)
            name = f"{self.inputs.model}: case {number + 1} of {cases}"
            if difference:
                say(f"{name} differs; looking for a smaller one")
                return self.found(seed + number, case, difference)
            has_rows = bool(self._rows(self.inputs.kept[-1]))
            had_rows |= has_rows
            say(f"{name}: {'equal' if has_rows else 'no rows to compare'}")
        if not had_rows:
            raise InputError(
                f"{self.inputs.model} had no rows in any case, so nothing was compared: "
                f"see what it selects of {', '.join(tables)}, or try more --cases"
            )
        return None

    def difference(self, case: Case) -> Difference | None:
        """Build a case in increments, then whole; the first table that differs."""
        for number in range(BUILDS):
            for table in self.inputs.bronze:
                slices = [one for one in case if (one.build, one.table) == (number, table)]
                self.samples.land(table, slices, number)
            self._build(is_full=number == 0)
        increments = {table: self._rows(table) for table in self.inputs.kept}
        self._build(is_full=True)
        for table in self.inputs.kept:
            before, after = increments[table], self._rows(table)
            if before != after:
                return Difference(table, before - after, after - before)
        return None

    def found(self, seed: int, case: Case, difference: Difference) -> Found:
        """What differs of the smallest case that differs."""
        last = difference

        def differs(smaller: Case) -> bool:
            nonlocal last
            other = self.difference(smaller)
            last = other or last
            return other is not None

        small = smallest(case, differs, _SMALLER // (BUILDS + 1))
        return Found(seed, small, last, {one: _texts(self.samples.rows(one)) for one in small})

    def _build(self, *, is_full: bool) -> None:
        built = self.dbt.build(self.inputs.built, lambda: False, full_refresh=is_full)
        for unique_id, one in built.items():
            if one.outcome is not Outcome.BUILT:
                name = self.dbt.manifest.nodes[unique_id].name
                raise TerminalError(f"{name} was not built: {one.error or 'what it reads failed'}")

    def _rows(self, table: str) -> Counter[str]:
        """Rows of a table, but for columns that count batches and builds."""
        path = self.samples.lake.table(*table.split("."))
        return Counter(_texts(read(self.samples.spark, path)))


def _texts(frame: DataFrame) -> list[str]:
    return [one.row for one in as_json(frame).collect()]
