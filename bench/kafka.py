"""Messages of a topic to bronze, beside plain Spark that reads the same topic.

By hand: Structured Streaming from the topic to a Delta table, as bytes, or by `from_json` or
`from_avro` with the schema known beforehand; place, key, headers and time are kept. Same session,
codec and batches; both go on behind a hundredth of the messages, which each has landed before, so
both find their table there; the ways take turns, and medians count.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fastavro
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from bench.landing import landing_query
from bench.report import Ratio
from ingest.client_properties import kafka_properties, schema_registry_properties
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.sources.kafka_source import COLUMN_EXPRESSIONS
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake

_PARTITIONS = 4
_TOPICS = {"bytes": "bench", "json": "bench", "avro": "bench-avro"}
_PROMISED = {"bytes": 0.9, "json": 0.8, "avro": 0.8}
# So long a note makes a message of some 400 bytes.
_NOTE = {"bench": 160, "bench-avro": 330}
_SCHEMA = (
    "id bigint, customer_id bigint, amount double, currency string, paid boolean, "
    "at string, note string, lines array<struct<sku: string, count: bigint>>"
)
_LINE = {"type": "record", "name": "Line", "fields": [
    {"name": "sku", "type": "string"}, {"name": "count", "type": "long"},
]}  # fmt: skip
_AVRO = {"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "long"}, {"name": "customer_id", "type": "long"},
    {"name": "amount", "type": "double"}, {"name": "currency", "type": "string"},
    {"name": "paid", "type": "boolean"}, {"name": "at", "type": "string"},
    {"name": "note", "type": "string"},
    {"name": "lines", "type": {"type": "array", "items": _LINE}},
]}  # fmt: skip
_BATCH = 500_000


def measure(spark: SparkSession, work: Path, events: int, rounds: int) -> list[Ratio]:
    """Median seconds of each way: bytes first, by hand before ours."""
    lake = Lake(str(work / "kafka"))
    stack = Stack(lake)
    stack.up(lambda _: None, only=["kafka", "postgres", "registry"])
    encoders = {"bench": _as_json, "bench-avro": _as_avro(lake)}
    try:
        for topic, encoded in encoders.items():
            _produce(stack.address("kafka"), topic, events // 100, encoded)
        ways = [_Way(spark, lake, kind, name) for kind in _TOPICS for name in _LAND]
        for way in ways:
            way.begin()
        for topic, encoded in encoders.items():
            _produce(stack.address("kafka"), topic, events, encoded)
        return _compared(ways, events, rounds)
    finally:
        stack.down(lambda _: None)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to land the messages of one kind."""

    spark: SparkSession
    lake: Lake
    kind: str
    name: str

    def begin(self) -> None:
        """Land what is there, to go on from."""
        _know_the_broker(self.lake, self._before)
        self._land(self._before)

    def seconds(self, events: int) -> float:
        """How long it takes to go on to the end, where so many messages are then."""
        folder = self._before.with_name("kafka-landed")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._before, folder)
        began = time.perf_counter()
        self._land(folder)
        seconds = time.perf_counter() - began
        table = folder / "bronze" / _stream(self.kind).table
        count = self.spark.read.format("delta").load(str(table)).count()
        if count != events:
            raise RuntimeError(f"{self.name}, {self.kind}: {count} of {events} messages")
        return seconds

    @property
    def _before(self) -> Path:
        return Path(self.lake.root).parent / f"kafka-before-{self.name}-{self.kind}"

    def _land(self, folder: Path) -> None:
        _LAND[self.name](self.spark, self.lake, self.kind, folder)


def _compared(ways: Sequence[_Way], events: int, rounds: int) -> list[Ratio]:
    seconds: dict[tuple[str, str], list[float]] = {(way.kind, way.name): [] for way in ways}
    for number in range(rounds + 1):
        for way in ways:
            took = way.seconds(events + events // 100)
            # The first round warms up.
            if number:
                seconds[way.kind, way.name].append(took)
    return [
        Ratio(
            f"{events:,} messages to bronze, {kind}: {name}",
            statistics.median(times),
            statistics.median(seconds[kind, _BY_HAND]),
            None if name == _BY_HAND else _PROMISED[kind],
        )
        for (kind, name), times in seconds.items()
    ]


def _by_hand(spark: SparkSession, lake: Lake, kind: str, folder: Path) -> None:
    messages = (
        spark.readStream.format("kafka")
        .options(**{f"kafka.{name}": value for name, value in kafka_properties(lake).items()})
        .option("subscribe", _TOPICS[kind])
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .option("maxOffsetsPerTrigger", _BATCH)
        .load()
        .selectExpr(*COLUMN_EXPRESSIONS)
    )
    if kind != "bytes":
        parsed = (
            F.from_json(F.expr("cast(value as string)"), _SCHEMA)
            if kind == "json"
            else from_avro(F.expr("substring(value, 6)"), json.dumps(_AVRO))
        )
        messages = messages.withColumn("row", parsed).select("*", "row.*").drop("value", "row")
    (
        messages.writeStream.format("delta")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(folder / "bronze" / _stream(kind).table))
        .awaitTermination()
    )


def _by_ingest(spark: SparkSession, _: Lake, kind: str, folder: Path) -> None:
    landing_query(spark, _stream(kind), str(folder))


_BY_HAND = "by hand"
_LAND: Mapping[str, Callable[[SparkSession, Lake, str, Path], None]] = {
    _BY_HAND: _by_hand,
    "ingest": _by_ingest,
}


def _stream(kind: str) -> Stream:
    declared = {"from": "kafka", "topic": _TOPICS[kind], "format": kind}
    return read_stream(
        {
            "unique_id": f"source.headwater.bench.{kind}",
            "original_file_path": "bench/kafka.py",
            "source_name": "bench",
            "name": kind,
            "identifier": f"bench__{kind}",
            "schema": "bronze",
            "config": {
                "meta": {"ingest": {**declared, "max_offsets_per_trigger": _BATCH}},
            },
            "columns": {},
        }
    )


def _know_the_broker(lake: Lake, folder: Path) -> None:
    """A fresh lake has no stack: it uses the one beside it."""
    known = lake.storage.read(lake.stack())
    fresh = Lake(str(folder))
    fresh.storage.put(fresh.stack(), known or b"{}")


def _as_json(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode()


def _as_avro(lake: Lake) -> Callable[[Mapping[str, Any]], bytes]:
    registry = SchemaRegistryClient(dict(schema_registry_properties(lake)))
    number = registry.register_schema("bench-avro-value", Schema(json.dumps(_AVRO), "AVRO"))
    schema, frame = fastavro.parse_schema(_AVRO), b"\0" + number.to_bytes(4, "big")

    def encoded(message: Mapping[str, Any]) -> bytes:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, message)
        return frame + stream.getvalue()

    return encoded


def _produce(
    address: str, topic: str, events: int, encoded: Callable[[Mapping[str, Any]], bytes]
) -> None:
    admin = AdminClient({"bootstrap.servers": address})
    if topic not in admin.list_topics(timeout=30).topics:
        for made in admin.create_topics([NewTopic(topic, _PARTITIONS, 1)]).values():
            made.result(30)
    producer = Producer({"bootstrap.servers": address, "linger.ms": 50, "batch.size": 1 << 20})
    draw = random.Random(events)
    for number in range(events):
        message = {
            "id": number,
            "customer_id": draw.randrange(100_000),
            "amount": round(draw.random() * 1000, 2),
            "currency": draw.choice(("EUR", "USD", "JPY")),
            "paid": draw.random() < 0.5,
            "at": f"2026-11-22T10:{draw.randrange(60):02}:{draw.randrange(60):02}Z",
            "note": "".join(draw.choices("abcdefghij klmnop", k=_NOTE[topic])),
            "lines": [{"sku": f"s{draw.randrange(999)}", "count": draw.randrange(9)}] * 2,
        }
        value = encoded(message)
        while True:
            try:
                producer.produce(topic, value=value, key=str(number % 1000))
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()
