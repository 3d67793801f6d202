"""What a stream's tables need besides landing: living keys kept current, and few files.

A thread does it for all streams of a process, one after the other, while they land. Landing
never waits for it; what it has not come to is done later, or by the next process.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ingest.cdc.current_table import CurrentRowsTable
from ingest.declarations.stream import Stream
from ingest.errors import HeadwaterError, TransientError
from ingest.landing.compaction import compacted
from ingest.runtime.spark_errors import explained
from ingest.storage.layout import Lake
from ingest.storage.locks import check_lock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Batches, or applications of changes, between two compactions of a table.
_COMPACT_EVERY = 32
# Seconds between the starts of two applications of one stream's changes: each costs much the
# same, however many changes there are. Behind one that takes long, as the machine is busy, as much
# time passes, up to the most: what lands is more urgent.
_APPLY_EVERY, _LONGEST_REST = 5.0, 30.0
_LOOK_EVERY = 0.5
# Seconds after which what has failed is tried again, the first time and at most.
_FIRST_WAIT, _LONGEST_WAIT = 5.0, 60.0


class TableMaintenance:
    """Of the tables of one stream, whose lock the caller holds.

    `applied` is the newest batch that the table of living keys holds; `have_applied` is called with
    each newer one, `have_failed` of what goes wrong, and of its end. `landing` is held by a
    batch at work.
    """

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        current: CurrentRowsTable,
        applied: int,
        have_applied: Callable[[int], None],
        have_failed: Callable[[HeadwaterError | None], None],
        landing: threading.Lock,
    ) -> None:
        self._spark, self._lake, self._current = spark, lake, current
        self._stream: Stream = current.stream
        self._applied, self._have_applied = applied, have_applied
        self._have_failed, self._landing = have_failed, landing
        self._landed = self._applications = 0
        self._due, self._wait = 0.0, _FIRST_WAIT
        # Held by a turn at work.
        self._at_work = threading.Lock()
        self._leaving = threading.Event()
        self.error: HeadwaterError | None = None

    def landed(self) -> None:
        """A batch has landed."""
        self._landed += 1

    def turn(self) -> None:
        """Do what is due; what goes wrong is in `error`, and is tried again after a while."""
        with self._at_work:
            if self._leaving.is_set() or time.monotonic() < self._due:
                return
            began = time.monotonic()
            wrong = self._tried(self._apply) or self._tried(self._compact)
            took = time.monotonic() - began
            self._due = began + max(_APPLY_EVERY, took + min(took, _LONGEST_REST))
            if wrong is None:
                self._wait = _FIRST_WAIT
                self._note(None)
                return
            self._due = time.monotonic() + self._wait
            self._wait = min(2 * self._wait, _LONGEST_WAIT)
            # Landing may give a table a column while its files are compacted: the next turn can.
            if not isinstance(wrong, TransientError):
                if str(wrong) != str(self.error):
                    log.error("%s; what arrives lands meanwhile", wrong)
                self._note(wrong)

    def at_last(self) -> None:
        """Do all that there is to do; what goes wrong is in `error`."""
        with self._at_work:
            compact = partial(self._compact, least_batches=1)
            self._note(self._tried(self._apply) or self._tried(compact))

    def leave(self) -> None:
        """Begin nothing more; waits for what is at work."""
        self._leaving.set()
        with self._at_work:
            pass

    def _tried(self, work: Callable[[], None]) -> HeadwaterError | None:
        try:
            check_lock(self._lake.bronze(self._stream.table), self._stream.name)
            work()
        except Exception as error:  # Spark's, or the disk's
            return explained(error, self._stream.name, self._lake)
        return None

    def _note(self, error: HeadwaterError | None) -> None:
        if error is not self.error:
            self.error = error
            # Where the disk is full, that is what went wrong.
            with contextlib.suppress(OSError):
                self._have_failed(error)

    def _apply(self) -> None:
        if not self._stream.keep_current:
            return
        for applied in self._current.follow(self._applied):
            self._applied = applied
            self._applications += 1
            self._have_applied(applied)
            if self._leaving.is_set():
                return

    def _compact(self, least_batches: int = _COMPACT_EVERY) -> None:
        if self._landed >= least_batches:
            # A batch that looks for duplicates reads the files that would be replaced.
            reads = self._stream.identity.deduplicate_within is not None
            with self._landing if reads else contextlib.nullcontext():
                compacted(self._spark, self._lake.bronze(self._stream.table))
            self._landed = 0
        if self._applications >= least_batches and self._lake.is_table(self._current.path):
            compacted(self._spark, self._current.path)
            self._applications = 0


class HasUpkeep(Protocol):
    """A stream at work."""

    @property
    def upkeep(self) -> TableMaintenance:
        """That of its tables."""
        ...


@contextlib.contextmanager
def kept_up(streams: Sequence[HasUpkeep], prepare: Callable[[], None]) -> Iterator[None]:
    """Keep up the tables of streams, of which some may come and go meanwhile.

    `prepare` is what the thread that does so begins with.
    """
    ending = threading.Event()

    def work() -> None:
        prepare()
        while not ending.wait(_LOOK_EVERY):
            for one in list(streams):
                if ending.is_set():
                    return
                one.upkeep.turn()

    # Should this process end on an error, nothing writes on without the stream's lock.
    thread = threading.Thread(target=work, name="upkeep", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        for one in list(streams):
            one.upkeep.leave()
        thread.join()
