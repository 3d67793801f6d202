"""Requests of a stream of topics to its broker, also while its database is checked."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from ingest.connectors.postgres_connector import Broker
from ingest.declarations.databases import with_whole_databases
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Database, KafkaSource
from ingest.errors import HeadwaterError
from ingest.runtime import databases
from ingest.sources import data_loss, kafka_source
from ingest.sources.kafka_source import KafkaStreamSource
from ingest.sources.query_checkpoint import checkpoint_of
from ingest.spark import kafka_admin
from ingest.spark.kafka_admin import Offsets
from ingest.storage.layout import Lake
from tests.spark.workshop import node


class Connection:
    """A connection to a broker, which takes no request when it is closed."""

    def __init__(self, *_: object) -> None:
        self.is_closed = False

    def make_topics(self, topics: Iterable[str]) -> None:
        assert not self.is_closed
        list(topics)

    def earliest(self, source: KafkaSource) -> Offsets:
        return {topic: {"0": 0} for topic in source.topics}

    def latest(self, offsets: Offsets) -> Offsets:
        return {topic: {"0": 10} for topic in offsets}

    def close(self) -> None:
        self.is_closed = True


class SlowDatabase:
    """A database that is asked for first, and for so long that its stream ends meanwhile."""

    def __init__(self, *_: object) -> None:
        self.answers, self.told = threading.Event(), threading.Event()
        self.wrong: list[AssertionError] = []

    def make_topics(self, broker: Broker) -> None:
        broker.make_topics(["shop.public.orders"])

    def look(self, broker: Broker) -> Mapping[str, HeadwaterError]:
        self.answers.wait(60)
        try:
            self.make_topics(broker)
        except AssertionError as error:
            self.wrong.append(error)
        self.told.set()
        return {}


def test_a_look_at_a_database_keeps_its_broker_when_the_stream_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[SlowDatabase] = []

    def followed(lake: Lake, database: Database) -> SlowDatabase:
        made.append(SlowDatabase(lake, database))
        return made[0]

    for module in (kafka_source, kafka_admin):
        monkeypatch.setattr(module, "BrokerAdmin", Connection)
    monkeypatch.setattr(databases, "PostgresConnector", followed)
    monkeypatch.setattr(kafka_source, "kafka_properties", lambda _: {})
    declared: dict[str, Any] = {"from": "postgres", "key": ["id"]}
    [stream], problems = with_whole_databases([read_stream(node("shop.orders", declared))])
    assert not problems
    assert isinstance(stream.source, KafkaSource)
    spark, lake = MagicMock(), Lake(str(tmp_path))
    ending = KafkaStreamSource(spark, lake, stream, stream.source)
    watch = databases.watch_of(spark, lake, stream)
    assert watch
    watch.begin()
    ending.stream()
    ending.close()
    made[0].answers.set()
    assert made[0].told.wait(60)
    assert made[0].wrong == []


@pytest.mark.parametrize(
    ("topics", "most", "planned"),
    [
        # Nine wait in the one, ten in the other.
        (["old", "new"], 12, {"old": {"0": 10}, "new": {"0": 3}}),
        (["old", "new"], 19, None),
        # Spark keeps the limit of a single topic.
        ("old", 5, None),
    ],
)
def test_behind_a_batch_of_topics_in_order_the_next_one_is_planned_where_too_much_waits(
    topics: Any, most: int, planned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_source, "BrokerAdmin", Connection)
    monkeypatch.setattr(kafka_source, "kafka_properties", lambda _: {})
    declared = {"from": "kafka", "topic": topics, "format": "json", "max_offsets_per_trigger": most}
    stream, lake = read_stream(node("test.surge", declared)), Lake(str(tmp_path))
    assert isinstance(stream.source, KafkaSource)
    checkpoint = checkpoint_of(lake, stream.table)
    checkpoint.plan(4, {"old": {"0": 1}}, 2)
    spark = MagicMock()
    spark.conf.get.return_value = "2"
    running = KafkaStreamSource(spark, lake, stream, stream.source)
    assert running.plan_next(4) == (planned is not None)
    assert checkpoint.offsets(5) == planned


def test_an_error_names_some_of_many_partitions_that_lost_messages() -> None:
    found = [data_loss.DataLoss("orders", number, 1, 2, data_loss.REMOVED) for number in range(7)]
    told = str(data_loss.lost("shop.orders", KafkaSource(topics=("orders",)), found))
    assert "orders, partition 4: offsets 1 to 2 were removed before they landed" in told
    assert "partition 5" not in told
    assert told.endswith(
        "; 2 partitions more. To go on from what there is: "
        "ingest recover --select source:shop.orders"
    )
