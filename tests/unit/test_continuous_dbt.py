"""What the catalog is told while nothing is to be built."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.lake import Lake
from ingest.serve.backlog import Backlog
from ingest.serve.continuous_dbt import ContinuousDbt
from ingest.serve.facts import Catalog
from ingest.serve.models import Models

# Seconds in which what is due would have been done, and in which it is done at the latest.
SHORT, LONG = 1.5, 30.0


class Dbt:
    """Counts how often it is to register."""

    count = 0
    is_waiting = False

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


class Facts:
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
def facts() -> Facts:
    return Facts()


@pytest.fixture
def builder(dbt: Any, facts: Any, tmp_path: Path) -> Iterator[ContinuousDbt]:
    """One that has no models."""
    nobody: Any = SimpleNamespace(news=lambda: (frozenset(), frozenset()), taken=frozenset)
    backlog, none = Backlog(Models({}, {}), time.monotonic), SimpleNamespace()
    spark: Any = none
    made = ContinuousDbt(spark, Lake(str(tmp_path)), dbt, backlog, {}, nobody, facts)
    made.start()
    yield made
    made.ask_to_stop()
    made.wait()


def test_what_is_new_is_told_at_once(builder: ContinuousDbt, dbt: Dbt, facts: Facts) -> None:
    assert dbt.has_registered(1)
    builder.grew("test.visits", 1)
    assert dbt.rests()
    facts.tables = frozenset(["test__visits"])
    assert dbt.has_registered(2)


def test_a_type_that_waits_for_its_columns_is_told_again_when_rows_have_come(
    builder: ContinuousDbt, dbt: Dbt
) -> None:
    dbt.is_waiting = True
    assert dbt.has_registered(1)
    assert dbt.rests()
    builder.grew("test.visits", 1)
    assert dbt.has_registered(2)
