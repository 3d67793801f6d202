"""Leases in a bucket: taken when their holder ends, and known to be lost by one that did not."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable

import obstore
import pytest

from ingest.errors import StorageAway, StorageFailed, StreamLocked
from ingest.stack import s3
from ingest.storage import locks, object_lease
from ingest.storage.layout import Lake
from ingest.storage.object_lease import ObjectLease
from ingest.storage.object_store import bucket_of
from ingest.storage.object_urls import Place
from ingest.storage.objects import ObjectStorage
from ingest.storage.processes import ProcessIdentity
from ingest.storage.storage import LeaseHeld
from tests.objects.proxy import Proxy
from tests.storage_contract import holder

# Seconds of leases here, and how much longer others wait for their end.
SECONDS, MARGIN = 2.0, 1.1
KEY = "locks/a.lock"
# A process of which nobody else knows whether it runs, as if it were on another machine. A line on
# its standard input has it ask for its lease.
ELSEWHERE = f"""
import sys
from ingest.storage.objects import ObjectStorage
from ingest.storage.processes import ProcessIdentity
ProcessIdentity.own = staticmethod(lambda: ProcessIdentity("", 1, ""))
with ObjectStorage(sys.argv[1], lease_seconds={SECONDS}).lease("{KEY}") as lease:
    print("held", flush=True)
    for line in sys.stdin:
        if line == "end\\n":
            break
        try:
            lease.check()
            print("mine", flush=True)
        except Exception as error:
            print(type(error).__name__, error, flush=True)
"""


@pytest.fixture
def storage(root: str) -> ObjectStorage:
    """Storage whose leases are short."""
    return ObjectStorage(root, lease_seconds=SECONDS)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is on another machine, too."""
    monkeypatch.setattr(
        ProcessIdentity, "own", staticmethod(lambda: ProcessIdentity("", os.getpid(), ""))
    )


def lease_of(
    storage: ObjectStorage, clock: Callable[[], float], seconds: float = SECONDS
) -> ObjectLease:
    """A lease that has not been taken, by a clock."""
    place = Place.of(storage.url(KEY))
    return ObjectLease(bucket_of(place.bucket), place.path, seconds, clock)


def test_a_server_that_overwrites_what_is_there_is_refused(
    storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_lease, "_keeping", set())
    put = obstore.put
    with monkeypatch.context() as blind:
        # What such a server does; the header itself is signed.
        blind.setattr(obstore, "put", lambda store, path, text, **_: put(store, path, text))
        refused = r"the server ignores If-None-Match: \*, and overwrites"
        with pytest.raises(StorageFailed, match=refused), storage.lease(KEY):
            pass
    with storage.lease("locks/b.lock"):
        assert object_lease._keeping == {f"s3a://{s3.BUCKET}"}


def test_a_killed_holder_elsewhere_is_followed_after_the_end_of_its_lease(
    storage: ObjectStorage, root: str
) -> None:
    with holder(root, ELSEWHERE) as other:
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
        began = time.monotonic()
        assert storage.is_leased(KEY)
        with storage.lease(KEY) as lease:
            assert time.monotonic() - began > SECONDS / 2
            lease.check()
            known = json.loads(storage.read(KEY) or b"")
            assert (known["epoch"], known["pid"]) == (2, os.getpid())


def test_a_holder_elsewhere_that_runs_keeps_its_lease(storage: ObjectStorage, root: str) -> None:
    with holder(root, ELSEWHERE):
        began = time.monotonic()
        with pytest.raises(LeaseHeld, match="process 1 on "), storage.lease(KEY):
            pass
        # It was seen to be renewed; nobody waits for its end.
        assert time.monotonic() - began < SECONDS


def test_a_holder_that_slept_learns_that_its_lease_is_lost(
    storage: ObjectStorage, root: str
) -> None:
    with holder(root, ELSEWHERE) as other:

        def asked(line: str = "") -> str:
            assert other.stdin
            assert other.stdout
            other.stdin.write(f"{line}\n")
            other.stdin.flush()
            return other.stdout.readline().strip()

        assert asked() == "mine"
        os.kill(other.pid, signal.SIGSTOP)
        with storage.lease(KEY):
            os.kill(other.pid, signal.SIGCONT)
            assert asked().startswith(f"LeaseLost taken over by process {os.getpid()} on ")
            # It does not give back what it has lost.
            assert asked("end") == ""
            other.wait()
            assert storage.is_leased(KEY)
            with pytest.raises(LeaseHeld), storage.lease(KEY):
                pass


def test_a_lease_that_ran_out_is_kept_where_nobody_has_taken_it(
    storage: ObjectStorage, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_lease, "_PATIENCE", 0.3)
    now = [0.0]
    lease = lease_of(storage, lambda: now[0])
    lease.take()
    try:
        proxy.answers = lambda _method, _path: (503, "")
        lease.check()
        now[0] = SECONDS
        with pytest.raises(StorageAway):
            lease.check()
        proxy.answers = lambda _method, _path: None
        lease.check()
    finally:
        lease.release()
    with storage.lease(KEY):
        pass


def test_a_renewal_whose_answer_was_lost_is_no_other_holder(
    storage: ObjectStorage, proxy: Proxy
) -> None:
    now = [0.0]
    lease = lease_of(storage, lambda: now[0])
    lost: list[str] = []

    def lose(method: str, path: str) -> bool:
        lost.append(path)
        return method == "PUT" and len(lost) == 1

    proxy.loses = lose
    lease.take()
    assert lost
    for _ in range(3):
        lost.clear()
        now[0] += SECONDS
        lease.check()
        assert len(lost) > 1
    lease.release()
    assert json.loads(storage.read(KEY) or b"")["epoch"] == 1


def test_a_deleted_lease_is_written_again(storage: ObjectStorage) -> None:
    now = [0.0]
    lease = lease_of(storage, lambda: now[0])
    lease.take()
    storage.delete(KEY)
    now[0] = SECONDS
    lease.check()
    assert storage.is_leased(KEY)
    lease.release()


@pytest.mark.usefixtures("elsewhere")
def test_a_lease_is_taken_by_the_clock_of_who_wants_it(
    storage: ObjectStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_lease, "_LOOK_EVERY", 0.01)
    # It is not renewed meanwhile.
    held = lease_of(storage, lambda: 0.0, seconds=1000)
    held.take()
    looks: list[float] = []

    def minutes() -> float:
        looks.append(60.0 * len(looks))
        return looks[-1]

    taker = lease_of(storage, minutes)
    taker.take()
    # Of its two moments the later one is past the end: 1000 seconds, and a tenth of them.
    assert looks[-2] - looks[0] > 1000 * MARGIN
    taker.release()
    held.release()


def test_what_is_no_lease_is_said_in_a_line(storage: ObjectStorage) -> None:
    storage.put(KEY, b"not ours")
    with pytest.raises(StorageFailed, match="is no lease: delete it"), storage.lease(KEY):
        pass


def test_streams_are_locked_at_once_and_a_lost_lock_is_one_line(
    root: str, storage: ObjectStorage
) -> None:
    lake = Lake(root)
    streams = [(f"shop__{number}", f"shop.{number}") for number in range(3)]
    with locks.stream_locks(lake, streams):
        assert all(locks.is_locked(lake, table) for table, _ in streams)
        for table, name in streams:
            locks.check_lock(lake.bronze(table), name)
        with pytest.raises(StreamLocked, match=r"shop\.1 is landed by process"):
            locks.stream_locks(lake, streams[1:]).__enter__()
    assert not any(locks.is_locked(lake, table) for table, _ in streams)
    with locks.stream_lock(lake, *streams[0]):
        bronze = lake.bronze("shop__0")
        locks._held[bronze] = lease = lease_of(storage, lambda: now[0])
        now = [0.0]
        lease.take()
        known = json.loads(storage.read(KEY) or b"")
        storage.put(KEY, json.dumps(known | {"id": "other", "pid": 7, "host": "there"}).encode())
        now[0] = SECONDS
        with pytest.raises(
            StreamLocked, match=r"^shop\.0: process 7 on there lands it now: .* and stops"
        ) as lost:
            locks.check_lock(bronze, "shop.0")
        assert lost.value.exit_code == 1
    locks.check_lock(bronze, "shop.0")
