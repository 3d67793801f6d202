"""Streams of one process that are always on land in turn, a few at a time.

A batch takes what has arrived when Spark plans it. Where processors are short, batches that all run
at once all take as long as all of them together, so that a row waits for one of those, and then
for its own. In turn each is short, and what Kafka has meanwhile is in the stream's next one.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Seconds in which a stream begins a batch where there is something for it; Spark looks each second.
_LAPSE = 1.5


class BatchScheduler:
    """`most` streams are called at a time; `clock` gives seconds.

    Only before it is planned can a batch be put off without being older than need be, and Spark
    asks nobody then: a stream waits at the end of a batch until it may begin the next. One that
    has nothing to begin with makes room for another, and begins later beside those at work.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._change = threading.Condition()
        self._waiting: deque[str] = deque()
        self._at_work: set[str] = set()
        # Those that may begin, and until when nobody else takes their place.
        self._called: dict[str, float] = {}
        self._is_closed = False

    @contextmanager
    def turn(self, stream: str) -> Iterator[None]:
        """A batch of a stream, which waits where it was never called and others are at work."""
        with self._change:
            if self._called.pop(stream, None) is None:
                self._wait(stream, lambda: False)
                del self._called[stream]
            self._at_work.add(stream)
        try:
            yield
        finally:
            with self._change:
                self._at_work.discard(stream)
                self._change.notify_all()

    def await_next(self, stream: str, is_leaving: Callable[[], bool]) -> None:
        """Wait until the stream may begin its next batch, or is to have none."""
        with self._change:
            self._wait(stream, is_leaving)

    def close(self) -> None:
        """Nobody waits any more."""
        with self._change:
            self._is_closed = True
            self._change.notify_all()

    def _wait(self, stream: str, is_leaving: Callable[[], bool]) -> None:
        self._waiting.append(stream)
        while not (self._is_closed or is_leaving() or self._is_next(stream)):
            # Also where nothing happens: a turn that was not taken lapses.
            self._change.wait(0.1)
        self._waiting.remove(stream)
        self._called[stream] = self._clock() + _LAPSE
        self._change.notify_all()

    def _is_next(self, stream: str) -> bool:
        now = self._clock()
        taken = len(self._at_work) + sum(until > now for until in self._called.values())
        return self._waiting[0] == stream and taken < self._most
