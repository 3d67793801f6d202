"""Messages of Avro whose schema is not known yet wait in quarantine, and land once it is."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingest.landing import batch
from ingest.runtime.progress import ProgressLog, read_totals
from ingest.runtime.runner import land_until_stopped
from tests.live.avro import framed, record, registered
from tests.live.topics import EVENT, Topics
from tests.spark.test_checkpoints import Killed, stop_at


@pytest.mark.parametrize("envelope", ["none", "cloudevents"])
def test_messages_wait_in_quarantine_until_their_schema_is_known(
    topics: Topics, envelope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"parked_{envelope}"
    topics.make(name)
    stream = topics.subscribe(name, format="avro", envelope=envelope)
    known = record("Parked", ("id", "string"))
    later = record(f"Parked_{envelope}", ("id", "string"), ("note", "string"))
    number = registered(topics, f"{name}-value", known)
    # A registry counts its schemas.
    unknown = registered(topics, f"{name}-other", record(f"Other_{envelope}", ("x", "int"))) + 1
    values = [
        framed(number, known, {"id": "1"}),
        framed(unknown, later, {"id": "2", "note": "n"}),
        framed(unknown, later, {"id": "3", "note": "n"})[:-1],
    ]
    for key, value in enumerate(values, 1):
        headers = EVENT | {"ce_id": str(key), "ce_type": "parked"}
        topics.send(name, [value], headers=headers)
    topics.land(name)
    assert topics.values(name, "id") == ["1"]
    waiting = topics.rows(f"{name}__quarantine", "_offset", "_schema_id", "_reason_code")
    assert waiting == [(offset, str(unknown), "SCHEMA_UNKNOWN") for offset in (1, 2)]
    assert registered(topics, f"{name}-value", later) == unknown
    # No message comes any more. A process ends before they left quarantine, and the next behind.
    for step in ("after_second_write", "after_quarantine"):
        stop_at(topics, name, step, monkeypatch)
        assert topics.values(name, "id") == ["1", "2"]
    topics.land(name)
    assert topics.values(name, "id") == ["1", "2"]
    left = topics.rows(f"{name}__quarantine", "_offset", "_schema_id", "_reason_code")
    assert left == [(2, str(unknown), "MALFORMED_AVRO")]
    totals = read_totals(topics.lake, stream.name, stream.table)
    assert (totals.records, totals.landed) == (3, 2)


@pytest.mark.long
def test_a_batch_that_is_repeated_when_its_schema_has_come_judges_as_before(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.make("judged")
    topics.subscribe("judged", format="avro")
    known, later = record("Judged", ("id", "string")), record("JudgedLater", ("id", "string"))
    number = registered(topics, "judged-value", known)
    unknown = registered(topics, "judged-other", record("JudgedOther", ("x", "int"))) + 1
    topics.send("judged", [framed(number, known, {"id": "1"}), framed(unknown, later, {"id": "2"})])
    stop_at(topics, "judged", "after_quarantine", monkeypatch)
    assert registered(topics, "judged-value", later) == unknown
    topics.land("judged")
    topics.land("judged")
    assert topics.values("judged", "id") == ["1", "2"]
    assert topics.rows("judged__quarantine", "_offset") == []


def test_restarted_batch_lands_once_if_its_schema_arrived_meanwhile(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.make("anew")
    topics.subscribe("anew", format="avro")
    later = record("Anew", ("id", "int"))
    unknown = registered(topics, "anew-other", record("AnewOther", ("x", "int"))) + 1
    topics.send("anew", [framed(unknown, later, {"id": one}) for one in (1, 2)])

    def register(step: str) -> None:
        if step == "after_first_write":
            assert registered(topics, "anew-later", later) == unknown

    def kill(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        # The first pass has committed no rows, and the second has learnt and written nothing.
        patched.setattr(batch, "failpoint", register)
        patched.setattr(batch.BatchProcessor, "_quarantine_records", kill)
        assert topics.run("anew") is not None
    stop_at(topics, "anew", "after_first_write", monkeypatch)
    topics.land("anew")
    assert topics.values("anew", "id") == [1, 2]


@pytest.mark.long
def test_what_left_quarantine_in_a_batch_that_was_killed_is_there_once_after_a_recovery(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics.make("repaired")
    topics.subscribe("repaired", format="avro")
    known, later = record("Repaired", ("id", "int")), record("RepairedLater", ("id", "int"))
    number = registered(topics, "repaired-value", known)
    unknown = registered(topics, "repaired-other", record("RepairedOther", ("x", "int"))) + 1
    values = [framed(number, known, {"id": 1}), framed(unknown, later, {"id": 2})]
    topics.send("repaired", [*values, framed(unknown, later, {"id": 3})[:-1]])
    topics.land("repaired")
    assert registered(topics, "repaired-value", later) == unknown
    topics.send("repaired", [framed(number, known, {"id": 4})])
    stop_at(topics, "repaired", "after_second_write", monkeypatch)
    assert topics.values("repaired__quarantine", "_offset") == [1, 2, 2]
    topics.recover("repaired")
    topics.land("repaired")
    assert topics.values("repaired", "id") == [1, 2, 4]
    left = topics.rows("repaired__quarantine", "_offset", "_reason_code")
    assert left == [(2, "MALFORMED_AVRO")]


@pytest.mark.long
def test_running_stream_lands_requeued_messages_without_new_ones(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.quarantine.requeue._LOOK_EVERY", 0.5)
    topics.make("running")
    stream = topics.subscribe("running", format="avro")
    schemas = [record("Running", ("id", "int")), record("Running", ("id", "int"), ("b", "int"))]
    number = registered(topics, "running-value", schemas[0])
    topics.send("running", [framed(number, schemas[0], {"id": 1})])
    topics.send("running", [framed(number + 1, schemas[1], {"id": 2, "b": 2})])
    topics.land("running")
    stopping, progress = threading.Event(), ProgressLog(topics.lake)
    with ThreadPoolExecutor(1) as beside:
        told = beside.submit(land_until_stopped, topics.spark, [stream], progress, stopping)
        try:
            assert registered(topics, "running-value", schemas[1]) == number + 1
            until = time.monotonic() + 60
            while len(topics.values("running", "id")) < 2 and time.monotonic() < until:
                time.sleep(0.5)
            # It goes on as before.
            topics.send("running", [framed(number, schemas[0], {"id": 3})])
            while len(topics.values("running", "id")) < 3 and time.monotonic() < until:
                time.sleep(0.5)
        finally:
            stopping.set()
        assert told.result(60) == []
    assert topics.values("running", "id") == [1, 2, 3]
    assert topics.rows("running__quarantine", "_offset") == []
