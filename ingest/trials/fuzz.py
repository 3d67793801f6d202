"""Cases on a lake of their own: rows land, dbt builds, and what it built is compared."""

from __future__ import annotations

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
from ingest.trials.cases import BUILDS, Case, Slice, drawn, smallest
from ingest.trials.frames import as_json, read
from ingest.trials.inputs import Inputs, inputs_of_all, inputs_of_named
from ingest.trials.samples import Samples
from ingest.trials.scratch import Scratch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Builds of smaller cases, once one differs.
_SMALLER = 40


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


@dataclass(frozen=True, slots=True)
class Equal:
    """A model whose increments equal a full refresh; in how many cases it had rows."""

    with_rows: int


@dataclass(frozen=True, slots=True)
class NoRows:
    """A model that had no row in any case, and the tables of bronze below it."""

    bronze: Sequence[str]


Tried = Found | Failed | Equal | NoRows


def tried(
    models: Sequence[str], cases: int, seed: int, say: Callable[[str], None]
) -> Iterator[tuple[str, Tried]]:
    """Each model with the first case that differs or fails, as soon as it is found, or how many
    cases had rows.

    Without names, all models of what has landed. They are built together: what many of them read
    is built once.
    Raises InputError where a model cannot be tried.
    """
    with Scratch.beside("fuzz") as scratch:
        project = scratch.parse()
        manifest = project.manifest
        if models:
            inputs = inputs_of_named(manifest, models)
        else:
            inputs = [one for one in inputs_of_all(manifest) if scratch.has_landed(one.bronze)]
        tables = sorted({table for each in inputs for table in each.bronze})
        if not inputs:
            raise InputError("nothing that a model reads has landed yet: run `ingest run`")
        scratch.check_landed(tables)
        say(f"copying rows of {', '.join(tables)}")
        texts = {text for each in inputs for text in each.texts}
        samples = Samples.copied(scratch, project, tables, texts)
        facts = DriverState(scratch.lake, declared_streams((), manifest=manifest))
        records = FastBookkeeping(scratch.lake, lambda: True)
        dbt = DbtBuild(manifest, facts, records, target=scratch.target)
        yield from _Trials(scratch, dbt, samples).all_of(inputs, cases, seed, say)


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
    scratch: Scratch
    dbt: DbtBuild
    samples: Samples

    def all_of(
        self, inputs: Sequence[Inputs], cases: int, seed: int, say: Callable[[str], None]
    ) -> Iterator[tuple[str, Tried]]:
        """Each model with its first case that differs, made small, or fails; equal ones last."""
        left = {each.unique_id: each for each in inputs}
        had_rows: Counter[str] = Counter()
        for number in range(cases):
            if not left:
                return
            case = drawn(self.samples.samples, seed + number)
            built = self._build_case(case, left.values())
            name = f"case {number + 1} of {cases}"
            for each in list(left.values()):
                if error := built.failure(each):
                    del left[each.unique_id]
                    yield each.model, Failed(seed + number, error)
            differing = {one: built.difference(each) for one, each in left.items()}
            with_rows = {one for one, each in left.items() if built.refresh[each.kept[-1]]}
            had_rows.update(with_rows)
            equal = len(left) - sum(one is not None for one in differing.values())
            without = [left[one].model for one in left if one not in with_rows]
            say(f"{name}: {equal} of {len(left)} equal{_without_rows(without)}")
            for one, difference in differing.items():
                if difference:
                    each = left.pop(one)
                    say(f"{each.model} differs in {name}; looking for a smaller one")
                    yield each.model, self._found(each, case, seed + number, difference)
        for one, each in left.items():
            yield each.model, Equal(had_rows[one]) if had_rows[one] else NoRows(each.bronze)

    def _build_case(self, case: Case, inputs: Iterable[Inputs]) -> _Built:
        """Build a case in increments, then whole."""
        self.scratch.check_lease()
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

    def _found(self, inputs: Inputs, case: Case, seed: int, difference: Difference) -> Found:
        """The smallest case of a model that differs, and what differs of it."""
        last = difference

        def differs(smaller: Case) -> bool:
            nonlocal last
            other = self._build_case(smaller, [inputs]).difference(inputs)
            last = other or last
            return other is not None

        whole = tuple(one for one in case if one.table in inputs.bronze)
        small = smallest(whole, differs, _SMALLER // (BUILDS + 1))
        return Found(seed, last, {one: _texts(self.samples.rows(one)) for one in small})

    def _build(self, models: Set[str], *, is_full: bool) -> dict[str, str]:
        """Build models. Returns what was not built, by dbt's id, and why."""
        built = self.dbt.build(models, lambda: False, full_refresh=is_full)
        nodes = self.dbt.manifest.nodes
        return {
            unique_id: f"{nodes[unique_id].search_name} was not built: {one.error}"
            for unique_id, one in built.items()
            if one.outcome is Outcome.FAILED
        }

    def _rows(self, inputs: Iterable[Inputs], failed: Set[str]) -> dict[str, Counter[str]]:
        """Rows of the tables of models, but for columns that count batches and builds."""
        kept = {table for each in inputs if not failed & each.built for table in each.kept}
        lake, spark = self.samples.lake, self.samples.spark
        paths = {table: lake.table(*table.split(".")) for table in kept}
        return {table: Counter(_texts(read(spark, path))) for table, path in paths.items()}


def _without_rows(models: Sequence[str]) -> str:
    return f"; no rows to compare: {', '.join(models)}" if models else ""


def _texts(frame: DataFrame) -> list[str]:
    return [one.row for one in as_json(frame).collect()]
