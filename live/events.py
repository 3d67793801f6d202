"""What applications and trucks report, to Kafka: in Avro with CloudEvents' headers, and in JSON."""

from __future__ import annotations

import io
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import fastavro
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

TOPICS = {"live.events": 3, "live.page_views": 3, "live.positions": 5}
_AT = {"type": "long", "logicalType": "timestamp-millis"}
_SCHEMAS: dict[str, Any] = {
    "offer_made": [
        ("offer_id", "string"),
        ("vehicle_id", "long"),
        ("price", "double"),
        ("at", _AT),
    ],
    "vehicle_viewed": [("vehicle_id", "long"), ("referrer", ["null", "string"]), ("at", _AT)],
    "search_run": [("words", {"type": "array", "items": "string"}), ("hits", "int"), ("at", _AT)],
}
_PAGES = ("home", "search", "vehicle", "offer", "checkout")
# Events that are made between two looks at the clock.
_STEP = 100


@dataclass(slots=True)
class Applications:
    """Produce `rate` events a second in all; `acknowledged` are those that the broker has.

    `before` are those that an earlier play left there.
    """

    servers: str
    registry: Mapping[str, str]
    rate: float
    draw: random.Random
    before: Counter[str] = field(default_factory=Counter)
    acknowledged: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    _ids: dict[str, int] = field(default_factory=dict)
    _number: int = 0

    def open(self) -> None:
        """Make the topics, and agree on schemas."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        there = admin.list_topics(timeout=30).topics
        new = [NewTopic(name, count, 1) for name, count in TOPICS.items() if name not in there]
        for made in admin.create_topics(new).values() if new else ():
            made.result(30)
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": "live"})
        for name, count in TOPICS.items():
            for number in range(count) if name in there else ():
                place = TopicPartition(name, number)
                self.before[name] += consumer.get_watermark_offsets(place, timeout=30)[1]
        consumer.close()
        client = SchemaRegistryClient(dict(self.registry))
        for kind, schema in avro_schemas().items():
            text = json.dumps(schema)
            self._ids[kind] = client.register_schema(f"live.events-{kind}", Schema(text, "AVRO"))

    def work(self, closing: threading.Event) -> None:
        """Produce until closing time, and until all is acknowledged."""
        producer = Producer(
            {"bootstrap.servers": self.servers, "enable.idempotence": True, "linger.ms": 100}
        )
        parsed = {kind: fastavro.parse_schema(one) for kind, one in avro_schemas().items()}
        run, began, done = f"{time.time_ns():x}", time.monotonic(), 0
        while not closing.is_set():
            for _ in range(_STEP):
                self._produce(producer, run, parsed)
            done += _STEP
            producer.poll(0)
            closing.wait(max(0.0, began + done / self.rate - time.monotonic()))
        producer.flush(60)

    def _produce(self, producer: Producer, run: str, parsed: Mapping[str, Any]) -> None:
        self._number += 1
        at, chance = datetime.now(UTC), self.draw.random()
        if chance < 0.3:
            self._event(producer, f"{run}-{self._number}", at, parsed)
        elif chance < 0.6:
            key = f"{run}-{self._number}"
            view = {
                "view_id": key,
                "page": self.draw.choice(_PAGES),
                "duration_ms": self.draw.randrange(5_000),
                "viewed_at": at.isoformat(),
            }
            self._send(producer, "live.page_views", json.dumps(view).encode(), key)
        else:
            truck = f"truck-{self.draw.randrange(200)}"
            position = {
                "truck_id": truck,
                "latitude": round(self.draw.uniform(36, 60), 5),
                "longitude": round(self.draw.uniform(-9, 25), 5),
                "recorded_at": at.isoformat(),
            }
            self._send(producer, "live.positions", json.dumps(position).encode(), truck)

    def _event(self, producer: Producer, key: str, at: datetime, parsed: Mapping[str, Any]) -> None:
        kind = self.draw.choice(list(_SCHEMAS))
        value: dict[str, Any] = {"at": at, "vehicle_id": self.draw.randrange(1_000)}
        if kind == "offer_made":
            value |= {"offer_id": key, "price": self.draw.randrange(50_000) / 4}
        elif kind == "vehicle_viewed":
            value |= {"referrer": self.draw.choice((None, *_PAGES))}
        else:
            value |= {"words": ["red", "van"], "hits": self.draw.randrange(100)}
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, parsed[kind], value)
        framed = b"\0" + self._ids[kind].to_bytes(4, "big") + stream.getvalue()
        headers = {
            "ce_specversion": "1.0",
            "ce_id": key,
            "ce_source": "/marketplace/web",
            "ce_type": kind,
            "ce_time": at.isoformat(),
            "ce_schemaid": str(self._ids[kind]),
            "ce_schemaversion": "1",
        }
        self._send(producer, "live.events", framed, key, headers)

    def _send(
        self,
        producer: Producer,
        topic: str,
        value: bytes,
        key: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        produce: Callable[..., None] = producer.produce
        while True:
            try:
                produce(topic, value, key, headers=headers, on_delivery=self._told)
                return
            except BufferError:
                producer.poll(0.1)

    def _told(self, error: KafkaError | None, message: Message) -> None:
        topic = message.topic()
        if error is None and topic is not None:
            self.acknowledged[topic] += 1
        else:
            self.refused += 1


def avro_schemas() -> dict[str, dict[str, Any]]:
    """The schema of each type of event."""
    return {kind: _schema(kind) for kind in _SCHEMAS}


def _schema(kind: str) -> dict[str, Any]:
    fields = [{"name": name, "type": of} for name, of in _SCHEMAS[kind]]
    return {"type": "record", "name": kind, "namespace": "marketplace", "fields": fields}
