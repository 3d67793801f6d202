"""Questions to a Kafka broker, through the client that Spark has loaded: the same properties
that Spark's reader takes are right for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from ingest.declarations.stream import KafkaSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Offsets by topic and partition, as Structured Streaming's checkpoint has them.
Offsets = Mapping[str, Mapping[str, int]]


class BrokerAdmin:
    """One connection. What goes wrong is py4j's error of Kafka's exception."""

    def __init__(self, spark: SparkSession, properties: Mapping[str, str]) -> None:
        jvm: Any = spark._jvm
        self._jvm, self._kafka = jvm, jvm.org.apache.kafka
        # Found once: each look at a package asks the class loader for every part of its name.
        self._partition_of = self._kafka.common.TopicPartition
        self._noted = self._kafka.clients.consumer.OffsetAndMetadata
        self._earliest = self._kafka.clients.admin.OffsetSpec.earliest()
        self._latest = self._kafka.clients.admin.OffsetSpec.latest()
        self._given = properties
        level = properties.get("isolation.level", "read_uncommitted").upper()
        self._visible = self._kafka.clients.admin.ListOffsetsOptions(
            self._kafka.common.IsolationLevel.valueOf(level)
        )
        self._admin = self._kafka.clients.admin.Admin.create(self._properties())

    def topic_ids(self, topics: Iterable[str]) -> Mapping[str, str]:
        """Identity of a topic: one that is created again under its name has another.

        Of those that are there.
        """
        described = self._admin.describeTopics(list(topics)).topicNameValues()
        found = {}
        for name in described:
            try:
                found[name] = described[name].get().topicId().toString()
            except Py4JJavaError as error:
                if "UnknownTopicOrPartitionException" not in str(error.java_exception):
                    raise
        return found

    def earliest(self, source: KafkaSource) -> Offsets:
        """The first offset that each partition of the source's topics still has.

        Of several topics, those that are there.
        """
        topics = list(source.topics)
        if source.topic_pattern or len(topics) > 1:
            there = set(self._admin.listTopics().names().get())
            pattern = self._jvm.java.util.regex.Pattern.compile(source.topic_pattern or "")
            topics = [
                name for name in topics or there if name in there and pattern.matcher(name).find()
            ]
        described = self._admin.describeTopics(topics).allTopicNames().get()
        return self.first(
            {
                name: {str(one.partition()): 0 for one in described[name].partitions()}
                for name in described
            }
        )

    def first(self, offsets: Offsets) -> Offsets:
        """The first offset that each of the same partitions still has."""
        return self._offsets(offsets, self._earliest)

    def latest(self, offsets: Offsets) -> Offsets:
        """The offsets that come next in the same partitions, as far as messages may be read."""
        return self._offsets(offsets, self._latest)

    def behind(self, offsets: Offsets) -> int:
        """Messages that the partitions hold from these offsets on."""
        ends = self.latest(offsets)
        return sum(max(0, ends[topic][n] - offset) for (topic, n), offset in _each(offsets))

    def commit(self, group: str, offsets: Offsets) -> None:
        """Note offsets as those of a consumer group, as tools that watch lag expect it."""
        marks = {self._partition(*place): self._noted(offset) for place, offset in _each(offsets)}
        self._admin.alterConsumerGroupOffsets(group, marks).all().get()

    def make_topics(self, topics: Iterable[str]) -> None:
        """Make those topics that are not there, of one partition each."""
        optional = self._jvm.java.util.Optional.empty()
        there = set(self._admin.listTopics().names().get())
        new = [
            self._kafka.clients.admin.NewTopic(topic, self._jvm.java.util.Optional.of(1), optional)
            for topic in topics
            if topic not in there
        ]
        for made in self._admin.createTopics(new).values().values() if new else ():
            try:
                made.get()
            except Py4JJavaError as error:
                # Somebody else was faster.
                if "TopicExistsException" not in str(error.java_exception):
                    raise

    def send(self, messages: Iterable[tuple[str, str | None, bytes]]) -> None:
        """Write messages, each (topic, key, value), and wait until the broker has them."""
        settings = self._properties()
        for which, kind in (("key", "String"), ("value", "ByteArray")):
            name = f"org.apache.kafka.common.serialization.{kind}Serializer"
            settings.setProperty(f"{which}.serializer", name)
        producer = self._kafka.clients.producer.KafkaProducer(settings)
        try:
            for message in messages:
                producer.send(self._kafka.clients.producer.ProducerRecord(*message)).get()
        finally:
            producer.close()

    def close(self) -> None:
        """Disconnect."""
        self._admin.close()

    def _offsets(self, places: Offsets, which: Any) -> Offsets:
        asked = {self._partition(*place): which for place, _ in _each(places)}
        found = self._admin.listOffsets(asked, self._visible).all().get()
        return {
            topic: {n: found[self._partition(topic, n)].offset() for n in partitions}
            for topic, partitions in places.items()
        }

    def _properties(self) -> Any:
        settings = self._jvm.java.util.Properties()
        for name, value in self._given.items():
            settings.setProperty(name, value)
        return settings

    def _partition(self, topic: str, number: str | int) -> Any:
        return self._partition_of(topic, int(number))


@dataclass(frozen=True, slots=True)
class BrokerOnRequest:
    """Connects for each request, so that whoever ends meanwhile takes no connection away.

    For those who ask seldom, in a thread of their own.
    """

    spark: SparkSession
    properties: Mapping[str, str]

    def make_topics(self, topics: Iterable[str]) -> None:
        """See BrokerAdmin."""
        with closing(BrokerAdmin(self.spark, self.properties)) as admin:
            admin.make_topics(topics)

    def send(self, messages: Iterable[tuple[str, str | None, bytes]]) -> None:
        """See BrokerAdmin."""
        with closing(BrokerAdmin(self.spark, self.properties)) as admin:
            admin.send(messages)


def _each(offsets: Offsets) -> list[tuple[tuple[str, str], int]]:
    return [
        ((topic, number), offset)
        for topic, partitions in offsets.items()
        for number, offset in partitions.items()
    ]
