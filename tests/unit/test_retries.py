"""A stream whose broker is away is tried again, ever less often."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.declarations.stream import Format, KafkaSource, Stream
from ingest.errors import BrokerUnreachable, CheckpointInvalid, HeadwaterError
from ingest.lake import Lake
from ingest.run import retries as waiting
from ingest.run import runner
from ingest.run.progress import ProgressLog
from ingest.run.retries import Retries

STREAM = Stream(
    unique_id="source.headwater.shop.orders",
    name="shop.orders",
    table="shop__orders",
    declared_in="shop.yml",
    description="",
    source=KafkaSource(topics=("orders",)),
    format=Format.JSON,
)


def test_each_wait_is_longer_and_one_that_ran_well_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    retries = Retries()
    assert (retries.are_waiting, retries.due()) == (False, [])
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        assert retries.later(STREAM) == seconds
        assert (retries.are_waiting, retries.due()) == (True, [])
        now += seconds
        assert retries.due() == [STREAM]
        assert not retries.are_waiting
    now += 301
    assert retries.later(STREAM) == 1


class Query:
    """A stream's query of which each start comes to the next of `ends`; None runs on."""

    ends: list[HeadwaterError | None]
    started: list[str]
    stopping: threading.Event

    def __init__(self, *given: Any) -> None:
        self.stream: Stream = given[2]
        self.error: HeadwaterError | None = None
        self.upkeep = SimpleNamespace(error=None, turn=self._nothing, leave=self._nothing)

    def start(self, _trigger: object) -> None:
        end = self.ends.pop(0)
        self.started.append("away" if end else "runs")
        if end:
            raise end
        self.stopping.set()

    def _nothing(self) -> None: ...

    answer_requests = discover = stop = leave_tables = _nothing


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What came of each start of a stream that the runner starts again soon."""
    monkeypatch.setattr(runner, "StreamQuery", Query)
    monkeypatch.setattr(runner, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(waiting, "_FIRST", 0.01)
    monkeypatch.setattr("ingest.run.runner.delta.register", lambda *_: None)
    Query.started, Query.stopping = [], threading.Event()
    return Query.started


def run(set_property: Callable[[str, str], None] = lambda *_: None) -> list[HeadwaterError]:
    """Land a stream until it runs, or until nothing is left to run."""
    context = SimpleNamespace(setLocalProperty=set_property, defaultParallelism=2)
    spark: Any = SimpleNamespace(sparkContext=context)
    progress = ProgressLog(Lake("nowhere"))
    return runner.land_until_stopped(spark, [STREAM], progress, Query.stopping)


def test_a_stream_that_cannot_start_without_its_broker_is_tried_until_it_can(
    started: list[str],
) -> None:
    Query.ends = [BrokerUnreachable("no answer"), BrokerUnreachable("no answer"), None]
    assert run() == []
    assert started == ["away", "away", "runs"]


def test_upkeep_does_not_wait_behind_the_jobs_of_builds(started: list[str]) -> None:
    Query.ends = [None]
    told: list[tuple[str, str]] = []
    assert run(lambda *pair: told.append(pair)) == []
    assert told == [("spark.scheduler.pool", "upkeep")]
    assert started == ["runs"]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.usefixtures("started")
def test_upkeep_leaves_it_to_others_to_tell_that_java_is_gone() -> None:
    def refuse(*_: str) -> None:
        raise ConnectionRefusedError

    Query.ends = [None]
    assert run(refuse) == []


def test_a_stream_that_waiting_does_not_help_is_not_tried_again(started: list[str]) -> None:
    gone = CheckpointInvalid("it is torn")
    Query.ends = [BrokerUnreachable("no answer"), gone, None]
    assert run() == [gone]
    assert started == ["away", "away"]
