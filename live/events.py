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
_KINDS = tuple(_SCHEMAS)
_PAGES = ("home", "search", "vehicle", "offer", "checkout")
_REFERRERS = (None, *_PAGES)
# Events that are made between two looks at the clock.
_STEP = 100
# One of so many events has its time in words that only Spark reads, where such are asked for.
_ODD = 500


@dataclass(slots=True)
class Applications:
    """Produce `rate` events a second in all; `acknowledged` are those that the broker has.

    `before` are those that an earlier play left there. What is acknowledged is known when the
    work has ended. It is short work, because it shares the cores with what it is there to show.
    `has_odd`: some views tell their time in an unusual way, so that batches need a second write.
    """

    servers: str
    registry: Mapping[str, str]
    rate: float
    draw: random.Random
    has_odd: bool = False
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
            {
                "bootstrap.servers": self.servers,
                "enable.idempotence": True,
                "linger.ms": 100,
                "delivery.report.only.error": True,
                # A broker that has just been started is waited for, and one that was killed is told
                # of by name: it would say so line after line.
                "log_level": 2,
            }
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
        # What the broker has not acknowledged by now is refused, too.
        producer.purge()
        producer.flush(1)

    def _produce(self, producer: Producer, run: str, parsed: Mapping[str, Any]) -> None:
        self._number += 1
        draw = self.draw.random
        at, chance, key = datetime.now(UTC), draw(), f"{run}-{self._number}"
        if chance < 0.3:
            self._event(producer, key, at, parsed)
        elif chance < 0.6:
            is_odd = self.has_odd and self._number % _ODD == 0
            viewed_at = f"{at:%Y-%m-%dT%H:%M:%S.%f} UTC" if is_odd else at.isoformat()
            view = (
                f'{{"view_id": "{key}", "page": "{_PAGES[int(draw() * len(_PAGES))]}", '
                f'"duration_ms": {int(draw() * 5_000)}, "viewed_at": "{viewed_at}"}}'
            )
            self._send(producer, "live.page_views", view, key)
        else:
            truck = f"truck-{int(draw() * 200)}"
            position = (
                f'{{"truck_id": "{truck}", "latitude": {36 + draw() * 24:.5f}, '
                f'"longitude": {-9 + draw() * 34:.5f}, "recorded_at": "{at.isoformat()}"}}'
            )
            self._send(producer, "live.positions", position, truck)

    def _event(self, producer: Producer, key: str, at: datetime, parsed: Mapping[str, Any]) -> None:
        draw = self.draw.random
        kind = _KINDS[int(draw() * len(_KINDS))]
        value: dict[str, Any] = {"at": at, "vehicle_id": int(draw() * 1_000)}
        if kind == "offer_made":
            value |= {"offer_id": key, "price": int(draw() * 50_000) / 4}
        elif kind == "vehicle_viewed":
            value["referrer"] = _REFERRERS[int(draw() * len(_REFERRERS))]
        else:
            value |= {"words": ["red", "van"], "hits": int(draw() * 100)}
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
        value: bytes | str,
        key: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        produce: Callable[..., None] = producer.produce
        # Of what arrives nothing is told.
        self.acknowledged[topic] += 1
        while True:
            try:
                produce(topic, value, key, headers=headers, on_delivery=self._refused)
                return
            except BufferError:
                producer.poll(0.1)

    def _refused(self, _: KafkaError | None, message: Message) -> None:
        self.acknowledged[message.topic() or ""] -= 1
        self.refused += 1


def avro_schemas() -> dict[str, dict[str, Any]]:
    """The schema of each type of event."""
    return {kind: _schema(kind) for kind in _SCHEMAS}


def _schema(kind: str) -> dict[str, Any]:
    fields = [{"name": name, "type": of} for name, of in _SCHEMAS[kind]]
    return {"type": "record", "name": kind, "namespace": "marketplace", "fields": fields}
