"""What is done for a stream's tables beside its landing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ingest.cdc.current_table import CurrentRowsTable
from ingest.declarations.stream import Format, KafkaSource, Stream
from ingest.errors import HeadwaterError, TransientError
from ingest.runtime.table_maintenance import TableMaintenance, kept_up
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


@dataclass
class Changes:
    """Stands for a table of living keys, which applies batches two by two, and may fail."""

    stream: Stream = field(default_factory=lambda: replace(STREAM, keep_current=True))
    path: str = "nowhere"
    newest: int = 7
    since: list[int] = field(default_factory=list)
    problem: Exception | None = None

    def follow(self, applied: int) -> Iterator[int]:
        self.since.append(applied)
        if self.problem:
            raise self.problem
        yield from range(applied + 2, self.newest + 1, 2)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.seconds)
    return clock


def upkeep(changes: Changes, lake: Path) -> tuple[TableMaintenance, list[Any]]:
    told: list[Any] = []
    current = cast("CurrentRowsTable", changes)
    return (
        TableMaintenance(
            cast("Any", None),
            Lake(str(lake)),
            current,
            1,
            told.append,
            told.append,
            threading.Lock(),
        ),
        told,
    )


def test_each_applied_part_is_reported_and_next_turn_continues_after_it(
    now: SimpleNamespace, tmp_path: Path
) -> None:
    changes = Changes()
    kept, told = upkeep(changes, tmp_path)
    kept.turn()
    assert told == [3, 5, 7]
    # Each application costs much the same, so the next one waits for more to come.
    kept.turn()
    now.seconds += 5
    kept.turn()
    assert changes.since == [1, 7]


def test_slow_discovery_lengthens_its_interval(now: SimpleNamespace, tmp_path: Path) -> None:
    class Slow(Changes):
        def follow(self, applied: int) -> Iterator[int]:
            now.seconds += 40 if self.since else 8
            yield from super().follow(applied)

    changes = Slow()
    kept, _ = upkeep(changes, tmp_path)
    kept.turn()
    for seconds, applied in ((7, 1), (1, 2), (29, 2), (1, 3)):
        now.seconds += seconds
        kept.turn()
        assert len(changes.since) == applied


def test_failure_is_reported_once_and_retried_with_growing_waits(
    now: SimpleNamespace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    changes = Changes(problem=HeadwaterError("shop.orders: its table was changed"))
    kept, told = upkeep(changes, tmp_path)
    for seconds in (5, 10, 20, 40, 60, 60):
        tried = len(changes.since)
        kept.turn()
        now.seconds += seconds - 1
        kept.turn()
        assert len(changes.since) == tried + 1
        now.seconds += 1
    assert str(kept.error) == "shop.orders: its table was changed"
    assert len(caplog.records) == 1
    changes.problem = None
    kept.turn()
    assert kept.error is None
    assert told[-4:] == [3, 5, 7, None]


def test_conflict_is_retried_and_finally_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    changes = Changes(problem=TransientError("shop.orders: another writer committed"))
    kept, told = upkeep(changes, tmp_path)
    kept.turn()
    assert (kept.error, told, caplog.records) == (None, [], [])
    kept.at_last()
    assert told == [kept.error] == [changes.problem]


def test_nothing_begins_once_a_stream_is_left(tmp_path: Path) -> None:
    changes = Changes()
    kept, told = upkeep(changes, tmp_path)
    kept.leave()
    kept.turn()
    assert (changes.since, told) == ([], [])


def test_streams_that_come_later_are_kept_up_too(tmp_path: Path) -> None:
    applied = threading.Event()
    changes = Changes()
    kept = TableMaintenance(
        cast("Any", None),
        Lake(str(tmp_path)),
        cast("CurrentRowsTable", changes),
        5,
        lambda _: applied.set(),
        lambda _: None,
        threading.Lock(),
    )
    streams: list[Any] = []
    prepared = threading.Event()
    with kept_up(streams, prepared.set):
        streams.append(SimpleNamespace(upkeep=kept))
        assert applied.wait(10)
    assert prepared.is_set()
