"""Produce messages, and land them as `ingest run` does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from tests.spark.workshop import Columns, Workshop, node


@dataclass(slots=True)
class Topics(Workshop):
    """A workshop whose streams are topics; `address` is the broker's."""

    address: str = ""
    # How to reach PostgreSQL, in words of libpq, and the REST API of Kafka Connect.
    database: str = ""
    connect: str = ""
    # What makes and removes topics; its answers come only as long as it is there.
    admin: AdminClient = field(init=False)

    def __post_init__(self) -> None:
        self.admin = AdminClient({"bootstrap.servers": self.address})

    def subscribe(self, name: str, columns: Columns | None = None, **ingest: Any) -> Stream:
        """Declare `test.<name>`, of the topic of that name unless another is given."""
        source = {} if "topic_pattern" in ingest else {"topic": name}
        declared = {"from": "kafka", "format": "json", **source, **ingest}
        stream = read_stream(node(f"test.{name}", declared, columns))
        self._streams[name] = stream
        return stream

    def make(self, topic: str, partitions: int = 1) -> None:
        """Make a topic."""
        self._done(self.admin.create_topics([NewTopic(topic, partitions, 1)]))

    def remove(self, topic: str) -> None:
        """Delete a topic."""
        self._done(self.admin.delete_topics([topic]))

    def widen(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        self._done(self.admin.create_partitions([NewPartitions(topic, partitions)]))

    def expire(self, topic: str, before: int) -> None:
        """Remove the messages of partition 0 before an offset, as retention does."""
        self._done(self.admin.delete_records([TopicPartition(topic, 0, before)]))

    def send(
        self, topic: str, messages: Iterable[Any], key: bytes | None = None, **more: Any
    ) -> None:
        """Produce messages: bytes and None as they are, all else as JSON."""
        producer = Producer({"bootstrap.servers": self.address})
        for one in messages:
            value = one if isinstance(one, bytes | None) else json.dumps(one).encode()
            producer.produce(topic, value=value, key=key, **more)
        assert producer.flush(30) == 0

    def post(self, path: str, value: Any) -> None:
        """Ask Kafka Connect for something."""
        connection = HTTPConnection(self.connect, timeout=60)
        connection.request(
            "POST", path, json.dumps(value), headers={"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        assert answer.status < 300, answer.read()
        connection.close()

    def _done(self, asked: Mapping[Any, Future[Any]]) -> None:
        for future in asked.values():
            future.result(30)
