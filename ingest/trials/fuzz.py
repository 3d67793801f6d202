"""Cases on a lake of their own: rows land, dbt builds, and what it built is compared."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.declarations.project import declared_streams
from ingest.errors import InputError
from ingest.serve.build_queue import Outcome
from ingest.serve.dbt_build import DbtBuild
from ingest.serve.driver_state import DriverState
from ingest.serve.fast_bookkeeping import FastBookkeeping
from ingest.storage.layout import Lake
from ingest.trials.cases import BUILDS, Case, Sample, Slice, drawn, smallest
from ingest.trials.frames import as_json, read, shown_columns, write
from ingest.trials.inputs import Inputs, inputs_of, inputs_of_all
from ingest.trials.scratch import Scratch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Rows of each table of bronze that cases are drawn from: the newest, and the newest of each type
# of events that a model names, which may be rare.
_NEWEST = 500
_NAMED = 500
# Builds of smaller cases, once one differs.
_SMALLER = 40
_PLACE, _ROW, _OF_TYPE = "_place", "_row", "_of_type"


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows of a table after increments and after a full refresh, by how many times more."""

    table: str
    increments: Counter[str]
    refresh: Counter[str]


@dataclass(frozen=True, slots=True)
class Failed:
    """A case in which a model, or one that it reads, could not be built."""

    seed: int
    error: str


@dataclass(frozen=True, slots=True)
class Found:
    """A case whose increments differ from the full refresh, made small."""

    seed: int
    difference: Difference
    rows: Mapping[Slice, Sequence[str]]


def tried(
    models: Sequence[str], cases: int, seed: int, say: Callable[[str], None]
) -> Iterator[tuple[str, Found | Failed | None]]:
    """Each model with the first case that differs or fails, as soon as it is found, or None.

    Without names, all models of what has landed. They are built together: what many of them read
    is built once.
    Raises InputError where a model cannot be tried.
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
    say(f"copying rows of {', '.join(tables)}")
    texts = {text for each in inputs for text in each.texts}
    samples = _Samples.copied(scratch, tables, texts)
    facts = DriverState(scratch.lake, declared_streams((), manifest=manifest))
    records = FastBookkeeping(scratch.lake, lambda: True)
    dbt = DbtBuild(manifest, facts, records, target=scratch.target)
    yield from _Trials(dbt, samples).all_of(inputs, cases, seed, say)


@dataclass(frozen=True, slots=True)
class _Samples:
    """A sample of each table, each row with its place; and the lake that they arrive in."""

    lake: Lake
    spark: SparkSession
    frames: Mapping[str, DataFrame]
    samples: Mapping[str, Sample]

    @classmethod
    def copied(cls, scratch: Scratch, tables: Sequence[str], texts: Set[str]) -> _Samples:
        """Start Spark; copy the rows, and what builds read of `ops`.

        `texts` may name event types.
        """
        spark = scratch.spark()
        scratch.copy_ops(spark, tables)
        frames, samples = {}, {}
        for table in tables:
            whole = read(spark, scratch.real.bronze(table))
            frames[table], named = sampled(whole, texts)
            samples[table] = Sample(frames[table].count(), shown_columns(whole), named)
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
    """Rows of tables after a case was built in increments, and after a full refresh.

    `failed` has what was not built, by dbt's id, and why; its tables, and those of models that
    read it, have no rows here.
    """

    increments: Mapping[str, Counter[str]]
    refresh: Mapping[str, Counter[str]]
    failed: Mapping[str, str]

    def failure(self, inputs: Inputs) -> str | None:
        """Why a model or one that it reads was not built."""
        return next((error for one, error in self.failed.items() if one in inputs.built), None)

    def difference(self, inputs: Inputs) -> Difference | None:
        """The first table of a model that differs; None where it was not built, too."""
        for table in inputs.kept if not self.failure(inputs) else ():
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
    ) -> Iterator[tuple[str, Found | Failed | None]]:
        """Each model with the first case that differs, made small, or that fails, or None.

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
            for model, error in {each.model: built.failure(each) for each in left.values()}.items():
                if error:
                    del left[model]
                    yield model, Failed(seed + number, error)
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
        bronze = {table for each in inputs for table in each.bronze}
        failed: dict[str, str] = {}
        for number in range(BUILDS):
            for table in bronze:
                slices = [one for one in case if (one.build, one.table) == (number, table)]
                self.samples.land(table, slices, number)
            failed |= self._build(models, is_full=number == 0)
        increments = self._rows(inputs, failed.keys())
        failed |= self._build(models, is_full=True)
        return _Built(increments, self._rows(inputs, failed.keys()), failed)

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

    def _build(self, models: Set[str], *, is_full: bool) -> dict[str, str]:
        """Build models. Returns what was not built, by dbt's id, and why."""
        built = self.dbt.build(models, lambda: False, full_refresh=is_full)
        nodes = self.dbt.manifest.nodes
        return {
            unique_id: f"{nodes[unique_id].name} was not built: {one.error}"
            for unique_id, one in built.items()
            if one.outcome is Outcome.FAILED
        }

    def _rows(self, inputs: Iterable[Inputs], failed: Set[str]) -> dict[str, Counter[str]]:
        """Rows of the tables of models, but for columns that count batches and builds."""
        kept = {table for each in inputs if not failed & each.built for table in each.kept}
        lake, spark = self.samples.lake, self.samples.spark
        paths = {table: lake.table(*table.split(".")) for table in kept}
        return {table: Counter(_texts(read(spark, path))) for table, path in paths.items()}


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


def _without_rows(models: Sequence[str]) -> str:
    return f"; no rows to compare: {', '.join(models)}" if models else ""


def _texts(frame: DataFrame) -> list[str]:
    return [one.row for one in as_json(frame).collect()]
