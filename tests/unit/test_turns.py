"""Who lands when: streams that are always on take turns."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ingest.runtime.scheduling import BatchScheduler

# Seconds that no answer takes.
LONG = 30.0
# Seconds in which one that must not come would have come.
SHORT = 0.3


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Batch:
    """A batch of a stream, in a thread of its own, until it is told to end."""

    def __init__(self, turns: BatchScheduler, stream: str) -> None:
        self._turns, self._stream = turns, stream
        self._begun, self._end, self._called = (threading.Event() for _ in range(3))
        self._leaves = threading.Event()
        threading.Thread(target=self._land, daemon=True).start()

    def _land(self) -> None:
        with self._turns.turn(self._stream):
            self._begun.set()
            self._end.wait(LONG)
        self._turns.await_next(self._stream, self._leaves.is_set)
        self._called.set()

    @property
    def begins(self) -> bool:
        """Whether it is at work, or comes to it soon."""
        return self._begun.wait(LONG)

    @property
    def waits(self) -> bool:
        """Whether it is not at work, and does not come to it."""
        return not self._begun.wait(SHORT)

    @property
    def is_called(self) -> bool:
        """Whether its stream may begin the next one, or comes to it soon."""
        return self._called.wait(LONG)

    @property
    def is_uncalled(self) -> bool:
        """Whether its stream waits for its next one."""
        return not self._called.wait(SHORT)

    def end(self) -> None:
        """Let it end."""
        self._end.set()

    def leave(self) -> None:
        """Its stream is to have no other."""
        self._leaves.set()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(clock: Clock) -> Iterator[BatchScheduler]:
    """One stream at a time."""
    made = BatchScheduler(1, clock)
    yield made
    made.close()


def test_as_many_land_as_may(clock: Clock) -> None:
    turns = BatchScheduler(2, clock)
    a, b = Batch(turns, "a"), Batch(turns, "b")
    assert a.begins
    assert b.begins
    c = Batch(turns, "c")
    assert c.waits
    a.end()
    assert c.begins
    turns.close()


@pytest.fixture
def pair(turns: BatchScheduler) -> tuple[Batch, Batch]:
    """Of two streams: the first has landed, and waits behind the second."""
    a = Batch(turns, "a")
    assert a.begins
    b = Batch(turns, "b")
    assert b.waits
    a.end()
    assert b.begins
    assert a.is_uncalled
    return a, b


def test_stream_that_landed_queues_after_waiting_ones(pair: tuple[Batch, Batch]) -> None:
    a, b = pair
    b.end()
    assert a.is_called


def test_a_turn_that_nothing_comes_to_lapses(turns: BatchScheduler, clock: Clock) -> None:
    a = Batch(turns, "a")
    assert a.begins
    a.end()
    assert a.is_called
    b = Batch(turns, "b")
    assert b.waits
    clock.now = 2.0
    assert b.begins


def test_who_is_called_begins_at_once(turns: BatchScheduler) -> None:
    first = Batch(turns, "a")
    first.end()
    assert first.is_called
    assert Batch(turns, "a").begins


def test_a_batch_that_fails_makes_room(turns: BatchScheduler) -> None:
    with pytest.raises(OSError, match="full"), turns.turn("a"):
        raise OSError("the disk is full")
    assert Batch(turns, "b").begins


def test_a_stream_that_is_to_end_waits_for_nothing(pair: tuple[Batch, Batch]) -> None:
    a, _ = pair
    a.leave()
    assert a.is_called


def test_at_the_end_no_stream_waits(turns: BatchScheduler) -> None:
    assert Batch(turns, "a").begins
    b = Batch(turns, "b")
    assert b.waits
    turns.close()
    assert b.begins
