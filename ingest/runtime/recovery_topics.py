"""A new checkpoint for a stream of Kafka, from what has landed.

Bronze and quarantine have topic, partition and offset of every message. The newest batch may have
landed in part: its messages are read again, and those that are there are left out. What it took
from quarantine, and had no time to remove there, is removed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, assert_never

from ingest.client_properties import kafka_properties
from ingest.declarations.stream import Database, FileSource, KafkaSource, Stream
from ingest.quarantine.requeue import delete_landed_again
from ingest.runtime.checkpoint import fresh_identity, start_checkpoint
from ingest.runtime.gaps import record
from ingest.sources.data_loss import REMADE, REMOVED, DataLoss
from ingest.sources.known_topics import KnownTopic, Recovered, known_topics, save_topics
from ingest.sources.query_checkpoint import checkpoint_of
from ingest.spark.kafka_admin import BrokerAdmin, Offsets
from ingest.spark.sql import text_literal
from ingest.storage import delta_log
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)


def recover_topics(spark: SparkSession, lake: Lake, stream: Stream, source: KafkaSource) -> None:
    """Recover one stream, whose lock the caller holds. Raises Kafka's errors as py4j has them."""
    admin = BrokerAdmin(spark, kafka_properties(lake))
    try:
        earliest = admin.earliest(source)
        latest, ids = admin.latest(earliest), admin.topic_ids(earliest)
    finally:
        admin.close()
    known = known_topics(lake, stream.table)
    all_rows = _rows(spark, lake, stream.table)
    newest = _newest_batch(all_rows)
    remade = {topic for topic, one in known.items() if ids.get(topic, one.id) != one.id}
    since = {topic: newest + 2 if topic in remade else one.since for topic, one in known.items()}
    rows = all_rows.where(_is_since({topic: since.get(topic, 0) for topic in earliest}))
    earlier = Recovered.read(lake, stream.table)
    unfinished = [newest] if newest >= 0 else []
    finished = _last_offsets(rows, [*unfinished, *(earlier.batches if earlier else ())])
    if earlier and not earlier.is_behind(finished):
        unfinished += [one for one in earlier.batches if one != newest]
    else:
        finished = _last_offsets(rows, unfinished)
    again = _last_offsets(rows.where(_in_batches(unfinished)), ())
    starts = {
        topic: {n: max(first, finished.get(topic, {}).get(n, -1) + 1) for n, first in there.items()}
        for topic, there in earliest.items()
    }
    for topic, there in starts.items():
        if any(offset > latest[topic][n] for n, offset in there.items()):
            # The topic was created again, and its first offsets are gone.
            since[topic], starts[topic] = newest + 2, dict(earliest[topic])
            again.pop(topic, None)
            remade.add(topic)
    deleted = {topic for topic in source.topics if topic in known and topic not in ids}
    lost = {one: known[one].since if one in known else 0 for one in deleted | remade}
    gone = _last_offsets(all_rows.where(_is_since(lost)), ())
    # Up to where it was read, though nothing of a partition may have landed since.
    begun = [earlier.starting_offsets] if earlier else []
    read = _without_remade(remade, *begun, _read_offsets(lake, stream))
    gaps = [*_gaps_of_topics(gone, remade), *_gaps(earliest, read, finished, again)]
    for gap in gaps:
        log.warning("%s: %s", stream.name, gap)
    # Before anything that makes the stream start again.
    record(lake, stream.name, gaps, newest + 2, datetime.now(UTC))
    quarantine = lake.bronze(stream.quarantine_table)
    if lake.is_table(quarantine):
        delete_landed_again(spark, quarantine, lake.bronze(stream.table), _in_batches(unfinished))
    # First of all: without it a stream with rows is refused, should this end half-way.
    lake.storage.delete(lake.identity(stream.table))
    lake.storage.delete_tree(lake.checkpoint(stream.table))
    recovered = Recovered(starting_offsets=starts, landed=again, batches=unfinished)
    recovered.save(lake, stream.table)
    topics = {topic: KnownTopic(one, since.get(topic, 0)) for topic, one in ids.items()}
    save_topics(lake, stream.table, topics)
    table_id = delta_log.table_id(lake.bronze(stream.table))
    fresh_identity(stream, table_id, newest + 2).save(lake, stream.table)
    start_checkpoint(lake, stream.table)
    log.info("%s: it goes on from %s", stream.name, starts)


def lacks_messages(spark: SparkSession, lake: Lake, stream: Stream, admin: BrokerAdmin) -> bool:
    """Whether messages of a stream were removed before they landed, or a topic was made again."""
    if not lake.is_table(lake.bronze(stream.table)):
        return False
    match source := stream.source:
        case KafkaSource():
            earliest = admin.earliest(source)
        case FileSource():
            return False
        case _:
            assert_never(source)
    ids, known = admin.topic_ids(earliest), known_topics(lake, stream.table)
    if any(known[topic].id != ids[topic] for topic in ids.keys() & known.keys()):
        return True
    landed = _last_offsets(_rows(spark, lake, stream.table), ())
    return any(
        first > landed.get(topic, {}).get(number, -1) + 1
        for topic, partitions in earliest.items()
        for number, first in partitions.items()
    )


def record_missing(
    spark: SparkSession, lake: Lake, database: Database, missing: Mapping[str, str]
) -> None:
    """Write down from where on changes of a database never came to the topics of its tables.

    `missing` has the reason of each such table. Of one that no stream has begun to land, nothing
    is missing.
    """
    for table in database.tables:
        if table.name not in missing or not lake.is_table(lake.bronze(table.bronze)):
            continue
        topic = database.topic(table)
        known = known_topics(lake, table.bronze).get(topic)
        rows = _rows(spark, lake, table.bronze)
        landed = _last_offsets(rows.where(_is_since({topic: known.since if known else 0})), ())
        gaps = [
            DataLoss(topic, int(number), last + 1, None, missing[table.name])
            for number, last in landed.get(topic, {"0": -1}).items()
        ]
        for gap in gaps:
            log.warning("%s: %s", table.stream, gap)
        record(lake, table.stream, gaps, _newest_batch(rows) + 2, datetime.now(UTC))


def _rows(spark: SparkSession, lake: Lake, table: str) -> DataFrame:
    """Number and place of all rows of a stream's bronze and quarantine."""
    tables = [lake.bronze(one) for one in (table, f"{table}__quarantine")]
    rows = [
        spark.read.format("delta").load(table).select("_batch_id", *_PLACE)
        for table in tables
        if lake.is_table(table)
    ]
    return reduce(lambda one, other: one.union(other), rows)


def _newest_batch(rows: DataFrame) -> int:
    """The first number of the newest batch; -2 where there is none."""
    newest = rows.selectExpr("max(_batch_id) as newest").collect()[0].newest
    return -2 if newest is None else newest - newest % 2


def _is_since(since: Mapping[str, int]) -> str:
    """SQL that is true of rows of these topics, each from a batch on."""
    places = (
        f"(_source = {text_literal(topic)} and _batch_id >= {batch})"
        for topic, batch in since.items()
    )
    return f"_offset is not null and ({' or '.join(places) or 'false'})"


def _in_batches(batches: Sequence[int]) -> str:
    numbers = ", ".join(str(one + more) for one in batches for more in (0, 1))
    return f"_batch_id in ({numbers})" if numbers else "false"


def _last_offsets(rows: DataFrame, without: Sequence[int]) -> dict[str, dict[str, int]]:
    """The last offset of each partition, but for the rows of some batches."""
    offsets: dict[str, dict[str, int]] = {}
    kept = rows.where(f"not ({_in_batches(without)})")
    for topic, partition, last in kept.groupBy(*_PLACE[:2]).max(_PLACE[2]).collect():
        offsets.setdefault(topic, {})[str(partition)] = last
    return offsets


_PLACE = ("_source", "_partition", "_offset")


def _gaps_of_topics(gone: Offsets, remade: Collection[str]) -> Iterator[DataLoss]:
    """What may have gone with topics that were made again, or deleted."""
    for topic, partitions in gone.items():
        for number, last in partitions.items():
            yield DataLoss(
                topic, int(number), last + 1, None, REMADE if topic in remade else REMOVED
            )


def _read_offsets(lake: Lake, stream: Stream) -> Offsets:
    """Where the checkpoint that is there would go on."""
    checkpoint = checkpoint_of(lake, stream.table)
    try:
        return checkpoint.offsets(checkpoint.newest_committed) or {}
    except ValueError:
        # It is torn, which may be why somebody recovers.
        return {}


def _without_remade(remade: Collection[str], *nexts: Offsets) -> Offsets:
    """The last offset that was read of each partition, from where it went on."""
    found: dict[str, dict[str, int]] = {}
    for one in nexts:
        for topic, partitions in one.items():
            there = found.setdefault(topic, {}) if topic not in remade else {}
            for number, offset in partitions.items():
                there[number] = max(offset - 1, there.get(number, -1))
    return found


def _gaps(earliest: Offsets, *landed: Offsets) -> Iterator[DataLoss]:
    for topic, partitions in earliest.items():
        for number, first in partitions.items():
            known = [one[topic][number] for one in landed if number in one.get(topic, {})]
            # Of a partition that nobody has read yet, nobody knows where it began.
            last = max(known, default=first)
            if last < first - 1:
                yield DataLoss(topic, int(number), last + 1, first - 1, REMOVED)
