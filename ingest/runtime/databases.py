"""Databases whose changes streams land: what connectors have not sent yet is waited for."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ingest.client_properties import kafka_properties
from ingest.connectors.postgres_connector import Broker, PostgresConnector, Refused
from ingest.declarations.stream import Stream
from ingest.errors import HeadwaterError
from ingest.runtime.progress import ProgressLog, error_fields
from ingest.runtime.recovery_topics import lacks_messages, record_missing
from ingest.runtime.spark_errors import explained
from ingest.sources.kafka_source import reader_properties
from ingest.spark.kafka_admin import BrokerAdmin, BrokerOnRequest
from ingest.storage.layout import Lake
from ingest.storage.locks import stream_lock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_Result = TypeVar("_Result")

# Seconds between two looks at a database, and between two at whether somebody asks to stop.
_LOOK_EVERY, _ASK_EVERY = 10.0, 0.1
# Streams of one database, in this process, take turns: two would ask for each snapshot.
_TURNS: dict[str, threading.Lock] = {}
_ALL_OF_IT = "a new snapshot concerns all tables of its database: stop that one first"


class DatabaseWatch:
    """Checks the database of one stream in the background, so that a stop waits for no answer.

    `table` is the stream's own. A check may last longer than the stream, so that `broker` is no
    connection of the stream's.
    """

    def __init__(
        self, followed: PostgresConnector, broker: Broker, database: str, table: str
    ) -> None:
        self._followed, self._broker, self._table = followed, broker, table
        self._turn = _TURNS.setdefault(database, threading.Lock())
        self._looking: Future[Refused] | None = None
        self._has_begun, self._looked = False, 0.0

    def begin(self) -> None:
        """Create the topics, then the connector in the background."""
        self._followed.make_topics(self._broker)
        self._has_begun = True
        self.look()

    def look(self) -> None:
        """Check once in a while. Raises what the check before has found, GapFound for one."""
        if self._looking and self.has_looked:
            looked, self._looking = self._looking, None
            refused = looked.result()
            if self._table in refused:
                raise refused[self._table]
        is_due = not self._looked or time.monotonic() - self._looked > _LOOK_EVERY
        if self._has_begun and is_due and not self._looking:
            self._looked = time.monotonic()
            self._looking = _run_in_background(self._look)

    @property
    def has_looked(self) -> bool:
        """Whether a check has ended whose result nobody has read."""
        return self._looking is not None and self._looking.done()

    def _look(self) -> Refused:
        with self._turn:
            return self._followed.look(self._broker)


def watch_of(spark: SparkSession, lake: Lake, stream: Stream) -> DatabaseWatch | None:
    """The watch of the database whose changes a stream lands; None for other streams."""
    if (database := stream.database) is None:
        return None
    tables = {database.topic(table): table.name for table in database.tables}
    return DatabaseWatch(
        PostgresConnector(lake, database),
        BrokerOnRequest(spark, reader_properties(lake)),
        database.name,
        tables[stream.topics[0]],
    )


def _run_in_background(work: Callable[[], _Result]) -> Future[_Result]:
    """Begin some work; its result, or what it has raised, is in the future.

    An executor's threads would keep the process from ending until they are done.
    """
    future: Future[_Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            # Raised again by `result`.
            future.set_exception(error)

    threading.Thread(target=run, name="database", daemon=True).start()
    return future


def caught_up(
    spark: SparkSession, lake: Lake, streams: Sequence[Stream], stopping: threading.Event
) -> tuple[list[Stream], list[HeadwaterError]]:
    """Wait until topics have what was committed to their databases so far.

    Streams that may begin, and what went wrong with the others, which is in their state, too. Who
    asks to stop has neither.
    """
    failed: dict[str, HeadwaterError] = {}
    for name, of_it in _by_database(streams).items():
        waiting = _run_in_background(partial(_catch_up, spark, lake, of_it, stopping))
        while not waiting.done() and not stopping.wait(_ASK_EVERY):
            pass
        if not waiting.done():
            return [], []
        try:
            failed |= _refused_streams(of_it, waiting.result())
        except Exception as error:  # Kafka's, too: it concerns this database alone
            failed |= dict.fromkeys(_names(of_it), explained(error, name, lake))
    for one in streams:
        if why := failed.get(one.name):
            ProgressLog(lake).note(one.name, one.table, state="failed", **error_fields(why))
    return _without(streams, failed), list(dict.fromkeys(failed.values()))


def _catch_up(
    spark: SparkSession, lake: Lake, streams: Sequence[Stream], stopping: threading.Event
) -> Refused:
    with _followed(spark, lake, streams) as (followed, admin):
        refused = followed.follow(admin)
        if _refused_streams(streams, refused).keys() != _names(streams):
            followed.catch_up(stopping)
    return refused


def renewed(
    spark: SparkSession, lake: Lake, streams: Sequence[Stream]
) -> tuple[list[Stream], list[HeadwaterError]]:
    """Have snapshots made of databases of which changes are missing.

    Streams that may be recovered, and what went wrong with the others: behind a gap that is not
    repaired nobody would see it any more.
    """
    failed: dict[str, HeadwaterError] = {}
    for name, of_it in _by_database(streams).items():
        try:
            with _followed(spark, lake, of_it) as (followed, admin):
                # One that was deleted lacks messages, which is seen when it is there again.
                followed.make_topics(admin)
                missing = followed.missing()
                if missing or any(lacks_messages(spark, lake, one, admin) for one in of_it):
                    with _others_locked(lake, of_it):
                        if database := of_it[0].database:
                            # Before anything that makes the gap one that nobody sees.
                            record_missing(spark, lake, database, missing)
                        failed |= _refused_streams(of_it, followed.renew(admin))
        except Exception as error:  # Kafka's, too: it concerns this database alone
            failed |= dict.fromkeys(_names(of_it), explained(error, name, lake))
    return _without(streams, failed), list(dict.fromkeys(failed.values()))


@contextlib.contextmanager
def _others_locked(lake: Lake, streams: Sequence[Stream]) -> Iterator[None]:
    """The other tables of a database: who lands them would take a new slot for a gap.

    Raises StreamLocked.
    """
    database, own = streams[0].database, {one.table for one in streams}
    with contextlib.ExitStack() as locks:
        for table in database.tables if database else ():
            if table.bronze not in own:
                name = f"bronze.{table.bronze}"
                locks.enter_context(stream_lock(lake, table.bronze, name, _ALL_OF_IT))
        yield


def _refused_streams(streams: Sequence[Stream], refused: Refused) -> dict[str, HeadwaterError]:
    """Why streams cannot go on, by their names, of those whose table is not followed."""
    return {
        one.name: refused[table.name]
        for one in streams
        if (database := one.database)
        for table in database.tables
        if table.bronze == one.table and table.name in refused
    }


def _names(streams: Sequence[Stream]) -> set[str]:
    return {one.name for one in streams}


def _without(streams: Sequence[Stream], failed: Collection[str]) -> list[Stream]:
    return [one for one in streams if one.name not in failed]


@contextlib.contextmanager
def _followed(
    spark: SparkSession, lake: Lake, streams: Sequence[Stream]
) -> Iterator[tuple[PostgresConnector, BrokerAdmin]]:
    """The database of some streams, and the broker that has its topics."""
    database = streams[0].database
    if database is None:
        raise ValueError(f"{streams[0].name} is of no database")
    admin = BrokerAdmin(spark, kafka_properties(lake))
    try:
        yield PostgresConnector(lake, database), admin
    finally:
        admin.close()


def _by_database(streams: Sequence[Stream]) -> Mapping[str, list[Stream]]:
    found: dict[str, list[Stream]] = {}
    for one in streams:
        if database := one.database:
            found.setdefault(database.name, []).append(one)
    return found
