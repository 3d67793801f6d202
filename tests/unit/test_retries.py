"""A stream whose broker is away is tried again, ever less often."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.declarations.stream import Format, KafkaSource, Stream
from ingest.errors import BrokerUnreachable, CheckpointInvalid, HeadwaterError
from ingest.runtime import retries as waiting
from ingest.runtime import runner
from ingest.runtime.progress import ProgressLog, read_totals
from ingest.runtime.retries import Retries
from ingest.storage.layout import Lake

STREAM = Stream(
    unique_id="source.headwater.shop.orders",
    name="shop.orders",
    table="shop__orders",
    declared_in="shop.yml",
    description="",
    source=KafkaSource(topics=("orders",)),
    format=Format.JSON,
)


def test_waits_grow_and_reset_after_success(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    retries = Retries()
    assert retries.waiting == retries.due() == []
    for seconds in (1, 2, 4, 8, 16, 32, 60, 60):
        assert retries.later(STREAM) == seconds
        assert (retries.waiting, retries.due()) == ([STREAM], [])
        now += seconds
        assert retries.due() == [STREAM]
        assert retries.waiting == []
    now += 301
    assert retries.later(STREAM) == 1


class Query:
    """A stream's query of which each start comes to the next of `ends`; None runs on.

    `started` has the stream's state before each.
    """

    ends: list[HeadwaterError | None]
    started: list[str]
    stopping: threading.Event

    def __init__(self, *given: Any) -> None:
        self.lake: Lake = given[1]
        self.stream: Stream = given[2]
        self.error: HeadwaterError | None = None
        self.upkeep = SimpleNamespace(error=None, turn=self._nothing, leave=self._nothing)

    def start(self, _trigger: object) -> None:
        end = self.ends.pop(0)
        self.started.append(read_totals(self.lake, STREAM.name, STREAM.table).state)
        if end:
            raise end
        self.stopping.set()

    def _nothing(self) -> None: ...

    answer_requests = discover = stop = leave_tables = close = _nothing


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The state before each start of a stream that the runner starts again soon."""
    monkeypatch.setattr(runner, "StreamQuery", Query)
    monkeypatch.setattr(runner, "_LOOK_EVERY", 0.01)
    monkeypatch.setattr(waiting, "_FIRST", 0.01)
    monkeypatch.setattr("ingest.runtime.runner.delta_tables.register", lambda *_: None)
    Query.started, Query.stopping = [], threading.Event()
    return Query.started


def run(
    lake: Path, set_property: Callable[[str, str], None] = lambda *_: None
) -> list[HeadwaterError]:
    """Land a stream until it runs, or until nothing is left to run."""
    context = SimpleNamespace(setLocalProperty=set_property, defaultParallelism=2)
    spark: Any = SimpleNamespace(sparkContext=context)
    progress = ProgressLog(Lake(str(lake)))
    return runner.land_until_stopped(spark, [STREAM], progress, Query.stopping)


def test_a_stream_that_cannot_start_without_its_broker_waits_and_is_tried_until_it_can(
    started: list[str], tmp_path: Path
) -> None:
    Query.ends = [BrokerUnreachable("no answer"), BrokerUnreachable("no answer"), None]
    assert run(tmp_path) == []
    assert started == ["never ran", "waiting", "waiting"]


@pytest.mark.usefixtures("started")
def test_a_stream_that_waits_when_all_are_asked_to_stop_has_stopped(tmp_path: Path) -> None:
    Query.ends = [BrokerUnreachable("no answer")]
    Query.stopping.set()
    assert run(tmp_path) == []
    told = read_totals(Lake(str(tmp_path)), STREAM.name, STREAM.table)
    assert (told.state, told.error) == ("stopped", "no answer")


def test_maintenance_does_not_wait_for_builds(started: list[str], tmp_path: Path) -> None:
    Query.ends = [None]
    told: list[tuple[str, str]] = []
    assert run(tmp_path, lambda *pair: told.append(pair)) == []
    assert told == [("spark.scheduler.pool", "upkeep")]
    assert len(started) == 1


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.usefixtures("started")
def test_maintenance_does_not_report_the_end_of_java(tmp_path: Path) -> None:
    def refuse(*_: str) -> None:
        raise ConnectionRefusedError

    Query.ends = [None]
    assert run(tmp_path, refuse) == []


def test_a_stream_that_waiting_does_not_help_is_not_tried_again(
    started: list[str], tmp_path: Path
) -> None:
    gone = CheckpointInvalid("it is torn")
    Query.ends = [BrokerUnreachable("no answer"), gone, None]
    assert run(tmp_path) == [gone]
    assert len(started) == 2
    told = read_totals(Lake(str(tmp_path)), STREAM.name, STREAM.table)
    assert (told.state, told.error) == ("failed", "it is torn")
