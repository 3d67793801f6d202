"""Run streams side by side: until nothing is new, or until asked to stop."""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, assert_never

from py4j.protocol import Py4JError

from ingest.declarations.stream import FileSource, KafkaSource, Stream
from ingest.errors import (
    BrokerUnreachable,
    HeadwaterError,
    RegistryUnreachable,
    StorageAway,
    StorageFailed,
    TerminalError,
)
from ingest.runtime.databases import caught_up
from ingest.runtime.progress import WAITING, ProgressLog, error_fields
from ingest.runtime.retries import Retries
from ingest.runtime.scheduling import BatchScheduler
from ingest.runtime.spark_errors import explained, memory_short
from ingest.runtime.stream_query import StreamQuery, Trigger
from ingest.runtime.table_maintenance import kept_up
from ingest.sources.listing import check_folder
from ingest.spark import delta_tables
from ingest.spark.session import OUT_OF_MEMORY, exit_code, session, stop
from ingest.storage.layout import Lake
from ingest.storage.locks import stream_locks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Seconds between two looks at the folders.
_LOOK_EVERY = 1.0
# What comes back by itself.
_AWAY = (BrokerUnreachable, RegistryUnreachable, StorageAway)


def utc_now() -> datetime:
    """The clock of production."""
    return datetime.now(UTC)


def run(lake: Lake, streams: Sequence[Stream]) -> list[HeadwaterError]:
    """Land everything that is new, then stop. Returns what went wrong, a stream each."""
    with owned(lake, streams) as (spark, stopping):
        progress = ProgressLog(lake)
        ready, behind = caught_up(spark, lake, streams, stopping)
        trigger, gone_on = Trigger.AVAILABLE_NOW, set[str]()
        queries, errors = _started(spark, lake, ready, progress, trigger)
        errors += behind
        for query in queries:
            while (query.is_active or query.continues()) and not stopping.wait(0.1):
                progress.write_if_due()
            if query.is_active:
                query.stop()
            query.wait()
            if query.stream.name not in gone_on and query.goes_on():
                gone_on.add(query.stream.name)
                more, failed = _started(spark, lake, [query.stream], progress, trigger)
                # Those that are appended have their turn in this loop.
                queries += more
                errors += failed
                query.error = None
                continue
            if query.error is None and not stopping.is_set():
                query.upkeep.at_last()
                errors += query.fill_tables(stopping)
        progress.write()
        wrong = [error for query in queries for error in (query.error, query.upkeep.error)]
        return errors + [error for error in wrong if error]


def stream(lake: Lake, streams: Sequence[Stream]) -> list[HeadwaterError]:
    """Land what arrives until asked to stop. Returns what went wrong, a stream each."""
    with owned(lake, streams) as (spark, stopping):
        return land_until_stopped(spark, streams, ProgressLog(lake), stopping)


def land_until_stopped(
    spark: SparkSession,
    streams: Sequence[Stream],
    progress: ProgressLog,
    stopping: threading.Event,
    begun: Callable[[], None] = lambda: None,
) -> list[HeadwaterError]:
    """Land what arrives on streams that this process owns; ends early when none is left.

    `begun` is called when all that can run are running.
    """
    retries, trigger = Retries(), Trigger.CONTINUOUS
    turns = BatchScheduler(spark.sparkContext.defaultParallelism)
    restart = partial(
        _started,
        spark,
        progress.lake,
        progress=progress,
        trigger=trigger,
        retries=retries,
        turns=turns,
    )
    queries, errors = restart(streams)
    log.info("streams running: %d; Ctrl-C stops them", len(queries))
    begun()
    try:
        with kept_up(queries, partial(_in_own_pool, spark)):
            _watch(queries, stopping, progress, restart, retries, errors, turns)
    finally:
        turns.close()
        for query in queries:
            query.leave_tables()
    for one in retries.waiting:
        progress.note(one.name, one.table, state="stopped")
    progress.write()
    return errors


def _in_own_pool(spark: SparkSession) -> None:
    """Of a thread: what it has Spark do waits for nothing but its turn.

    Without a pool of its own it would share that of dbt's builds, where the first job goes first:
    each query of a build waited until a table was compacted.
    """
    # The watcher of streams reports that Spark's Java process was killed.
    with contextlib.suppress(Py4JError, OSError):
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", "upkeep")


def _watch(
    queries: list[StreamQuery],
    stopping: threading.Event,
    progress: ProgressLog,
    restart: Callable[[Sequence[Stream]], tuple[list[StreamQuery], list[HeadwaterError]]],
    retries: Retries,
    errors: list[HeadwaterError],
    turns: BatchScheduler,
) -> None:
    """Look after streams until asked to stop, or until none is left."""
    while not stopping.wait(_LOOK_EVERY) and (queries or retries.waiting):
        for query in queries.copy():
            if stopping.is_set():
                break
            if query.is_active:
                _guarded(query, progress.lake)
            elif not query.continues():
                query.upkeep.leave()
                query.wait(_AWAY)
                queries.remove(query)
                _note_end(query, progress, retries, errors)
        if due := retries.due():
            started, failed = restart(due)
            queries += started
            errors += failed
        progress.write_if_due()
    turns.close()
    for query in queries:
        query.stop()
        if error := query.error or query.upkeep.error:
            errors.append(error)


def _note_end(
    query: StreamQuery, progress: ProgressLog, retries: Retries, errors: list[HeadwaterError]
) -> None:
    """What becomes of a stream that has ended by itself."""
    # What goes on asks the broker, which may be away just then.
    if query.error and (query.goes_on() or isinstance(query.error, _AWAY)):
        _try_later(query.stream, query.error, progress, retries)
    elif query.error and query.error not in errors:
        errors.append(query.error)
        log.error("%s", query.error)
        _note(query.stream, "failed", query.error, progress)


def _try_later(
    stream: Stream, error: HeadwaterError, progress: ProgressLog, retries: Retries
) -> None:
    seconds = retries.later(stream)
    _note(stream, WAITING, error, progress)
    log.warning("%s; trying again in %.0f s", error, seconds)


def _note(stream: Stream, state: str, error: HeadwaterError, progress: ProgressLog) -> None:
    # Where the disk is full, or the object store is away, too, nothing can be noted.
    with contextlib.suppress(OSError, StorageFailed):
        progress.note(stream.name, stream.table, state=state, **error_fields(error))


def _guarded(query: StreamQuery, lake: Lake) -> None:
    """A look at one stream's folder; trouble there stops that stream only."""
    try:
        query.answer_requests()
        query.discover()
        query.acknowledge()
    except Exception as error:  # the queue cannot be written, for one
        failure = explained(error, query.stream.name, lake)
        query.error = query.error or failure
        query.stop()


def _started(
    spark: SparkSession,
    lake: Lake,
    streams: Sequence[Stream],
    progress: ProgressLog,
    trigger: Trigger,
    retries: Retries | None = None,
    turns: BatchScheduler | None = None,
) -> tuple[list[StreamQuery], list[HeadwaterError]]:
    """Start each stream; one that cannot is an error of its own.

    With `retries`, one whose broker or registry is away is tried again later.
    """
    queries: list[StreamQuery] = []
    errors: list[HeadwaterError] = []
    for one in streams:
        query = None
        try:
            query = StreamQuery(spark, lake, one, progress, utc_now, turns)
            query.answer_requests()
            query.discover()
            query.start(trigger)
            queries.append(query)
        except Exception as error:  # Spark's too, while tables are made: this stream's alone
            log.debug("%s", one.name, exc_info=True)
            failure = explained(error, one.name, lake)
            if query:
                query.close()
            if retries is not None and isinstance(failure, _AWAY):
                _try_later(one, failure, progress, retries)
                continue
            errors.append(failure)
            log.error("%s", failure)
            _note(one, "failed", failure, progress)
    # After the tables are made and before anybody can miss them: dbt registers what is listed.
    started = [query.stream for query in queries]
    try:
        delta_tables.register(
            lake,
            [(one.table, one.name, "bronze") for one in started]
            + [(one.quarantine_table, one.name, "quarantine") for one in started],
        )
    except Exception as error:  # a full disk, for one
        errors.append(explained(error, ", ".join(one.name for one in started), lake))
        log.error("%s", errors[-1])
    return queries, errors


@contextlib.contextmanager
def owned(
    lake: Lake, streams: Sequence[Stream], start: Callable[[], SparkSession] | None = None
) -> Iterator[tuple[SparkSession, threading.Event]]:
    """A session that owns the streams, and the event that asks to stop.

    `start` starts another session than that of `ingest`'s own commands.
    """
    for one in streams:
        match source := one.source:
            case FileSource():
                check_folder(source, f"{one.declared_in}: {one.name}")
            case KafkaSource():
                pass
            case _:
                assert_never(source)
    with (
        stream_locks(lake, [(one.table, one.name) for one in streams]),
        driver(lake, start) as (spark, stopping),
    ):
        try:
            yield spark, stopping
        except (Py4JError, ConnectionError):
            try:
                refuse_death(spark, lake)
            except TerminalError as failure:
                for one in streams:
                    _note(one, "failed", failure, ProgressLog(lake))
                raise
            raise


@contextlib.contextmanager
def driver(
    lake: Lake, start: Callable[[], SparkSession] | None = None
) -> Iterator[tuple[SparkSession, threading.Event]]:
    """A session, and the event that asks to stop; see `owned`."""
    stopping = threading.Event()
    with contextlib.ExitStack() as handlers:
        with signals_held():
            spark = start() if start else session("ingest", lake.root)
            handlers.enter_context(_signals(stopping.set))
        yield spark, stopping
    stop(spark)


def refuse_death(spark: SparkSession, lake: Lake) -> None:
    """Raises TerminalError where Spark itself has ended, so that nothing can be done any more."""
    code = exit_code(spark)
    if code == OUT_OF_MEMORY:
        raise memory_short("Spark's Java process has ended") from None
    if code is not None:
        raise TerminalError(
            "Spark's Java process has ended: somebody may have killed it, the kernel for want of "
            f"memory; see {lake.spark_log}. Nothing is lost; start again"
        ) from None


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Ctrl-C and SIGTERM that come meanwhile wait: Spark's start sets handlers of its own.

    Threads that are started meanwhile do not take them either.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C and SIGTERM ask to stop. PySpark's own handler would cancel the batch at work."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        log.info("stopping after the batch at work")
        stop()

    before = {sig: signal.signal(sig, handle) for sig in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sig, old in before.items():
            signal.signal(sig, old)
