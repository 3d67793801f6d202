"""A new checkpoint for a stream of Kafka, from what has landed.

Bronze and quarantine have topic, partition and offset of every message. The newest batch may have
landed in part: its messages are read again, and those that are there are left out.
"""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError

from ingest.declarations.stream import KafkaSource, Stream
from ingest.lake import Lake
from ingest.run.broker_admin import BrokerAdmin, Offsets
from ingest.run.checkpoint import fresh_identity
from ingest.run.failures import explained
from ingest.run.topics import Recovered, save, topic_ids
from ingest.stack.addresses import kafka_properties
from ingest.tables import table_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)


def recover_topics(spark: SparkSession, lake: Lake, stream: Stream, source: KafkaSource) -> None:
    """Recover one stream, whose lock the caller holds. Raises BrokerUnreachable."""
    admin = BrokerAdmin(spark, kafka_properties(lake))
    try:
        earliest = admin.earliest(source)
        ids = admin.topic_ids(earliest)
    except Py4JError as error:
        raise explained(error, stream.name, lake) from error
    finally:
        admin.close()
    known = topic_ids(lake.topics(stream.table))
    remade = {topic for topic, one in ids.items() if known.get(topic, one) != one}
    newest, before, again = _landed_offsets(spark, lake, stream, earliest, remade)
    shutil.rmtree(lake.checkpoint(stream.table), ignore_errors=True)
    starts = {
        topic: {
            number: max(first, before.get(topic, {}).get(number, -1) + 1)
            for number, first in partitions.items()
        }
        for topic, partitions in earliest.items()
    }
    _tell_what_is_gone(stream, earliest, before, again)
    Recovered(starting_offsets=starts, landed=again, batch_id=newest).save(
        lake.recovered(stream.table)
    )
    save(lake.topics(stream.table), ids)
    table_id = table_log.table_id(lake.bronze(stream.table))
    fresh_identity(stream, table_id, newest + 2).save(lake.identity(stream.table))
    # Last, since a stream whose checkpoint is gone is refused.
    lake.checkpoint(stream.table).mkdir(parents=True)
    log.info("%s: it goes on from %s", stream.name, starts)


def _landed_offsets(
    spark: SparkSession, lake: Lake, stream: Stream, there: Offsets, remade: set[str]
) -> tuple[int, Offsets, Offsets]:
    """The newest batch; the last offsets of all older ones, and of it. Topics that were made
    again count as never read.
    """
    rows = [
        spark.read.format("delta").load(lake.bronze(name)).select("_batch_id", *_PLACE)
        for name in (stream.table, stream.quarantine_table)
    ]
    all_rows = rows[0].union(rows[1])
    found = all_rows.selectExpr("max(_batch_id) as newest").collect()[0].newest
    newest = -2 if found is None else found - found % 2
    offsets: tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]] = ({}, {})
    last = all_rows.where("_offset is not null").selectExpr(*_PLACE, f"_batch_id >= {newest} as n")
    for row in last.groupBy("_source", "_partition", "n").max("_offset").collect():
        if row[0] in there and row[0] not in remade:
            offsets[row.n].setdefault(row[0], {})[str(row[1])] = row[3]
    return newest, *offsets


_PLACE = ("_source", "_partition", "_offset")


def _tell_what_is_gone(stream: Stream, earliest: Offsets, *landed: Offsets) -> None:
    for topic, partitions in earliest.items():
        for number, first in partitions.items():
            last = max(one.get(topic, {}).get(number, -1) for one in landed)
            if 0 <= last < first - 1:
                log.warning(
                    "%s: %s, partition %s: offsets %d to %d were removed from the topic before "
                    "they landed",
                    stream.name,
                    topic,
                    number,
                    last + 1,
                    first - 1,
                )
