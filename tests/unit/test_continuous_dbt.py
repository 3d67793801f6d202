"""When a build is asked to end, and what the catalog is told while nothing is to be built."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Set
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.serve import build_queue, continuous_dbt
from ingest.serve.build_queue import BuildQueue, Built, Outcome
from ingest.serve.continuous_dbt import ContinuousDbt
from ingest.serve.driver_state import Catalog
from ingest.serve.models import Model, Models
from ingest.storage.layout import Lake

# Seconds in which what is due would have been done, and in which it is done at the latest.
SHORT, LONG = 1.5, 30.0


class Dbt:
    """Counts how often it is to register; builds what it is asked to, or fails."""

    count = 0
    is_waiting = False

    def __init__(self) -> None:
        # What became of the next builds, and what each was told that the catalog knows.
        self.outcomes = [Outcome.FAILED, Outcome.BUILT, Outcome.BUILT]
        self.told: list[Catalog | None] = []
        # What happens before the first model of a build, which can ask whether to end.
        self.meanwhile: Callable[[Set[str], Callable[[], bool]], None] = lambda *_: None

    def build(
        self, models: Set[str], ends: Callable[[], bool], registered: Catalog | None
    ) -> dict[str, Built]:
        """The build of one model."""
        self.meanwhile(models, ends)
        self.told.append(registered)
        return dict.fromkeys(models, Built(outcome=self.outcomes.pop(0)))

    def has_built(self, times: int) -> bool:
        """Whether it has built so often, or comes to it soon."""
        until = time.monotonic() + LONG
        while len(self.told) < times and time.monotonic() < until:
            time.sleep(0.01)
        return len(self.told) == times

    def register(self) -> None:
        self.count += 1

    def has_registered(self, times: int) -> bool:
        """Whether it has done so that often, or comes to it soon."""
        until = time.monotonic() + LONG
        while self.count < times and time.monotonic() < until:
            time.sleep(0.01)
        return self.count == times

    def rests(self) -> bool:
        """Whether it does so no more."""
        before = self.count
        time.sleep(SHORT)
        return self.count == before


class DriverState:
    """A lake with these tables."""

    tables: frozenset[str] = frozenset()

    def landed(self, stream: str, batch_id: int) -> None: ...

    def catalog(self) -> Catalog:
        """What the catalog is to know."""
        return Catalog(self.tables, {})


@pytest.fixture
def dbt() -> Dbt:
    return Dbt()


@pytest.fixture
def facts() -> DriverState:
    return DriverState()


@pytest.fixture
def builder(dbt: Any, facts: Any, tmp_path: Path) -> Iterator[ContinuousDbt]:
    """One that has no models."""
    yield from running(made(Models({}, {}), dbt, facts, tmp_path))


def made(models: Models, dbt: Any, facts: Any, lake: Path) -> ContinuousDbt:
    """One whose models nobody else builds; they are all below a stream."""
    nobody: Any = SimpleNamespace(
        news=lambda: (frozenset(), frozenset()),
        taken=frozenset,
        own=lambda _: nullcontext(enter_result=True),
    )
    spark: Any = SimpleNamespace()
    sources = {"test.visits": frozenset(["visits"])}
    waiting = BuildQueue(models, time.monotonic)
    return ContinuousDbt(spark, Lake(str(lake)), dbt, waiting, sources, nobody, facts)


def running(builder: ContinuousDbt) -> Iterator[ContinuousDbt]:
    """Until the test has ended."""
    builder.start()
    yield builder
    builder.ask_to_stop()
    builder.wait()


def test_new_events_are_reported_at_once(
    builder: ContinuousDbt, dbt: Dbt, facts: DriverState
) -> None:
    assert dbt.has_registered(1)
    builder.grew("test.visits", 1)
    assert dbt.rests()
    facts.tables = frozenset(["test__visits"])
    assert dbt.has_registered(2)


def test_type_waiting_for_columns_is_reported_again_with_new_rows(
    builder: ContinuousDbt, dbt: Dbt
) -> None:
    dbt.is_waiting = True
    assert dbt.has_registered(1)
    assert dbt.rests()
    builder.grew("test.visits", 1)
    assert dbt.has_registered(2)


def test_catalog_is_synced_again_only_if_it_may_be_incomplete(
    dbt: Dbt, facts: DriverState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_queue, "_FIRST", 0.0)
    models = Models({"a": Model(id="a", name="a")}, {"visits": {"a"}})
    for builder in running(made(models, dbt, facts, tmp_path)):
        assert dbt.has_built(2)
        builder.grew("test.visits", 1)
        assert dbt.has_built(3)
    # Nothing was known at first, and nothing for sure after a model had failed.
    assert dbt.told == [None, None, facts.catalog()]


def test_a_build_ends_after_the_model_when_it_is_asked_to(
    dbt: Dbt, facts: DriverState, tmp_path: Path
) -> None:
    builder = made(Models({"a": Model(id="a", name="a")}, {}), dbt, facts, tmp_path)
    answers = []

    def meanwhile(_: Set[str], ends: Callable[[], bool]) -> None:
        answers.append(ends())
        builder.ask_to_stop()
        answers.append(ends())

    dbt.meanwhile = meanwhile
    for _ in running(builder):
        assert dbt.has_built(1)
    assert answers == [False, True]


@pytest.mark.parametrize(("seconds", "makes_room"), [(0.0, True), (600.0, False)])
def test_a_build_of_the_others_makes_room_for_live_models_after_a_while(
    seconds: float,
    makes_room: bool,
    dbt: Dbt,
    facts: DriverState,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(continuous_dbt, "_SLICE", seconds)
    dbt.outcomes = [Outcome.BUILT] * 10
    live, other = Model(id="live", name="live", is_live=True), Model(id="other", name="other")
    models = Models({"live": live, "other": other}, {"visits": {"live"}})
    builder = made(models, dbt, facts, tmp_path)
    answers: list[tuple[Set[str], bool]] = []

    def meanwhile(models: Set[str], ends: Callable[[], bool]) -> None:
        if not answers:
            builder.grew("test.visits", 1)
        answers.append((models, ends()))

    dbt.meanwhile = meanwhile
    for _ in running(builder):
        assert dbt.has_built(3)
    assert answers == [({"live"}, False), ({"other"}, makes_room), ({"live"}, False)]
