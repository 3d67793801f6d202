"""What arrives for one stream, as Structured Streaming sees it: files, or messages of Kafka."""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from py4j.protocol import Py4JError

from ingest import settings
from ingest.client_properties import kafka_properties
from ingest.declarations.stream import CleanSource, FileSource, KafkaSource, Stream
from ingest.decoders.kafka_input import FROM_KAFKA
from ingest.errors import DataLost, HeadwaterError, TopicMissing
from ingest.landing.batch import BatchProcessor
from ingest.landing.result import BatchResult
from ingest.runtime import gaps
from ingest.runtime.checkpoint import counted, is_unfinished, newest_committed
from ingest.runtime.databases import watched
from ingest.sources.file_queue import NEW, FileQueue
from ingest.sources.known_topics import KnownTopic, Recovered, known_topics, save_topics
from ingest.sources.listing import folder_of, listed, released_files
from ingest.sources.planned_batches import pattern, planned, write_batch
from ingest.spark.kafka_admin import BrokerAdmin, BrokerOnRequest, Offsets
from ingest.storage.files import opened
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

# What declared properties may change: what aborted transactions wrote is not read, a topic is not
# made by asking for it, and a broker that does not answer is reported within a minute.
_DEFAULTS = {
    "allow.auto.create.topics": "false",
    "isolation.level": "read_committed",
    "default.api.timeout.ms": "20000",
    "request.timeout.ms": "15000",
}
# Seconds for which a broker that did not answer gets no commits of offsets: other streams wait
# meanwhile, and nothing depends on it.
_QUIET = 60.0
# Messages that take longer than what a task costs by itself.
_WORTH_A_TASK = 10_000


class StreamSource(Protocol):
    """Finds what is new, hands it to Spark batch by batch, and has each batch landed."""

    def discover(self) -> int:
        """Look for what is new; how much of what has landed was seen to have changed."""
        ...

    def plan(self, *, at_once: bool) -> bool:
        """Whether the next batch is one that was planned, which runs by itself.

        `at_once`: it is, also where nothing arrives.
        """
        ...

    def plan_behind(self, batch: int) -> bool:
        """Whether the next batch had to be planned while this one is at work, the newest one.

        Then whoever lands all that has come meets a batch that was begun, and ends.
        """
        ...

    def stream(self) -> DataFrame:
        """What arrives, as a stream."""
        ...

    def land(
        self, arrived: DataFrame, batch: int, landing: BatchProcessor, *, repeated: bool
    ) -> BatchResult | None:
        """Land one batch; None where there is nothing in it."""
        ...

    def acknowledge(self) -> int | None:
        """Report to the source what has landed; how many records wait there, if known."""
        ...

    def traced(self, error: HeadwaterError) -> HeadwaterError:
        """The error, with what the source knows of it."""
        ...

    def close(self) -> None:
        """Give back what was used to ask the source."""
        ...


def arrivals(
    spark: SparkSession, lake: Lake, stream: Stream, clock: Callable[[], datetime]
) -> StreamSource:
    """What arrives for a stream."""
    if isinstance(stream.source, KafkaSource):
        return KafkaStreamSource(spark, lake, stream, stream.source)
    return FileStreamSource(spark, lake, stream, stream.source, clock)


class FileStreamSource:
    """See StreamSource: files of a folder, by a queue of their names."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        stream: Stream,
        source: FileSource,
        clock: Callable[[], datetime],
    ) -> None:
        self._lake, self._stream, self._source, self._clock = lake, stream, source, clock
        self._queue = FileQueue(spark, lake.queue(stream.table))
        self._landed_files: dict[int, list[str]] = {}

    def discover(self) -> int:
        """See StreamSource. Those that have changed are named in the log.

        While a batch waits, files gather for the next one: a stream that is behind takes larger
        batches, which cost less a file.
        """
        if self._queue.has_waiting:
            return 0
        found = listed(self._source, self._queue.known, self._clock())
        found += released_files(self._lake.released(self._stream.table))
        changed = self._queue.add(found, self._source, self._clock())
        for file in changed:
            log.warning(
                "%s: %s has changed since it was read; its rows stay as they landed. Deliver "
                "corrections under a new name",
                self._stream.name,
                file.path,
            )
        return len(changed)

    def plan(self, *, at_once: bool) -> bool:  # noqa: ARG002
        """See StreamSource: the queue gives out batches."""
        return False

    def plan_behind(self, batch: int) -> bool:  # noqa: ARG002
        """See StreamSource: the queue gives out batches."""
        return False

    def stream(self) -> DataFrame:
        """See StreamSource."""
        return self._queue.stream(self._lake.checkpoint(self._stream.table))

    def land(
        self, arrived: DataFrame, batch: int, landing: BatchProcessor, *, repeated: bool
    ) -> BatchResult | None:
        """See StreamSource."""
        new = arrived.where(arrived.status == NEW).orderBy("modified_at", "path")
        paths = [row.path for row in new.collect()]
        self._queue.take(paths)
        self._landed_files[batch] = paths
        return landing.land(paths, batch, repeated=repeated) if paths else None

    def acknowledge(self) -> int | None:
        """See StreamSource: files of committed batches are moved or deleted, as declared."""
        source = self._source
        if source.clean_source is CleanSource.OFF:
            return None
        commits = self._lake.checkpoint(self._stream.table) / "commits"
        for batch in [one for one in self._landed_files if (commits / str(one)).exists()]:
            for path in self._landed_files.pop(batch):
                _cleaned(path, source)
        return None

    def traced(self, error: HeadwaterError) -> HeadwaterError:
        """See StreamSource."""
        return error

    def close(self) -> None:
        """See StreamSource."""


class KafkaStreamSource:
    """See StreamSource: messages of topics, each from where its partition was left."""

    def __init__(
        self, spark: SparkSession, lake: Lake, stream: Stream, source: KafkaSource
    ) -> None:
        self._spark, self._lake, self._stream, self._source = spark, lake, stream, source
        self._checkpoint = lake.checkpoint(stream.table)
        self._ids_file = lake.topics(stream.table)
        self._recovered = Recovered.read(lake.recovered(stream.table))
        self._properties = {**_DEFAULTS, **kafka_properties(lake)}
        self._admin: BrokerAdmin | None = None
        self._asking = threading.Lock()
        self._acknowledged, self._quiet_until = -1, 0.0
        self._database = watched(lake, source)
        # A look at the database may last longer than the stream.
        self._aside = BrokerOnRequest(spark, self._properties)

    def discover(self) -> int:
        """See StreamSource: Spark asks the broker itself, and what has landed there cannot change.

        Raises GapFound and SourceUnreadable where changes of a table will not come.
        """
        if self._database:
            self._database.look(self._aside)
        return 0

    def plan(self, *, at_once: bool) -> bool:
        """See StreamSource: batches of topics in order are, where much waits."""
        source, begun = self._source, counted(self._checkpoint)
        if is_unfinished(self._checkpoint):
            return source.is_ordered or at_once
        if at_once and begun:
            write_batch(self._checkpoint, newest_committed(self._checkpoint) + 1, begun)
            return True
        return source.is_ordered and self._has_planned(newest_committed(self._checkpoint))

    def plan_behind(self, batch: int) -> bool:
        """See StreamSource: of topics in order, which have no limit of Spark's."""
        if not self._source.is_ordered:
            return False
        try:
            return self._has_planned(batch)
        except Py4JError as error:
            log.debug("%s: what waits is not known: %s", self._stream.name, error)
            return False

    def _has_planned(self, batch: int) -> bool:
        """Whether more waits behind a batch than one should hold: then the next one is planned."""
        source, earliest = self._source, self._asked().earliest(self._source)
        latest = self._asked().latest(earliest)
        starts = counted(self._checkpoint, batch) or self._first_offsets(earliest, latest)
        ends = planned(source.topics, starts, earliest, latest, source.max_offsets_per_trigger)
        if ends is None:
            return False
        if batch < 0 and not self._recovered:
            # Where the planned batch begins must be where Spark does, messages that come aside.
            self._recovered = Recovered(starting_offsets=starts)
            self._recovered.save(self._lake.recovered(self._stream.table))
        write_batch(self._checkpoint, batch + 1, ends)
        return True

    def _first_offsets(self, earliest: Offsets, latest: Offsets) -> Offsets:
        if self._recovered:
            return self._recovered.starting_offsets
        return earliest if self._source.starting_offsets == "earliest" else latest

    def stream(self) -> DataFrame:
        """See StreamSource. A connector is made where one is to write the topics."""
        source = self._source
        if self._database:
            self._database.begin(self._aside)
        reader = (
            self._spark.readStream.format("kafka")
            .options(**{f"kafka.{name}": value for name, value in self._properties.items()})
            .option("startingOffsets", self._starting_offsets())
            .option("includeHeaders", "true")
            .option("failOnDataLoss", "true")
        )
        if source.is_ordered:
            # Without a limit, which Spark would share among all: see `plan_behind`.
            reader = reader.option("subscribePattern", pattern(source.topics))
        else:
            reader = reader.option("maxOffsetsPerTrigger", source.max_offsets_per_trigger)
            which = "subscribePattern" if source.topic_pattern else "subscribe"
            reader = reader.option(which, source.topic_pattern or source.topics[0])
        return reader.load().selectExpr(*FROM_KAFKA)

    def land(
        self, arrived: DataFrame, batch: int, landing: BatchProcessor, *, repeated: bool
    ) -> BatchResult | None:
        """See StreamSource. Raises DataLost where a topic is not the one that was read before."""
        offsets = counted(self._checkpoint, batch) or {}
        self._check_topics(offsets, landing.first_batch_id + 2 * batch)
        # The broker has answered.
        self._quiet_until = 0.0
        messages = self._in_few_tasks(self._unlanded(arrived, batch), offsets, batch)
        return landing.land_messages(messages, batch, repeated=repeated)

    def acknowledge(self) -> int | None:
        """See StreamSource: a consumer group has the offsets, for tools that watch it."""
        batch = newest_committed(self._checkpoint)
        if time.monotonic() < self._quiet_until:
            return None
        offsets = counted(self._checkpoint, batch) if batch >= 0 else None
        if offsets is None:
            return None
        try:
            if batch > self._acknowledged:
                self._asked().commit(f"headwater.{self._stream.name}", offsets)
                self._acknowledged = batch
            return self._asked().behind(offsets)
        except Py4JError as error:
            # Nothing that has landed depends on it; the query reports a broker that is away.
            log.debug("%s: offsets were not committed to the broker: %s", self._stream.name, error)
            self._quiet_until = time.monotonic() + _QUIET
            return None

    def traced(self, error: HeadwaterError) -> HeadwaterError:
        """See StreamSource: which messages, or topics, are gone."""
        begins = self._begins() if isinstance(error, DataLost | TopicMissing) else None
        if not begins:
            return error
        try:
            there = gaps.found(self._asked(), begins, known_topics(self._ids_file))
        except Py4JError as failure:
            log.debug("%s: what is gone is not known: %s", self._stream.name, failure)
            return error
        return gaps.lost(self._stream.name, self._source, there) if there else error

    def close(self) -> None:
        """See StreamSource."""
        with self._asking:
            if self._admin:
                self._admin.close()
                self._admin = None

    def _begins(self) -> Offsets | None:
        """Where what has not landed begins; None for a stream that has landed nothing."""
        batch = newest_committed(self._checkpoint)
        if batch >= 0:
            return counted(self._checkpoint, batch)
        return self._recovered.starting_offsets if self._recovered else None

    def _starting_offsets(self) -> str:
        found = self._recovered
        return json.dumps(found.starting_offsets) if found else self._source.starting_offsets

    def _unlanded(self, arrived: DataFrame, batch: int) -> DataFrame:
        """A batch without what was landed of it before a recovery."""
        found = self._recovered
        if not found or not found.comes_again(counted(self._checkpoint, batch - 1)):
            return arrived
        stream, place = self._stream, ["_source", "_partition", "_offset"]
        tables = (self._lake.bronze(one) for one in (stream.table, stream.quarantine_table))
        rows = [self._spark.read.format("delta").load(table) for table in tables]
        landed = [one.where(found.was_landed()).select(place) for one in rows]
        return arrived.join(landed[0].union(landed[1]), place, "left_anti").select(arrived.columns)

    def _in_few_tasks(self, messages: DataFrame, ends: Offsets, batch: int) -> DataFrame:
        """A batch in no more tasks than are worth it: each has a cost, and writes a file."""
        starts = counted(self._checkpoint, batch - 1)
        if starts is None:
            return messages
        counts = [
            end - starts.get(topic, {}).get(number, 0)
            for topic, partitions in ends.items()
            for number, end in partitions.items()
        ]
        tasks = sum(counts) // _WORTH_A_TASK + 1
        return messages.coalesce(tasks) if tasks < len(counts) else messages

    def _check_topics(self, offsets: Offsets, batch_id: int) -> None:
        """A topic that was deleted and made again counts from 0, and Spark would not see it."""
        ids, known = self._asked().topic_ids(offsets), known_topics(self._ids_file)
        for topic in sorted(ids.keys() & known.keys()):
            if ids[topic] != known[topic].id:
                raise DataLost(
                    f"{self._stream.name}: topic {topic} was deleted and made again, with messages "
                    "that may not have landed; to land the new one from its beginning: "
                    f"ingest recover --select source:{self._stream.name}"
                )
        new = {topic: KnownTopic(ids[topic], batch_id) for topic in ids.keys() - known.keys()}
        if new:
            save_topics(self._ids_file, {**known, **new})

    def _asked(self) -> BrokerAdmin:
        # A batch asks, and so does the thread that looks after streams.
        with self._asking:
            if self._admin is None:
                self._admin = BrokerAdmin(self._spark, self._properties)
            return self._admin


def _cleaned(path: str, source: FileSource) -> None:
    # Both without the file:// of a URL.
    file, root = Path(opened(path)[1]), folder_of(source)
    if not file.is_relative_to(root):
        # It left quarantine, and is not the producer's.
        return
    try:
        if source.clean_source is CleanSource.DELETE:
            file.unlink(missing_ok=True)
        elif source.move_destination and file.exists():
            target = Path(settings.located(source.move_destination), file.relative_to(root))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, target)
    except OSError as error:
        log.warning("%s has landed but cannot be cleaned up: %s", path, error.strerror)
