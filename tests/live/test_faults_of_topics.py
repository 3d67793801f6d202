"""What goes wrong with a broker, its topics and their messages: nothing is lost in silence."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from itertools import groupby
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource

from ingest.errors import DataLost
from ingest.landing import batch
from ingest.runtime import progress
from ingest.runtime.progress import StreamProgress, read_totals, save_totals
from ingest.runtime.recovery_files import recover_stream
from ingest.storage.layout import Lake
from tests.live.topics import Topics
from tests.waiting import wait_until

JSON_SUITE = Path(__file__).parent.parent / "data" / "json-test-suite"
# Each message is compacted as soon as another one comes behind its successor.
COMPACTED = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0.01"}


def totals(topics: Topics, name: str) -> StreamProgress:
    return read_totals(topics.lake, f"test.{name}", f"test__{name}")


def test_a_stream_waits_for_a_broker_that_was_killed_and_misses_nothing(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kafka.properties"
    patience = "default.api.timeout.ms=2000\nrequest.timeout.ms=1500\n"
    file.write_text(f"bootstrap.servers={topics.address}\n{patience}")
    monkeypatch.setenv("HEADWATER_KAFKA_PROPERTIES", str(file))
    monkeypatch.setattr("ingest.runtime.retries._MOST", 1.0)
    saved: list[StreamProgress] = []
    is_back, is_behind = threading.Event(), threading.Event()

    def save(lake: Lake, told: StreamProgress) -> None:
        saved.append(told)
        if told.lag:
            is_behind.set()
        save_totals(lake, told)

    def failpoint(_: str) -> None:
        if is_back.is_set():
            is_behind.wait(30)

    monkeypatch.setattr(progress, "save_totals", save)
    monkeypatch.setattr(batch, "failpoint", failpoint)
    topics.make("killed")
    topics.subscribe("killed", {"id": "bigint"}, max_offsets_per_trigger=3)
    topics.send("killed", [{"id": 0}])
    topics.land("killed")
    saved.clear()
    assert topics.stack
    with topics.running("killed") as told:
        wait_until(lambda: totals(topics, "killed").state == "running")
        (broker,) = (part for part in topics.stack.status() if part.service == "kafka")
        assert broker.pid
        os.kill(broker.pid, signal.SIGKILL)
        try:
            wait_until(lambda: totals(topics, "killed").state == "waiting")
            assert "Kafka does not answer" in str(totals(topics, "killed").error)
        finally:
            topics.stack.up(lambda _: None, only=["kafka"])
        wait_until(lambda: totals(topics, "killed").state == "running")
        is_back.set()
        topics.send("killed", [{"id": number} for number in range(1, 9)])
        wait_until(lambda: totals(topics, "killed").landed == 9)
        wait_until(lambda: totals(topics, "killed").lag == 0)
    assert told.result() == []
    assert topics.values("killed", "id") == [*range(9)]
    states = [state for state, _ in groupby(one.state for one in saved)]
    assert states[-4:] == ["running", "waiting", "running", "stopped"]
    assert max(one.lag or 0 for one in saved) > 0


@pytest.mark.long
def test_a_topic_that_is_deleted_stops_its_stream_or_has_it_wait(topics: Topics) -> None:
    topics.make("deleted")
    topics.subscribe("deleted", {"id": "bigint"})
    topics.send("deleted", [{"id": 0}, {"id": 1}])
    topics.land("deleted")
    with topics.running("deleted") as told:
        wait_until(lambda: totals(topics, "deleted").state == "running")
        topics.remove("deleted")
        (error,) = told.result(60)
    assert isinstance(error, DataLost)
    assert str(error) == (
        "test.deleted: deleted, partition 0: the topic was deleted, and offsets from 2 on went "
        "with it, if there were any. To go on from what there is: make it again; then, "
        "ingest recover --select source:test.deleted"
    )
    assert totals(topics, "deleted").state == "failed"
    topics.subscribe("deleted", {"id": "bigint"}, on_data_loss="continue")
    with topics.running("deleted") as told:
        wait_until(lambda: "does not have its topic" in str(totals(topics, "deleted").error))
        assert totals(topics, "deleted").state == "waiting"
        topics.make("deleted")
        topics.send("deleted", [{"id": 2}])
        wait_until(lambda: totals(topics, "deleted").landed == 3)
    assert told.result() == []
    assert topics.gaps("deleted") == [("deleted", 0, 2, None, "remade")]


@pytest.fixture
def compaction(topics: Topics) -> None:
    """A broker that compacts at once, not within a quarter of a minute.

    It stays so, as each change starts what compacts anew. With a buffer as large as it was, of
    which there are two for a moment, that can have no memory left.
    """
    told = {"log.cleaner.backoff.ms": "100", "log.cleaner.dedupe.buffer.size": "4194304"}
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in told.items()
    ]
    broker = ConfigResource("broker", "1", incremental_configs=entries)
    for future in topics.admin.incremental_alter_configs([broker]).values():
        future.result(30)


def offsets(topics: Topics, topic: str) -> list[int]:
    """Those of the messages that a topic has."""
    reader = topics.spark.read.format("kafka").option("subscribe", topic)
    there = reader.option("kafka.bootstrap.servers", topics.address).load()
    return sorted(row.offset for row in there.select("offset").collect())


def put(topics: Topics, topic: str, key: bytes, **value: int) -> None:
    topics.send(topic, [value], key=key)


@pytest.mark.long
@pytest.mark.usefixtures("compaction")
def test_what_compaction_removed_is_no_gap_also_where_the_checkpoint_is_lost(
    topics: Topics,
) -> None:
    topics.make("compacted", config=COMPACTED)
    stream = topics.subscribe("compacted", {"id": "bigint", "v": "bigint"})
    put(topics, "compacted", b"a", id=1, v=1)
    put(topics, "compacted", b"b", id=2, v=1)
    topics.land("compacted")
    for version in (2, 3):
        put(topics, "compacted", b"a", id=1, v=version)
    put(topics, "compacted", b"b", id=2, v=2)
    wait_until(lambda: offsets(topics, "compacted") == [1, 3, 4])
    topics.land("compacted")
    assert topics.rows("compacted", "id", "v") == [(1, 1), (1, 3), (2, 1), (2, 2)]
    # Of the newest batch, which is looked at again, some is gone.
    put(topics, "compacted", b"a", id=1, v=4)
    put(topics, "compacted", b"c", id=3, v=1)
    wait_until(lambda: offsets(topics, "compacted") == [4, 5, 6])
    shutil.rmtree(topics.lake.url(topics.lake.checkpoint(stream.table)))
    recover_stream(topics.spark, topics.lake, stream)
    topics.land("compacted")
    found = topics.rows("compacted", "id", "v")
    assert found == [(1, 1), (1, 3), (1, 4), (2, 1), (2, 2), (3, 1)]
    assert topics.gaps("compacted") == []


@pytest.mark.usefixtures("compaction")
def test_a_message_that_is_compacted_before_it_is_read_again_is_not_missed(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.make("thinned", config=COMPACTED)
    topics.subscribe("thinned", {"id": "bigint"})
    put(topics, "thinned", b"a", id=1)
    topics.land("thinned")
    put(topics, "thinned", b"a", id=2, new=1)
    put(topics, "thinned", b"b", id=3)
    later = [(b"a", 4), (b"c", 5)]

    def failpoint(step: str) -> None:
        if step == "after_first_write" and later:
            while later:
                key, number = later.pop(0)
                put(topics, "thinned", key, id=number)
            wait_until(lambda: offsets(topics, "thinned") == [2, 3, 4])

    monkeypatch.setattr(batch, "failpoint", failpoint)
    topics.land("thinned")
    topics.land("thinned")
    assert topics.values("thinned", "id") == [1, 3, 4, 5]
    told = totals(topics, "thinned")
    assert (told.records, told.landed, told.quarantined) == (4, 4, 0)


def test_poison_of_a_json_topic_is_in_quarantine_byte_for_byte_and_its_neighbours_land(
    topics: Topics,
) -> None:
    suite = {path.name: path.read_bytes() for path in sorted(JSON_SUITE.glob("*.json"))}
    large = b'{"id": 3, "text": "' + b"x" * 9_000_000 + b'"}'
    poison = [*suite.values(), b"[" * 100_000, b'{"id": "\xff"}', b""]
    sent = [b'{"id": 1}', *poison, None, large, b'{"id": 2}']
    topics.make("json.poison")
    topics.subscribe("json_poison", {"id": "bigint"}, topic="json.poison")
    producer = Producer({"bootstrap.servers": topics.address, "message.max.bytes": 10_000_000})
    for value in sent:
        producer.produce("json.poison", value=value)
    assert producer.flush(30) == 0
    topics.land("json_poison")
    batches = {one // 2 for one in topics.values("json_poison", "_batch_id")}
    assert batches == {0}
    landed: dict[int, int | None] = dict(topics.rows("json_poison", "_offset", "id"))
    refused: dict[int, bytearray] = dict(topics.rows("json_poison__quarantine", "_offset", "_raw"))
    assert sorted([*landed, *refused]) == [*range(len(sent))]
    assert {offset: bytes(raw) for offset, raw in refused.items()} == {
        offset: sent[offset] for offset in refused
    }
    wrong = [number + 1 for number, name in enumerate(suite) if name.startswith("n_")]
    assert refused.keys() >= {*wrong, *range(len(suite) + 1, len(poison) + 1)}
    end = len(sent)
    assert [landed[offset] for offset in (0, end - 3, end - 2, end - 1)] == [1, None, 3, 2]
