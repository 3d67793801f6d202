"""Cases on a lake of their own: rows land, dbt builds, and what it built is compared."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
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
from ingest.trials.inputs import Inputs, inputs_of, inputs_of_all
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
    difference: Difference
    rows: Mapping[Slice, Sequence[str]]


def tried(
    models: Sequence[str], cases: int, seed: int, say: Callable[[str], None]
) -> Iterator[tuple[str, Found | None]]:
    """Each model with the first case that differs, as soon as it is found, or None.

    Without names, all models of what has landed. They are built together: what many of them read
    is built once.
    Raises InputError where a model cannot be tried, TerminalError where one cannot be built.
    """
    scratch = Scratch.beside("fuzz")
    manifest = scratch.manifest()
    if models:
        inputs = [inputs_of(manifest, model) for model in dict.fromkeys(models)]
    else:
        inputs = [one for one in inputs_of_all(manifest) if scratch.has_landed(one.bronze)]
    tables = sorted({table for each in inputs for table in each.bronze})
    if not inputs:
        raise InputError("nothing that a model reads has landed yet: run `ingest run`")
    scratch.check_landed(tables)
    say(f"copying the newest rows of {', '.join(tables)}")
    samples = _Samples.copied(scratch, tables)
    facts = DriverState(scratch.lake, declared_streams((), manifest=manifest))
    records = FastBookkeeping(scratch.lake, lambda: True)
    dbt = DbtBuild(manifest, facts, records, target=scratch.target)
    yield from _Trials(dbt, samples).all_of(inputs, cases, seed, say)


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
class _Built:
    """Rows of tables after a case was built in increments, and after a full refresh."""

    increments: Mapping[str, Counter[str]]
    refresh: Mapping[str, Counter[str]]

    def difference(self, inputs: Inputs) -> Difference | None:
        """The first table of a model that differs."""
        for table in inputs.kept:
            before, after = self.increments[table], self.refresh[table]
            if before != after:
                return Difference(table, before - after, after - before)
        return None


@dataclass(frozen=True, slots=True)
class _Trials:
    dbt: DbtBuild
    samples: _Samples

    def all_of(
        self, inputs: Sequence[Inputs], cases: int, seed: int, say: Callable[[str], None]
    ) -> Iterator[tuple[str, Found | None]]:
        """Each model with the first case that differs, made small, or None.

        Raises InputError where a model had no rows in any case: then nothing was compared.
        """
        left = {each.model: each for each in inputs}
        had_rows: set[str] = set()
        for number in range(cases):
            if not left:
                return
            case = self._drawn(left.values(), seed + number)
            built = self._build_case(case, left.values())
            name = f"case {number + 1} of {cases}"
            differing = {each.model: built.difference(each) for each in left.values()}
            without = [each.model for each in left.values() if not built.refresh[each.kept[-1]]]
            had_rows |= left.keys() - set(without)
            equal = len(left) - sum(one is not None for one in differing.values())
            say(f"{name}: {equal} of {len(left)} equal{_without_rows(without)}")
            for model, difference in differing.items():
                if difference:
                    say(f"{model} differs in {name}; looking for a smaller one")
                    yield model, self._found(left.pop(model), seed + number, difference)
        yield from ((model, None) for model in left if model in had_rows)
        if empty := [each for each in left.values() if each.model not in had_rows]:
            tables = sorted({table for each in empty for table in each.bronze})
            raise InputError(
                f"{', '.join(each.model for each in empty)} had no rows in any case, so nothing "
                f"was compared: see what is selected of {', '.join(tables)}, or try more --cases"
            )

    def _drawn(self, inputs: Iterable[Inputs], seed: int) -> Case:
        tables = {table for each in inputs for table in each.bronze}
        return drawn({table: self.samples.samples[table] for table in tables}, seed)

    def _build_case(self, case: Case, inputs: Iterable[Inputs]) -> _Built:
        """Build a case in increments, then whole."""
        models = frozenset(one for each in inputs for one in each.built)
        kept = {table for each in inputs for table in each.kept}
        bronze = {table for each in inputs for table in each.bronze}
        for number in range(BUILDS):
            for table in bronze:
                slices = [one for one in case if (one.build, one.table) == (number, table)]
                self.samples.land(table, slices, number)
            self._build(models, is_full=number == 0)
        increments = {table: self._rows(table) for table in kept}
        self._build(models, is_full=True)
        return _Built(increments, {table: self._rows(table) for table in kept})

    def _found(self, inputs: Inputs, seed: int, difference: Difference) -> Found:
        """The smallest case of a model that differs, and what differs of it."""
        last = difference

        def differs(smaller: Case) -> bool:
            nonlocal last
            other = self._build_case(smaller, [inputs]).difference(inputs)
            last = other or last
            return other is not None

        small = smallest(self._drawn([inputs], seed), differs, _SMALLER // (BUILDS + 1))
        return Found(seed, last, {one: _texts(self.samples.rows(one)) for one in small})

    def _build(self, models: Set[str], *, is_full: bool) -> None:
        built = self.dbt.build(models, lambda: False, full_refresh=is_full)
        for unique_id, one in built.items():
            if one.outcome is not Outcome.BUILT:
                name = self.dbt.manifest.nodes[unique_id].name
                raise TerminalError(f"{name} was not built: {one.error or 'what it reads failed'}")

    def _rows(self, table: str) -> Counter[str]:
        """Rows of a table, but for columns that count batches and builds."""
        path = self.samples.lake.table(*table.split("."))
        return Counter(_texts(read(self.samples.spark, path)))


def _without_rows(models: Sequence[str]) -> str:
    return f"; no rows to compare: {', '.join(models)}" if models else ""


def _texts(frame: DataFrame) -> list[str]:
    return [one.row for one in as_json(frame).collect()]
