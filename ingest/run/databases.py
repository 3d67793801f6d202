"""Databases whose changes streams land: what connectors have not sent yet is waited for."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ingest.databases.followed import FollowedDatabase
from ingest.declarations.stream import Database, KafkaSource, Stream
from ingest.errors import HeadwaterError
from ingest.lake import Lake
from ingest.run.broker_admin import BrokerAdmin
from ingest.run.failures import explained
from ingest.run.recovery_of_topics import lacks_messages
from ingest.stack.addresses import kafka_properties

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def database_of(stream: Stream) -> Database | None:
    """The database whose changes a stream lands, if it is one's."""
    return stream.source.database if isinstance(stream.source, KafkaSource) else None


def caught_up(
    spark: SparkSession, lake: Lake, streams: Sequence[Stream], stopping: threading.Event
) -> tuple[list[Stream], list[HeadwaterError]]:
    """Wait until topics have what was committed to their databases so far.

    Streams that may begin, and what went wrong with the others.
    """
    failed: dict[str, HeadwaterError] = {}
    for name, of_it in _by_database(streams).items():
        try:
            with _followed(spark, lake, of_it) as (followed, admin):
                followed.follow(admin)
                followed.catch_up(stopping)
        except Exception as error:  # Kafka's, too: it concerns this database alone
            failed[name] = explained(error, name, lake)
    return _without(streams, failed), list(failed.values())


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
                if followed.has_gap() or any(
                    lacks_messages(spark, lake, one, admin) for one in of_it
                ):
                    followed.renew(admin)
        except Exception as error:  # Kafka's, too: it concerns this database alone
            failed[name] = explained(error, name, lake)
    return _without(streams, failed), list(failed.values())


def _without(streams: Sequence[Stream], failed: Collection[str]) -> list[Stream]:
    """Streams but for those of some databases."""
    return [one for one in streams if (of := database_of(one)) is None or of.name not in failed]


@contextlib.contextmanager
def _followed(
    spark: SparkSession, lake: Lake, streams: Sequence[Stream]
) -> Iterator[tuple[FollowedDatabase, BrokerAdmin]]:
    """The database of some streams, and the broker that has its topics."""
    database = database_of(streams[0])
    if database is None:
        raise ValueError(f"{streams[0].name} is of no database")
    admin = BrokerAdmin(spark, kafka_properties(lake))
    try:
        yield FollowedDatabase(lake, database), admin
    finally:
        admin.close()


def _by_database(streams: Sequence[Stream]) -> Mapping[str, list[Stream]]:
    found: dict[str, list[Stream]] = {}
    for one in streams:
        if database := database_of(one):
            found.setdefault(database.name, []).append(one)
    return found
