"""One stream at work: its tables, its queue of files, its Structured Streaming query."""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from ingest import settings
from ingest.bronze.current import CurrentTable
from ingest.bronze.landing import Landing
from ingest.bronze.maintenance import compacted
from ingest.bronze.release import release
from ingest.declarations.stream import CleanSource, Stream
from ingest.decode.repository import StreamSchema
from ingest.errors import HeadwaterError
from ingest.events.event_type import Change, EventType
from ingest.events.event_types import EventTypes, rule_of
from ingest.failpoint import failpoint
from ingest.files.listing import listed, released_files
from ingest.files.queue import NEW, FileQueue
from ingest.lake import Lake
from ingest.run import requests
from ingest.run.checkpoint import identity_of, is_unfinished
from ingest.run.failures import explained
from ingest.run.groups import GroupQueries
from ingest.run.progress import ProgressLog, read_totals, save_totals
from ingest.run.requests import Answer, Request
from ingest.tables import columns, delta

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

log = logging.getLogger(__name__)

# Batches between two compactions of a table.
_COMPACT_EVERY = 32
_ALL_BATCHES = 2**63 - 1


class Trigger(Enum):
    """When a query takes its next batch."""

    AVAILABLE_NOW = "available_now"
    CONTINUOUS = "continuous"


class StreamQuery:
    """Lands one stream, from its folder to its table."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        stream: Stream,
        progress: ProgressLog,
        clock: Callable[[], datetime],
    ) -> None:
        self._spark, self._lake, self.stream, self._clock = spark, lake, stream, clock
        self._progress = progress
        self._totals = read_totals(lake, stream.name, stream.table)
        self._first_batch = True
        self._landed_files: dict[int, list[str]] = {}
        self.error: HeadwaterError | None = None
        self._running: StreamingQuery | None = None
        _make_tables(spark, lake, stream)
        identity = identity_of(lake, stream)
        schema = StreamSchema(spark, lake, stream, identity.application)
        types = EventTypes(spark, lake, stream, identity.application)
        self._landing = Landing(
            spark=spark,
            lake=lake,
            stream=stream,
            schema=schema,
            types=types,
            application=identity.application,
            first_batch_id=identity.first_batch_id,
            clock=clock,
        )
        self._current = CurrentTable(
            spark=spark, lake=lake, stream=stream, application=identity.application
        )
        # Wrong hints are refused before anything runs.
        schema.load(_ALL_BATCHES)
        types.load(_ALL_BATCHES, schema.columns)
        self._queue = FileQueue(spark, lake.queue(stream.table))
        self._types = types
        has_tables = stream.events.have_tables
        self._groups = GroupQueries(spark, lake, stream, types) if has_tables else None
        # Held by a batch at work, and by the answers that are given between batches.
        self._at_work = threading.Lock()

    def discover(self) -> None:
        """Queue the files that are new; say which have changed since they landed.

        While a batch waits, files gather for the next one: a stream that is behind takes larger
        batches, which cost less a file.
        """
        if self._queue.has_waiting:
            return
        source = self.stream.files
        found = listed(source, self._queue.known, self._clock())
        found += released_files(self._lake.released(self.stream.table))
        changed = self._queue.add(found, source, self._clock())
        for file in changed:
            log.warning(
                "%s: %s has changed since it was read; its rows stay as they landed. Deliver "
                "corrections under a new name",
                self.stream.name,
                file.path,
            )
        if changed:
            self._save(changed_files=self._totals.changed_files + len(changed))

    def answer_requests(self) -> None:
        """Carry out what people have asked for, unless a batch is at work or unfinished."""
        if not self.stream.events.are_split or not self._at_work.acquire(blocking=False):
            return
        try:
            if self._first_batch and is_unfinished(self._lake.checkpoint(self.stream.table)):
                return
            for request in requests.pending(self._lake, self.stream.name):
                requests.answer(self._lake, request, self._answer(request))
        finally:
            self._at_work.release()

    def _answer(self, request: Request) -> Answer:
        known = self._types.types.get(request.event_type)
        if known is None:
            return Answer(False, f"{self.stream.name} has no type {request.event_type!r}")
        if not self._types.has_decided(request.id) and (wrong := _wrong(request, known)):
            return Answer(False, f"{known.name}{wrong}")
        decided = self._types.decide(
            known.name, request.change, request.version, now=self._clock(), request=request.id
        )
        failpoint("after_decision")
        count = 0
        if request.change is not Change.REVERTED:
            count = release(self._lake, self.stream, rule_of(known.name), request.id)
        text = f"{known.name}: version {decided.version} ({request.change.value})"
        if count:
            text += f"; {count} events leave quarantine and land with the next batch"
        log.info("%s: %s", self.stream.name, text)
        return Answer(True, text)

    def start(self, trigger: Trigger) -> None:
        """Start the query."""
        # An earlier process may have landed what it did not live to apply.
        self._follow()
        writer = (
            self._queue.stream()
            .writeStream.queryName(self.stream.name)
            .option("checkpointLocation", str(self._lake.checkpoint(self.stream.table)))
            .foreachBatch(self._batch)
        )
        if trigger is Trigger.AVAILABLE_NOW:
            self._running = writer.trigger(availableNow=True).start()
        else:
            self._running = writer.trigger(processingTime="200 milliseconds").start()
        self._save(state="running", error=None)
        if trigger is Trigger.CONTINUOUS and self._groups:
            self._groups.start()

    @property
    def _query(self) -> StreamingQuery:
        if self._running is None:
            raise RuntimeError(f"{self.stream.name} has not been started")
        return self._running

    @property
    def is_active(self) -> bool:
        """Whether the query runs."""
        return self._running is not None and self._running.isActive

    def wait(self) -> None:
        """Until the query has ended; what went wrong is in `error`."""
        from pyspark.errors import PySparkException

        try:
            self._query.awaitTermination()
        except PySparkException as error:
            self.error = self.error or explained(error, self.stream.name, self._lake)
        self.leave_tables()
        self._count_at_last()
        self._save(
            state="failed" if self.error else "stopped",
            error=str(self.error) if self.error else None,
        )

    def leave_tables(self) -> None:
        """Stop filling tables of types: nothing is written without the stream's lock."""
        if self._groups:
            self._groups.stop()

    def fill_tables(self, stopping: threading.Event) -> list[HeadwaterError]:
        """Fill the tables of types with all that has landed; what went wrong, by group."""
        if not self._groups:
            return []
        try:
            return self._groups.turn(stopping)
        except Exception as error:  # a full disk, for one
            return [explained(error, self.stream.name, self._lake)]

    def _count_at_last(self) -> None:
        if self.error is None:
            try:
                self._types.count(is_last=True)
            except Exception as error:  # a full disk, for one
                self.error = explained(error, self.stream.name, self._lake)

    def stop(self, patience: float = 60.0) -> None:
        """Stop after the batch at work, waiting for it at most `patience` seconds."""
        until = time.monotonic() + patience
        while self._query.isActive and self._is_busy() and time.monotonic() < until:
            time.sleep(0.05)
        self._query.stop()
        self.wait()

    def compact(self) -> None:
        """Keep the files of the stream's tables few."""
        compacted(self._spark, self._landing.path)
        if self.stream.keep_current and self._lake.is_table(self._current.path):
            compacted(self._spark, self._current.path)

    def clean_source(self) -> None:
        """Move or delete the files of committed batches, as declared."""
        source = self.stream.files
        if source.clean_source is CleanSource.OFF:
            return
        commits = self._lake.checkpoint(self.stream.table) / "commits"
        for batch in [one for one in self._landed_files if (commits / str(one)).exists()]:
            for path in self._landed_files.pop(batch):
                _cleaned(
                    path,
                    source.clean_source,
                    settings.located(source.path),
                    source.move_destination,
                )

    def _is_busy(self) -> bool:
        status = self._query.status
        return bool(status["isTriggerActive"]) and bool(status["isDataAvailable"])

    def _batch(self, files: DataFrame, batch: int) -> None:
        try:
            paths = [
                row.path
                for row in files.where(files.status == NEW).orderBy("modified_at", "path").collect()
            ]
            self._queue.take(paths)
            if paths:
                with self._at_work:
                    self._land(paths, batch)
                # After a recovery the newest batch is the first with files, not the first.
                self._first_batch = False
            self._landed_files[batch] = paths
        except Exception as error:
            # Py4J loses the type on its way back, so the runner asks here.
            self.error = explained(error, self.stream.name, self._lake)
            raise

    def _land(self, paths: list[str], batch: int) -> None:
        began = time.monotonic()
        landed = self._landing.land(paths, batch, repeated=self._first_batch)
        now = self._clock()
        self._totals = self._totals.after(landed, now)
        save_totals(self._lake, self._totals)
        self._follow()
        self._types.count()
        self._progress.add(self.stream.name, landed, time.monotonic() - began, now)
        log.info(
            "%s: batch %d: %d files, %d landed, %d quarantined, %.1f s",
            self.stream.name,
            landed.batch_id,
            landed.files,
            landed.landed,
            landed.quarantined,
            time.monotonic() - began,
        )
        if batch % _COMPACT_EVERY == _COMPACT_EVERY - 1:
            self.compact()

    def _follow(self) -> None:
        """Bring the table of living keys up to date, where the stream keeps one."""
        if self.stream.keep_current:
            applied = self._current.follow(self._totals.current_batch_id)
            self._save(current_batch_id=applied)

    def _save(self, **changes: object) -> None:
        self._totals = replace(self._totals, **changes)  # type: ignore[arg-type]
        save_totals(self._lake, self._totals)


def _wrong(request: Request, known: EventType) -> str | None:
    """Why a request cannot be carried out."""
    if request.version is not None and request.version not in known.versions:
        versions = ", ".join(map(str, sorted(known.versions)))
        return f" has no version {request.version}, but {versions}"
    if request.change is Change.ACCEPTED and not (known.refused or known.rescued):
        return ": nothing waits for a decision"
    return None


def _make_tables(spark: SparkSession, lake: Lake, stream: Stream) -> None:
    from pyspark.sql.types import StructType

    from ingest.shapes.evolution import declared_schema

    bronze, quarantine = lake.bronze(stream.table), lake.bronze(stream.quarantine_table)
    if not lake.is_table(bronze):
        declared = declared_schema(stream.columns)
        full = StructType([*columns.INGEST.fields, *declared.fields])
        delta.create_table(spark, bronze, full, ("_event_date", "_event_type"))
    if not lake.is_table(quarantine):
        delta.create_table(spark, quarantine, columns.QUARANTINE)


def _cleaned(path: str, how: CleanSource, root: str, destination: str | None) -> None:
    file = Path(path)
    if not file.is_relative_to(root):
        # It left quarantine, and is not the producer's.
        return
    try:
        if how is CleanSource.DELETE:
            file.unlink(missing_ok=True)
        elif destination and file.exists():
            target = Path(settings.located(destination), file.relative_to(root))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, target)
    except OSError as error:
        log.warning("%s has landed but cannot be cleaned up: %s", path, error.strerror)
