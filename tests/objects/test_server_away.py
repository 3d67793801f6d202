"""The server is killed for some seconds: files, lists, tables and leases go on where it returns."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from ingest.errors import StorageAway
from ingest.storage import delta_log, delta_writes, files
from ingest.storage.layout import Lake
from ingest.storage.storage import LeaseHeld
from tests.objects.test_object_tables import SCHEMA
from tests.s3_server import S3Server
from tests.storage_contract import names


class Workers:
    """Threads that do something over and over."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._pool = ThreadPoolExecutor(8)

    def start(self, work: Callable[[int], None]) -> Callable[[], int]:
        """Call `work` with the numbers from 0 on; what is returned gives how many, at the end."""
        begun = threading.Event()

        def repeat() -> int:
            for number in count():
                work(number)
                begun.set()
                if self.stopping.is_set():
                    return number + 1
            raise AssertionError

        future = self._pool.submit(repeat)
        begun.wait(30)
        return future.result


def test_what_is_written_while_the_server_is_killed_is_there_once(
    root: str, server: S3Server
) -> None:
    lake = Lake(root)
    storage, table = lake.storage, lake.ops("things")
    delta_writes.create(table, SCHEMA, {})
    storage.put("landing/a.jsonl", b"1" * (9 << 20))

    def create(number: int) -> None:
        assert storage.put_new(f"new/{number:06}", b"%d" % number)

    def read(_: int) -> None:
        with files.open_stream(f"{root}/landing/a.jsonl") as stream:
            assert len(stream.read()) == 9 << 20

    def append(number: int) -> None:
        # A request whose answer was lost is not always sent again: a stream repeats its batch.
        with contextlib.suppress(StorageAway):
            delta_writes.append_rows(table, [("a", number)], application="me", version=number)
            return
        append(number)

    workers = Workers()
    with storage.lease("locks/a.lock") as lease:
        done = {
            "new": workers.start(create),
            "put": workers.start(lambda number: storage.put(f"put/{number:06}", b"1")),
            "list": workers.start(lambda _: names(storage, "put").clear()),
            "read": workers.start(read),
            "table": workers.start(append),
        }
        server.kill()
        time.sleep(3)
        server.start()
        time.sleep(1)
        workers.stopping.set()
        counts = {name: counted() for name, counted in done.items()}
        lease.check()
        with pytest.raises(LeaseHeld), storage.lease("locks/a.lock"):
            pass
    for folder in ("new", "put"):
        # S3Proxy that is killed while it writes an object leaves what it has under another name.
        found = [name for name in names(storage, folder) if "-" not in name]
        assert found == [f"{number:06}" for number in range(counts[folder])]
    assert all(storage.read(f"new/{n:06}") == b"%d" % n for n in range(0, counts["new"], 7))
    numbers = sorted(delta_log.rows(table)["number"].to_pylist())
    assert numbers == list(range(counts["table"]))
