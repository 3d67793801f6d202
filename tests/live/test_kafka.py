"""Streams of topics, on a real broker: each message once, in bronze or in quarantine."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, Producer, TopicPartition

from ingest.errors import BrokerUnreachable, CheckpointInvalid, DataLost
from ingest.event_types.event_type import Change
from ingest.runtime import requests
from ingest.runtime.progress import ProgressLog, read_totals
from ingest.runtime.recovery_files import recover_stream
from ingest.runtime.requests import Request
from ingest.runtime.stream_query import StreamQuery, Trigger
from tests.live.topics import PASSWORD, Topics
from tests.reference import properties
from tests.spark.test_checkpoints import commit, stop_at

# Of three that can be read, one needs a second look; then two that cannot be, and a tombstone.
MIXED = [{"id": 1}, {"id": 2}, {"id": 3, "new": {"a": [1]}}, b'{"id":', b"\xff", None]


def assert_mixed_is_there_once(topics: Topics, name: str) -> None:
    assert topics.values(name, "id") == [1, 2, 3, None]
    rejects = topics.rows(f"{name}__quarantine", "_offset", "_reason_code", "_raw")
    assert [tuple(row) for row in rejects] == [
        (3, "MALFORMED_JSON", bytearray(b'{"id":')),
        (4, "INVALID_UTF8", bytearray(b"\xff")),
    ]


def test_message_lands_with_all_broker_metadata(topics: Topics) -> None:
    topics.make("said", partitions=3)
    topics.subscribe("said", {"id": "bigint"})
    for partition in range(3):
        headers = [("trace", b"\x00\xff"), ("trace", None)]
        topics.send(
            "said",
            [{"id": partition}],
            key=b"k",
            partition=partition,
            headers=headers,
            timestamp=1_700_000_000_123,
        )
    topics.land("said")
    rows = topics.rows("said", "id", "_source", "_partition", "_offset", "_key", "_headers")
    assert [row.id for row in rows] == [row._partition for row in rows] == [0, 1, 2]
    for row in rows:
        assert (row._source, row._offset, row._key) == ("said", 0, bytearray(b"k"))
        assert [tuple(one) for one in row._headers] == [
            ("trace", bytearray(b"\x00\xff")),
            ("trace", None),
        ]
    assert topics.values("said", "unix_millis(_timestamp)") == [1_700_000_000_123] * 3


def test_unreadable_record_is_quarantined_with_its_position(
    topics: Topics,
) -> None:
    topics.make("mixed")
    topics.subscribe("mixed", {"id": "bigint"}, key=["id"])
    topics.send("mixed", MIXED, key=b"k", headers={"h": b"1"})
    topics.land("mixed")
    assert_mixed_is_there_once(topics, "mixed")
    reject = topics.rows("mixed__quarantine", "_source", "_partition", "_key", "_headers")[0]
    assert (reject._source, reject._partition, reject._key) == ("mixed", 0, bytearray(b"k"))
    assert [one.key for one in reject._headers] == ["h"]
    topics.send("mixed", [{"id": 4}, b"broken"])
    topics.land("mixed")
    assert topics.values("mixed", "id") == [1, 2, 3, 4, None]
    assert len(topics.rows("mixed__quarantine", "_offset")) == 3


def test_bytes_land_as_they_are(topics: Topics) -> None:
    topics.make("raw")
    topics.subscribe("raw", format="bytes")
    topics.send("raw", [b"\x00\xff", b"", None])
    topics.land("raw")
    assert topics.values("raw", "value") == [None, bytearray(b""), bytearray(b"\x00\xff")]


def test_event_types_are_distinguished(topics: Topics) -> None:
    topics.make("told")
    topics.subscribe("told", envelope="cloudevents")
    event = {"specversion": "1.0", "source": "/s", "time": "2026-11-22T10:00:00Z"}
    shapes = [("player.won", {"points": 3}), ("player.lost", {"to": "x", "at": "2026-11-01"})]
    topics.send(
        "told",
        [
            {**event, "id": str(n), "type": kind, "data": data}
            for n in (1, 2)
            for kind, data in shapes
        ],
    )
    topics.land("told")
    assert [row.points for row in topics.type_table("player.won").collect()] == [3, 3]
    lost = topics.type_table("player.lost")
    assert dict(lost.dtypes)["at"] == "date"
    assert lost.where("`to` = 'x'").count() == 2


@pytest.mark.long
def test_an_event_of_a_topic_leaves_quarantine_by_a_decision(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.make("decided")
    stream = topics.subscribe(
        "decided", envelope="cloudevents", on_incompatible_change="quarantine"
    )
    event = {"specversion": "1.0", "source": "/s", "type": "topic.decided"}
    for number, value in ((1, 1), (2, "x")):
        topics.send("decided", [{**event, "id": str(number), "data": {"a": value}}])
        topics.land("decided")
    assert topics.values("decided", "id") == ["1"]
    waiting = topics.rows("decided__quarantine", "_offset", "_reason_code")
    assert waiting == [(1, "INCOMPATIBLE_CHANGE")]
    request = Request.made("test.decided", "topic.decided", Change.ACCEPTED, None)
    requests.leave(topics.lake, request)
    stop_at(topics, "decided", "after_second_write", monkeypatch)
    answer = requests.awaited(topics.lake, request, 0.0)
    assert answer
    assert "1 events leave quarantine" in answer.text
    topics.land("decided")
    assert topics.rows("decided", "id", "_source", "_offset") == [
        ("1", "decided", 0),
        ("2", "decided", 1),
    ]
    assert topics.rows("decided__quarantine", "_offset") == []
    assert list(topics.lake.storage.list(topics.lake.released(stream.table))) == []


def test_topics_of_a_list_and_of_a_pattern_also_those_that_come_later(topics: Topics) -> None:
    topics.make("orders.v1")
    topics.make("orders.v2")
    topics.subscribe("listed", {"id": "bigint"}, topic=["orders.v1", "orders.v2"])
    topics.subscribe("matched", {"id": "bigint"}, topic_pattern=r"orders\..*")
    topics.send("orders.v1", [{"id": 1}])
    topics.send("orders.v2", [{"id": 2}])
    for name in ("listed", "matched"):
        topics.land(name)
        assert topics.values(name, "id") == [1, 2]
    topics.make("orders.v3")
    topics.send("orders.v3", [{"id": 3}])
    topics.send("orders.v2", [{"id": 4}])
    for name, found in (("listed", [1, 2, 4]), ("matched", [1, 2, 3, 4])):
        topics.land(name)
        assert topics.values(name, "id") == found
    topics.subscribe("listed", {"id": "bigint"}, topic=["orders.v2"])
    with pytest.raises(CheckpointInvalid, match=r"topics orders\.v1, which are declared no more"):
        topics.land("listed")


def test_what_an_aborted_transaction_wrote_does_not_land(topics: Topics) -> None:
    topics.make("transacted")
    topics.subscribe("transacted", {"id": "bigint"})
    producer = Producer({"bootstrap.servers": topics.address, "transactional.id": "t"})
    producer.init_transactions(30)
    for number in (1, 2, 3):
        producer.begin_transaction()
        producer.produce("transacted", value=f'{{"id": {number}}}')
        producer.flush(30)
        if number == 2:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
    topics.land("transacted")
    topics.send("transacted", [{"id": 4}])
    topics.land("transacted")
    assert topics.values("transacted", "id") == [1, 3, 4]


# Elsewhere files show that a batch may end at any step; here what is read again is on the broker.
@pytest.mark.parametrize("step", ["after_first_write", "after_second_write"])
def test_a_batch_that_stops_at_a_step_lands_each_message_once(
    topics: Topics, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"stopped_{step}"
    topics.make(name)
    topics.subscribe(name, {"id": "bigint"})
    topics.send(name, MIXED)
    stop_at(topics, name, step, monkeypatch)
    topics.send(name, [{"id": None}])
    topics.land(name)
    assert topics.values(name, "id") == [1, 2, 3, None, None]
    assert len(topics.rows(f"{name}__quarantine", "_offset")) == 2


@pytest.mark.long
def test_after_lost_checkpoints_each_message_is_there_once(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.make("lost", partitions=2)
    stream = topics.subscribe("lost", {"id": "bigint"})
    topics.send("lost", [{"id": 10}, {"id": 11}], partition=1)
    topics.land("lost")
    topics.send("lost", MIXED, partition=0)
    # What was held back never lands of the first two tries.
    for number in (4, 5):
        stop_at(topics, "lost", "after_first_write", monkeypatch)
        shutil.rmtree(topics.lake.url(topics.lake.checkpoint(stream.table)))
        with pytest.raises(CheckpointInvalid, match="ingest recover"):
            topics.land("lost")
        recover_stream(topics.spark, topics.lake, stream)
        topics.send("lost", [{"id": number}], partition=0)
    topics.land("lost")
    assert topics.values("lost", "id") == [1, 10, 11, 2, 3, 4, 5, None]
    newest = commit(topics, stream)
    newest.unlink()
    (newest.parent / f".{newest.name}.crc").unlink(missing_ok=True)
    topics.land("lost")
    assert topics.values("lost", "id") == [1, 10, 11, 2, 3, 4, 5, None]
    assert len(topics.rows("lost__quarantine", "_offset")) == 2


def test_a_topic_that_was_made_again_stops_the_stream_until_it_is_recovered(
    topics: Topics,
) -> None:
    for topic in ("remade", "kept"):
        topics.make(topic)
    stream = topics.subscribe("remade", {"id": "bigint"}, topic=["remade", "kept"])
    topics.send("remade", [{"id": 1}, {"id": 2}])
    topics.send("kept", [{"id": 3}])
    topics.land("remade")
    topics.remove("remade")
    topics.make("remade")
    topics.send("remade", [{"id": 4}, {"id": 5}, {"id": 6}])
    lost = "remade, partition 0: the topic was deleted and made again, and offsets from 2 on went"
    with pytest.raises(DataLost, match=lost):
        topics.land("remade")
    assert topics.values("remade", "id") == [1, 2, 3]
    recover_stream(topics.spark, topics.lake, stream)
    topics.land("remade")
    assert topics.values("remade", "id") == [1, 2, 3, 4, 5, 6]
    # What the old topic brought says nothing of the new one, later on either.
    shutil.rmtree(topics.lake.url(topics.lake.checkpoint(stream.table)))
    recover_stream(topics.spark, topics.lake, stream)
    topics.send("remade", [{"id": 7}])
    topics.land("remade")
    assert topics.values("remade", "id") == [1, 2, 3, 4, 5, 6, 7]
    # A topic that has fewer messages than were read is told by that alone.
    for number in (8, 9):
        for topic in ("remade", "kept"):
            topics.send(topic, [{"id": number}])
        topics.land("remade")
    topics.remove("remade")
    topics.make("remade")
    topics.send("remade", [{"id": 10}])
    topics.lake.storage.delete(topics.lake.topics(stream.table))
    recover_stream(topics.spark, topics.lake, stream)
    made = [("remade", 0, first, None, "remade") for first in (2, 6)]
    assert sorted(topics.gaps("remade")) == made


def test_messages_that_retention_removed_stop_the_stream_until_it_is_recovered(
    topics: Topics, caplog: pytest.LogCaptureFixture
) -> None:
    topics.make("expired")
    stream = topics.subscribe("expired", {"id": "bigint"})
    topics.send("expired", [{"id": 0}])
    topics.land("expired")
    topics.send("expired", [{"id": number} for number in range(1, 6)])
    topics.expire("expired", before=4)
    lost = r"expired, partition 0: offsets 1 to 3 were removed before they landed\. .* recover"
    with pytest.raises(DataLost, match=lost):
        topics.land("expired")
    recover_stream(topics.spark, topics.lake, stream)
    assert "expired, partition 0: offsets 1 to 3 were removed" in caplog.text
    topics.land("expired")
    assert topics.values("expired", "id") == [0, 4, 5]
    assert topics.gaps("expired") == [("expired", 0, 1, 3, "removed")]


@pytest.mark.long
def test_stream_continues_after_lost_messages_if_declared(
    topics: Topics,
) -> None:
    topics.make("holey")
    stream = topics.subscribe("holey", {"id": "bigint"}, on_data_loss="continue")
    topics.send("holey", [{"id": 0}])
    topics.land("holey")
    topics.send("holey", [{"id": number} for number in range(1, 6)])
    topics.expire("holey", before=4)
    query = StreamQuery(topics.spark, topics.lake, stream, ProgressLog(topics.lake), topics.now)
    query.start(Trigger.AVAILABLE_NOW)
    query.wait()
    assert query.goes_on()
    topics.land("holey")
    assert topics.values("holey", "id") == [0, 4, 5]
    assert topics.gaps("holey") == [("holey", 0, 1, 3, "removed")]


def log_in(topics: Topics, file: Path, password: str) -> None:
    """Write the reference's properties for a company's own Kafka, for one without TLS."""
    text = properties("kafka.md")[0].replace("SASL_SSL", "SASL_PLAINTEXT")
    text = re.sub(r"(?<=^bootstrap\.servers=).*$", topics.logins, text, flags=re.MULTILINE)
    text = re.sub(r"^ssl\..*\n", "", text, flags=re.MULTILINE)
    file.write_text(text.replace("…", password))


def test_offsets_of_a_stream_with_login_are_in_consumer_group_and_status(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kafka.properties"
    monkeypatch.setenv("HEADWATER_KAFKA_PROPERTIES", str(file))
    log_in(topics, file, PASSWORD)
    topics.make("watched")
    topics.subscribe("watched", {"id": "bigint"}, max_offsets_per_trigger=2)
    topics.send("watched", [{"id": number} for number in range(5)])
    topics.land("watched")
    group = [ConsumerGroupTopicPartitions("headwater.test.watched", [TopicPartition("watched", 0)])]
    told = topics.admin.list_consumer_group_offsets(group)["headwater.test.watched"].result(30)
    assert [one.offset for one in told.topic_partitions] == [5]
    assert read_totals(topics.lake, "test.watched", "test__watched").lag == 0
    assert topics.values("watched", "id") == list(range(5))
    log_in(topics, file, "wrong")
    refused = topics.run("watched")
    assert isinstance(refused, BrokerUnreachable)
    said = r"test\.watched: Kafka does not answer or refuses us: \S*SaslAuthenticationException: .+"
    assert re.fullmatch(said, str(refused))


def test_unreachable_broker_is_reported(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kafka.properties"
    patience = "default.api.timeout.ms=2000\nrequest.timeout.ms=1500\n"
    file.write_text(f"# nobody listens there\nbootstrap.servers=127.0.0.1:9\n{patience}")
    monkeypatch.setenv("HEADWATER_KAFKA_PROPERTIES", str(file))
    topics.subscribe("silent", {"id": "bigint"})
    assert isinstance(topics.run("silent"), BrokerUnreachable)
