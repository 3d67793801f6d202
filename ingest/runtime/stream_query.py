"""One stream at work: its tables, what arrives, its Structured Streaming query."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, assert_never

from ingest import settings
from ingest.cdc.current_table import CurrentRowsTable
from ingest.declarations.stream import FileSource, KafkaSource, Mask, OnDataLoss, Stream
from ingest.errors import (
    BrokerUnreachable,
    DataLost,
    HeadwaterError,
    StorageAway,
    StorageFailed,
)
from ingest.event_types.catalog import EventTypes
from ingest.landing.batch import BatchProcessor
from ingest.landing.writers import Writers
from ingest.runtime.blame import Blame
from ingest.runtime.checkpoint import identity_of
from ingest.runtime.databases import watch_of
from ingest.runtime.parts import make_tables, parked_of, source_of, writers_of
from ingest.runtime.progress import WAITING, ProgressLog, error_fields, read_totals
from ingest.runtime.recovery_topics import recover_topics
from ingest.runtime.request_answers import RequestAnswers
from ingest.runtime.scheduling import BatchScheduler
from ingest.runtime.spark_errors import explained
from ingest.runtime.table_maintenance import TableMaintenance
from ingest.runtime.type_table_fill import TypeTableLoader
from ingest.schemas.column_comments import Comments
from ingest.schemas.stream_schema import StreamSchema
from ingest.sources.query_checkpoint import checkpoint_of
from ingest.sources.stream_source import FileBatch
from ingest.storage.layout import Lake
from ingest.storage.locks import check_lock

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

log = logging.getLogger(__name__)

_ALL_BATCHES = 2**63 - 1
# What Spark says of a query that has asked its source, and has landed what was new.
_IDLE = ("Waiting for next trigger", "Waiting for data to arrive")
# Of a query without an interval: how long it waits where there was nothing new.
_POLLING_DELAY = "spark.sql.streaming.pollingDelay"


class Trigger(Enum):
    """When a query takes its next batch."""

    AVAILABLE_NOW = "available_now"
    CONTINUOUS = "continuous"


class StreamQuery:
    """Lands one stream, from its source to its table."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        stream: Stream,
        progress: ProgressLog,
        clock: Callable[[], datetime],
        turns: BatchScheduler | None = None,
    ) -> None:
        self._spark, self._lake, self.stream, self._clock = spark, lake, stream, clock
        self._turns = turns
        self._progress = progress
        progress.begin(stream.name, stream.table)
        self._totals = read_totals(lake, stream.name, stream.table)
        self._first_batch = True
        self.error: HeadwaterError | None = None
        self._running: StreamingQuery | None = None
        # Whether what runs is one batch that was planned, and what comes behind such batches.
        self._is_planned, self._trigger = False, Trigger.AVAILABLE_NOW
        # Whether messages are to land that are in quarantine; whether it ends to start again.
        self._has_parked = self._is_restarting = False
        # Whether the newest batch has landed, which Spark may not know yet; whether it shall end.
        self._has_landed = self._is_stopping = False
        if Mask.HASH in stream.masks.values():
            # Asked for before anything runs.
            settings.mask_key()
        make_tables(spark, lake, stream)
        identity = identity_of(lake, stream)
        schema = StreamSchema(spark, lake, stream, identity.application)
        types = EventTypes(spark, lake, stream, identity.application)
        writers = writers_of(spark, lake, stream)
        self._parked = parked_of(spark, lake, stream, schema, writers)
        self._landing = BatchProcessor(
            spark=spark,
            lake=lake,
            stream=stream,
            schema=schema,
            comments=Comments(lake.bronze(stream.table), stream),
            writers=Writers.of(spark, lake.bronze(stream.table), stream.name, identity.application),
            types=types,
            writer_schemas=writers,
            requeue=self._parked,
            stream_run=identity.application,
            first_batch_id=identity.first_batch_id,
            clock=clock,
            blame=Blame(lake, stream, self._landing_in).files,
        )
        current = CurrentRowsTable(spark, lake, stream, identity.application)
        # Wrong hints are refused before anything runs.
        schema.load(_ALL_BATCHES)
        types.load(_ALL_BATCHES, schema.columns)
        self._checkpoint = checkpoint_of(lake, stream.table)
        self._source = source_of(spark, lake, stream, clock)
        self._database = watch_of(spark, lake, stream)
        self._types = types
        self._requests = RequestAnswers(lake, stream, types, self._parked, clock)
        has_tables = stream.events.have_tables
        self._groups = (
            TypeTableLoader(spark, lake, stream, types, progress.grown) if has_tables else None
        )
        # The batch's thread and the one that looks after streams both write totals.
        self._counting = threading.RLock()
        # Held by a batch at work, and by the answers that are given between batches.
        self._at_work = threading.Lock()
        applied = self._totals.current_batch_id
        callbacks = self._have_applied, self._have_failed
        self.upkeep = TableMaintenance(spark, lake, current, applied, *callbacks, self._at_work)

    def _landing_in(self, lake: Lake) -> BatchProcessor:
        """What lands files as this query does, with what it knows, in a lake that is not there."""
        make_tables(self._spark, lake, self.stream)
        bronze, landing = lake.bronze(self.stream.table), self._landing
        types = EventTypes(self._spark, lake, self.stream, landing.stream_run)
        schema = landing.schema.on_trial(self._spark, lake)
        types.load(_ALL_BATCHES, schema.columns)
        return replace(
            landing,
            lake=lake,
            schema=schema,
            comments=Comments(bronze, self.stream),
            writers=Writers.of(self._spark, bronze, self.stream.name, landing.stream_run),
            types=types,
            blame=None,
        )

    def discover(self) -> None:
        """Look for new files; log those that have changed since they landed.

        Raises GapFound and SourceUnreadable where a database's changes will not come, and
        StreamLocked where another process lands the stream by now.
        """
        self._check_lock()
        if self._database:
            self._database.look()
        changed = self._source.discover()
        if changed:
            self._save(changed_files=self._totals.changed_files + changed)
        if self._parked and not self._is_planned and self._parked.has_due:
            self._has_parked = True
            if self.is_active and not self._is_busy():
                # It starts again, with a batch of its own, also where no message comes.
                self._is_restarting = self.error is None
                self._query.stop()
        if self._is_restarting and self.is_active and not self._is_busy():
            self._query.stop()

    def answer_requests(self) -> None:
        """Carry out what people have asked for, unless a batch is at work or unfinished."""
        if not self._requests.are_due or not self._at_work.acquire(blocking=False):
            return
        try:
            # Repeated, it has to find the types as they were.
            may_repeat = self._first_batch or self._has_landed
            if may_repeat and self._checkpoint.is_unfinished:
                return
            self._check_lock()
            self._requests.answer()
        finally:
            self._at_work.release()

    def start(self, trigger: Trigger) -> None:
        """Start the query, or a batch that was planned; see `continues`."""
        self._trigger, self._is_planned = trigger, self._source.plan(at_once=self._has_parked)
        self._first_batch, self._has_parked = True, False
        self._has_landed = self._is_stopping = False
        if self._database:
            # It creates the topics.
            self._database.begin()
        writer = (
            self._source.stream()
            .writeStream.queryName(self.stream.name)
            .option("checkpointLocation", self._checkpoint.url)
            .foreachBatch(self._batch)
        )
        if self._is_planned:
            self._running = writer.trigger(once=True).start()
        elif trigger is Trigger.AVAILABLE_NOW:
            self._running = writer.trigger(availableNow=True).start()
        else:
            self._running = self._continuous(writer)
        # One that is tried again waits until it is known that it need not.
        if not self._waits:
            self._save(state="running", **error_fields(None))
        if trigger is Trigger.CONTINUOUS and self._groups and not self._is_planned:
            self._groups.start()

    def _continuous(self, writer: DataStreamWriter) -> StreamingQuery:
        """Start a query that looks for new data as often as its source asks for.

        Where that is seldom, it has no interval: one would also part batches of what waits.
        """
        seconds = self._source.look_every
        if seconds <= 1:
            return writer.trigger(processingTime="1 second").start()
        self._spark.conf.set(_POLLING_DELAY, f"{seconds:.0f}s")
        try:
            return writer.trigger(processingTime="0 seconds").start()
        finally:
            self._spark.conf.unset(_POLLING_DELAY)

    @property
    def _query(self) -> StreamingQuery:
        if self._running is None:
            raise RuntimeError(f"{self.stream.name} has not been started")
        return self._running

    @property
    def is_active(self) -> bool:
        """Whether the query runs."""
        return self._running is not None and self._running.isActive

    def continues(self) -> bool:
        """Start what comes behind a planned batch; whether there was one that went well."""
        if self._is_restarting:
            self._is_restarting = False
            # It was stopped, or met a batch that was planned, which runs now.
            self.error = None
        elif not self._is_planned or self.error or self._query.exception():
            return False
        try:
            self.start(self._trigger)
        except Exception as error:  # Kafka's and Spark's too
            self.error = explained(error, self.stream.name, self._lake)
        return self.error is None

    def wait(self, away: tuple[type[HeadwaterError], ...] = ()) -> None:
        """Until the query has ended; what went wrong is in `error`.

        Where that is one of `away`, it is to be started again.
        """
        from pyspark.errors import PySparkException

        try:
            self._query.awaitTermination()
        except PySparkException as error:
            if not self._is_restarting:
                self.error = self.error or explained(error, self.stream.name, self._lake)
        if self.error:
            self.error = self._source.traced(self.error)
        self.leave_tables()
        self._count_at_last()
        if not isinstance(self.error, BrokerUnreachable | StorageAway):
            self.acknowledge()
        self.close()
        problem = self.error or self.upkeep.error
        returns = isinstance(self.error, away) or (away and self._source_after_loss)
        failed = WAITING if returns else "failed"
        try:
            self._save(state=failed if self.error else "stopped", **error_fields(problem))
        except StorageFailed as error:
            # The object store that is away may be the lake's.
            self.error = self.error or error

    def close(self) -> None:
        """Give back what was used to ask the source."""
        self._source.close()

    def goes_on(self) -> bool:
        """Whether it can start again behind messages that are gone, as the stream declares.

        Then a new checkpoint is made, and the gap is written down.
        """
        source = self._source_after_loss
        if source is None:
            return False
        log.warning("%s; it goes on, as on_data_loss says", self.error)
        try:
            recover_topics(self._spark, self._lake, self.stream, source)
        except Exception as error:  # Kafka's and Spark's too
            self.error = explained(error, self.stream.name, self._lake)
            return False
        return True

    @property
    def _source_after_loss(self) -> KafkaSource | None:
        """The source, if it lost messages and is declared to go on."""
        if not isinstance(self.error, DataLost):
            return None
        match source := self.stream.source:
            case KafkaSource(on_data_loss=OnDataLoss.CONTINUE):
                return source
            case KafkaSource() | FileSource():
                return None
            case _:
                assert_never(source)

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
        finally:
            self._groups.stop()

    def _count_at_last(self) -> None:
        if self.error is None:
            try:
                self._types.count(is_last=True)
            except Exception as error:  # a full disk, for one
                self.error = explained(error, self.stream.name, self._lake)

    def stop(self, patience: float = 60.0) -> None:
        """Stop after the batch at work, waiting for it at most `patience` seconds."""
        self._is_stopping = True
        until = time.monotonic() + patience
        while self._query.isActive and self._is_busy() and time.monotonic() < until:
            time.sleep(0.05)
        self._query.stop()
        self.wait()

    def acknowledge(self) -> None:
        """Tell the source what has landed."""
        lag = self._source.acknowledge()
        if lag != self._totals.lag:
            self._save(lag=lag)
        if self._waits and self.is_active and self._query.status["message"] in _IDLE:
            self._waits_no_more()

    @property
    def _waits(self) -> bool:
        return self._totals.state == WAITING

    def _waits_no_more(self) -> None:
        if self._waits:
            self._save(state="running", error=None)

    def _is_busy(self) -> bool:
        status = self._query.status
        return bool(status["isTriggerActive"]) and bool(status["isDataAvailable"])

    def _batch(self, arrived: DataFrame, batch: int) -> None:
        self._has_landed = False
        try:
            turn = self._turns.turn(self.stream.name) if self._turns else nullcontext()
            with turn, self._at_work:
                self._land(arrived, batch)
                self._has_landed = True
            if self._turns and not (self._is_restarting or self._is_planned):
                self._turns.await_next(self.stream.name, lambda: self._is_stopping)
        except Exception as error:
            # Py4J loses the type on its way back, so the runner asks here.
            self.error = explained(error, self.stream.name, self._lake)
            raise

    def _land(self, arrived: DataFrame, batch: int) -> None:
        began = time.monotonic()
        repeated = self._first_batch
        self._check_lock()
        found = self._source.read_batch(arrived, batch, self._landing.first_batch_id + 2 * batch)
        if found is None:
            # After a recovery the newest batch is the first with files, not the first.
            return
        if isinstance(found, FileBatch):
            landed = self._landing.land(found.paths, batch, repeated=repeated)
        else:
            landed = self._landing.land_messages(found.messages, batch, repeated=repeated)
        # Before Spark notes that the batch is done.
        self._check_lock()
        self._first_batch = False
        now = self._clock()
        with self._counting:
            self._totals = self._totals.after(landed, now)
            self._progress.save(self._totals)
            self._waits_no_more()
        self.upkeep.landed()
        self._types.count()
        self._progress.add(self.stream.name, landed, time.monotonic() - began, now)
        log.info(
            "%s: batch %d: %d records, %d landed, %d quarantined, %.1f s",
            self.stream.name,
            landed.batch_id,
            landed.records,
            landed.landed,
            landed.quarantined,
            time.monotonic() - began,
        )
        # At last: where this batch is not committed any more, the next one begins behind it.
        if self._trigger is Trigger.CONTINUOUS and not self._is_planned:
            self._is_restarting = self._source.plan_next(batch) or self._is_restarting

    def _check_lock(self) -> None:
        check_lock(self._lake.bronze(self.stream.table), self.stream.name)

    def _have_applied(self, batch_id: int) -> None:
        self._save(current_batch_id=batch_id)
        self._progress.grown(self.stream.name)

    def _have_failed(self, error: HeadwaterError | None) -> None:
        self._save(**error_fields(error))

    def _save(self, **changes: object) -> None:
        with self._counting:
            self._totals = replace(self._totals, **changes)  # type: ignore[arg-type]
            self._progress.save(self._totals)
