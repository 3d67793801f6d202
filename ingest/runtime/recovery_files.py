"""A new checkpoint from what has landed, where the old one is lost, torn or another's.

Bronze and quarantine name the file of every row. The files of the newest batch may have
landed in part: that batch is run again under its own number, which repeats nothing that is
there. All other files that have rows are done; the rest is listed as if it were new.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from ingest.declarations.stream import FileSource, KafkaSource, Stream
from ingest.errors import HeadwaterError, TableChanged
from ingest.runtime.checkpoint import fresh_identity, start_checkpoint
from ingest.runtime.databases import renewed
from ingest.runtime.recovery_topics import recover_topics
from ingest.runtime.runner import owned, utc_now
from ingest.runtime.spark_errors import explained
from ingest.sources.file_queue import LANDED, NEW, FileQueue
from ingest.sources.listing import listed, released_files
from ingest.storage import delta_log
from ingest.storage.layout import Lake, storage_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)


def recovered(lake: Lake, streams: Sequence[Stream]) -> list[HeadwaterError]:
    """Recover each stream. Returns what went wrong, a stream each."""
    with owned(lake, streams) as (spark, _):
        ready, errors = renewed(spark, lake, streams)
        for stream in ready:
            try:
                recover_stream(spark, lake, stream)
            except Exception as error:  # Spark's and Kafka's too: this stream's alone
                errors.append(explained(error, stream.name, lake))
    return errors


def recover_stream(spark: SparkSession, lake: Lake, stream: Stream) -> None:
    """Recover one stream, whose lock the caller holds. Raises TableChanged."""
    bronze = lake.bronze(stream.table)
    if not lake.is_table(bronze):
        raise TableChanged(
            f"{stream.name}: {bronze} is no table, so there is nothing to recover from; "
            f"remove {lake.url(lake.identity(stream.table))} to land everything again"
        )
    match source := stream.source:
        case KafkaSource():
            recover_topics(spark, lake, stream, source)
        case FileSource():
            _recover_files(spark, lake, stream, source)
        case _:
            assert_never(source)


def _recover_files(spark: SparkSession, lake: Lake, stream: Stream, source: FileSource) -> None:
    bronze, now = lake.bronze(stream.table), utc_now()
    newest, done, unsure = _landed_files(spark, lake, stream)
    here = listed(source, {}, now) + released_files(lake, stream.table)
    # First of all: without it a stream with rows is refused, should this end half-way.
    lake.storage.delete(lake.identity(stream.table))
    lake.storage.delete_tree(lake.checkpoint(stream.table))
    storage_at(lake.queue(stream.table)).delete_tree("")
    queue = FileQueue(spark, lake.queue(stream.table))
    queue.append([file for file in here if file.path in done], LANDED, now)
    again = [file for file in here if file.path in unsure]
    queue.append(again, NEW, now)
    # The queue's first commits are the query's batches 0 and 1: the second is the newest batch,
    # or, where its files are gone, one that never was: a batch that has landed is not written.
    base = newest - newest % 2 + (0 if again else 2)
    before = 2 if done & {file.path for file in here} else 0
    fresh_identity(stream, delta_log.table_id(bronze), base - before).save(lake, stream.table)
    start_checkpoint(lake, stream.table)
    log.info(
        "%s: %d files have landed, %d of the newest batch are looked at again",
        stream.name,
        len(done),
        len(unsure),
    )


def _landed_files(
    spark: SparkSession, lake: Lake, stream: Stream
) -> tuple[int, set[str], set[str]]:
    """Newest `_batch_id`, files of older batches, files of the newest."""
    newest_of: dict[str, int] = {}
    for name in (stream.table, stream.quarantine_table):
        path = lake.bronze(name)
        if lake.is_table(path):
            rows = (
                spark.read.format("delta").load(path).groupBy("_source").agg({"_batch_id": "max"})
            )
            for source, batch in rows.collect():
                newest_of[source] = max(batch, newest_of.get(source, -1))
    newest = max(newest_of.values(), default=-1)
    unsure = {path for path, batch in newest_of.items() if batch >= newest - newest % 2}
    return newest, set(newest_of) - unsure, unsure
