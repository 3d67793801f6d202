"""Source of a stream of Kafka: topics, each partition read from where the last batch ended."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.sql import types as T

from ingest.client_properties import kafka_properties
from ingest.declarations.stream import KafkaSource, Stream
from ingest.errors import DataLost, HeadwaterError, TopicMissing
from ingest.schemas.datetimes import is_in_range
from ingest.sources import data_loss
from ingest.sources.known_topics import KnownTopic, Recovered, known_topics, save_topics
from ingest.sources.planned_batches import pattern, planned
from ingest.sources.query_checkpoint import checkpoint_of
from ingest.sources.stream_source import MessageBatch
from ingest.spark.kafka_admin import BrokerAdmin, Offsets
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

# A producer that counts microseconds instead of milliseconds is thousands of years ahead.
_IS_SHOWN = is_in_range(T.TimestampType(), "timestamp")
# SQL of provenance and bytes, on what Spark reads of a topic.
COLUMN_EXPRESSIONS = (
    *("topic as _source", "partition as _partition", "offset as _offset", "key as _key"),
    *("headers as _headers", f"if({_IS_SHOWN}, timestamp, null) as _timestamp", "value"),
)
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


def reader_properties(lake: Lake) -> Mapping[str, str]:
    """Properties of the client that reads topics. Raises ServersUnknown."""
    return {**_DEFAULTS, **kafka_properties(lake)}


class KafkaStreamSource:
    """See StreamSource: messages of topics, each from where its partition was left."""

    def __init__(
        self, spark: SparkSession, lake: Lake, stream: Stream, source: KafkaSource
    ) -> None:
        self._spark, self._lake, self._stream, self._source = spark, lake, stream, source
        self._checkpoint = checkpoint_of(lake, stream.table)
        self._recovered = Recovered.read(lake, stream.table)
        self._properties = reader_properties(lake)
        self._admin: BrokerAdmin | None = None
        self._asking = threading.Lock()
        self._acknowledged, self._quiet_until = -1, 0.0

    @property
    def look_every(self) -> float:
        """See StreamSource."""
        return 1.0

    def discover(self) -> int:
        """See StreamSource: Spark asks the broker itself, and landed messages cannot change."""
        return 0

    def plan(self, *, at_once: bool) -> bool:
        """See StreamSource: batches of topics in order are, where much waits."""
        checkpoint, is_ordered = self._checkpoint, self._source.is_ordered
        begun = checkpoint.offsets()
        if checkpoint.is_unfinished:
            return is_ordered or at_once
        if at_once and begun:
            self._begin(checkpoint.newest_committed + 1, begun)
            return True
        return is_ordered and self._has_planned(checkpoint.newest_committed)

    def plan_next(self, batch: int) -> bool:
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
        starts = self._checkpoint.offsets(batch) or self._first_offsets(earliest, latest)
        ends = planned(source.topics, starts, earliest, latest, source.max_offsets_per_trigger)
        if ends is None:
            return False
        if batch < 0 and not self._recovered:
            # The planned batch must begin where Spark does, whatever comes meanwhile.
            self._recovered = Recovered(starting_offsets=starts)
            self._recovered.save(self._lake, self._stream.table)
        self._begin(batch + 1, ends)
        return True

    def _begin(self, batch: int, ends: Offsets) -> None:
        partitions = self._spark.conf.get("spark.sql.shuffle.partitions")
        self._checkpoint.plan(batch, ends, int(partitions or 0))

    def _first_offsets(self, earliest: Offsets, latest: Offsets) -> Offsets:
        if self._recovered:
            return self._recovered.starting_offsets
        return earliest if self._source.starting_offsets == "earliest" else latest

    def stream(self) -> DataFrame:
        """See StreamSource."""
        source = self._source
        reader = (
            self._spark.readStream.format("kafka")
            .options(**{f"kafka.{name}": value for name, value in self._properties.items()})
            .option("startingOffsets", self._starting_offsets())
            .option("includeHeaders", "true")
            .option("failOnDataLoss", "true")
        )
        if source.is_ordered:
            # Without a limit, which Spark would share among all: see `plan_next`.
            reader = reader.option("subscribePattern", pattern(source.topics))
        else:
            reader = reader.option("maxOffsetsPerTrigger", source.max_offsets_per_trigger)
            which = "subscribePattern" if source.topic_pattern else "subscribe"
            reader = reader.option(which, source.topic_pattern or source.topics[0])
        return reader.load().selectExpr(*COLUMN_EXPRESSIONS)

    def read_batch(self, rows: DataFrame, batch: int, batch_id: int) -> MessageBatch:
        """See StreamSource. Raises DataLost where a topic is not the one that was read before."""
        offsets = self._checkpoint.offsets(batch) or {}
        self._check_topics(offsets, batch_id)
        # The broker has answered.
        self._quiet_until = 0.0
        return MessageBatch(self._in_few_tasks(self._unlanded(rows, batch), offsets, batch))

    def acknowledge(self) -> int | None:
        """See StreamSource: a consumer group has the offsets, for tools that watch it."""
        batch = self._checkpoint.newest_committed
        if time.monotonic() < self._quiet_until:
            return None
        offsets = self._checkpoint.offsets(batch) if batch >= 0 else None
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
            there = data_loss.found(self._asked(), begins, self._known_topics())
        except Py4JError as failure:
            log.debug("%s: what is gone is not known: %s", self._stream.name, failure)
            return error
        return data_loss.lost(self._stream.name, self._source, there) if there else error

    def close(self) -> None:
        """See StreamSource."""
        with self._asking:
            if self._admin:
                self._admin.close()
                self._admin = None

    def _begins(self) -> Offsets | None:
        """Where what has not landed begins; None for a stream that has landed nothing."""
        batch = self._checkpoint.newest_committed
        if batch >= 0:
            return self._checkpoint.offsets(batch)
        return self._recovered.starting_offsets if self._recovered else None

    def _starting_offsets(self) -> str:
        found = self._recovered
        return json.dumps(found.starting_offsets) if found else self._source.starting_offsets

    def _unlanded(self, arrived: DataFrame, batch: int) -> DataFrame:
        """A batch without what was landed of it before a recovery."""
        found = self._recovered
        if not found or not found.comes_again(self._checkpoint.offsets(batch - 1)):
            return arrived
        stream, place = self._stream, ["_source", "_partition", "_offset"]
        tables = (self._lake.bronze(one) for one in (stream.table, stream.quarantine_table))
        rows = [self._spark.read.format("delta").load(table) for table in tables]
        landed = [one.where(found.was_landed()).select(place) for one in rows]
        return arrived.join(landed[0].union(landed[1]), place, "left_anti").select(arrived.columns)

    def _in_few_tasks(self, messages: DataFrame, ends: Offsets, batch: int) -> DataFrame:
        """A batch in no more tasks than are worth it: each has a cost, and writes a file."""
        starts = self._checkpoint.offsets(batch - 1)
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
        ids, known = self._asked().topic_ids(offsets), self._known_topics()
        for topic in sorted(ids.keys() & known.keys()):
            if ids[topic] != known[topic].id:
                raise DataLost(
                    f"{self._stream.name}: topic {topic} was deleted and made again, with messages "
                    "that may not have landed; to land the new one from its beginning: "
                    f"ingest recover --select source:{self._stream.name}"
                )
        new = {topic: KnownTopic(ids[topic], batch_id) for topic in ids.keys() - known.keys()}
        if new:
            save_topics(self._lake, self._stream.table, {**known, **new})

    def _known_topics(self) -> Mapping[str, KnownTopic]:
        return known_topics(self._lake, self._stream.table)

    def _asked(self) -> BrokerAdmin:
        # A batch asks, and so does the thread that looks after streams.
        with self._asking:
            if self._admin is None:
                self._admin = BrokerAdmin(self._spark, self._properties)
            return self._admin
