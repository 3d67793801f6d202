"""What Storage promises, whatever keeps its files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import storage_at
from ingest.storage.storage import LeaseHeld, Storage

_HOLDER = """
import sys
from ingest.storage.layout import storage_at
with storage_at(sys.argv[1]).lease("locks/a.lock"):
    print("held", flush=True)
    sys.stdin.read()
"""


def names(storage: Storage, key: str) -> list[str]:
    """Names in a folder."""
    return sorted(one.name for one in storage.list(key))


@contextmanager
def holder(root: str, program: str = _HOLDER) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lease `locks/a.lock` of the storage at `root`."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


class StorageContract:
    """Tests of a Storage; a class of them gives `root`, the path or URL of an empty folder."""

    @pytest.fixture
    def storage(self, root: str) -> Storage:
        """The storage."""
        return storage_at(root)

    def test_a_file_is_created_replaced_and_deleted(self, storage: Storage) -> None:
        assert storage.read("a/b.json") is None
        for content in (b"one", b"two", b""):
            storage.put("a/b.json", content)
            assert storage.read("a/b.json") == content
        assert storage.exists("a/b.json")
        for _ in range(2):
            storage.delete("a/b.json")
            assert not storage.exists("a/b.json")
        assert names(storage, "a") == []

    def test_of_several_creators_of_a_file_one_succeeds(self, storage: Storage) -> None:
        def create(number: int) -> bool:
            return storage.put_new("a/b", str(number).encode() * 1000)

        with ThreadPoolExecutor(8) as creators:
            made = list(creators.map(create, range(8)))
        assert sum(made) == 1
        assert storage.read("a/b") == str(made.index(True)).encode() * 1000
        assert names(storage, "a") == ["b"]

    def test_of_creators_of_equal_files_one_succeeds(self, storage: Storage) -> None:
        with ThreadPoolExecutor(4) as creators:
            made = list(creators.map(lambda _: storage.put_new("a", b"same"), range(8)))
        assert sum(made) == 1

    def test_a_reader_sees_whole_files_only(self, storage: Storage) -> None:
        contents = {letter * 100_000 for letter in (b"a", b"b", b"c")}
        storage.put("file", next(iter(contents)))
        with ThreadPoolExecutor(3) as writers:
            puts = [writers.submit(storage.put, "file", one) for one in contents for _ in range(30)]
            while not all(one.done() for one in puts):
                assert storage.read("file") in contents
        for one in puts:
            one.result()
        assert names(storage, "") == ["file"]

    def test_a_listing_has_size_time_and_folders(self, storage: Storage) -> None:
        storage.put("a/file", b"12345")
        storage.put("a/folder/file", b"1")
        storage.put("a/folder/folder/file", b"1")
        storage.put("a/later", b"1")
        storage.put("a/nothing", b"")
        storage.put("a/.being-written", b"1")
        storage.put("ab", b"1")
        file, folder, *more = sorted(storage.list("a"))
        assert (file.name, file.size, file.is_folder) == ("file", 5, False)
        assert file.modified_us > 1_700_000_000_000_000
        assert (folder.name, folder.is_folder) == ("folder", True)
        assert [(one.name, one.size, one.is_folder) for one in more] == [
            ("later", 1, False),
            ("nothing", 0, False),
        ]
        assert list(storage.list("none")) == []
        assert names(storage, "") == ["a", "ab"]

    def test_what_exists_is_a_file_or_a_folder_with_files(self, storage: Storage) -> None:
        storage.put("a/b/c", b"1")
        found = {key: storage.exists(key) for key in ("a", "a/b", "a/b/c", "b", "a/b/d")}
        assert found == {"a": True, "a/b": True, "a/b/c": True, "b": False, "a/b/d": False}

    def test_a_tree_is_deleted_at_once(self, storage: Storage) -> None:
        storage.put("a/b/c", b"")
        storage.put("a/d", b"")
        storage.put("ab", b"")
        storage.delete_tree("a")
        storage.delete_tree("none")
        assert names(storage, "") == ["ab"]

    def test_names_are_taken_as_they_are(self, storage: Storage) -> None:
        for name in ("a b%20c", "ä#?&+=", "a:b"):
            storage.put(f"x y/{name}", name.encode())
            assert storage.read(f"x y/{name}") == name.encode()
        assert names(storage, "x y") == sorted(["a b%20c", "ä#?&+=", "a:b"])

    def test_a_lease_ends_with_its_process(self, storage: Storage, root: str) -> None:
        assert not storage.is_leased("locks/a.lock")
        with holder(root) as other:
            assert storage.is_leased("locks/a.lock")
            with (
                pytest.raises(LeaseHeld, match=f"process {other.pid} on "),
                storage.lease("locks/a.lock"),
            ):
                pass
            os.kill(other.pid, signal.SIGKILL)
            other.wait()
            with storage.lease("locks/a.lock") as lease:
                assert storage.is_leased("locks/a.lock")
                lease.check()
        assert not storage.is_leased("locks/a.lock")

    def test_a_lease_that_was_given_back_is_free(self, storage: Storage, root: str) -> None:
        for _ in range(2):
            with storage.lease("locks/a.lock"):
                assert storage.is_leased("locks/a.lock")
        with holder(root), storage.lease("locks/b.lock"):
            pass

    def test_of_several_who_want_a_lease_one_gets_it(self, storage: Storage) -> None:
        def take(_: int) -> bool:
            try:
                with storage.lease("locks/a.lock"):
                    both.wait(30)
                    return True
            except LeaseHeld:
                return False
            finally:
                done.release()

        both, done = threading.Event(), threading.Semaphore(0)
        with ThreadPoolExecutor(6) as takers:
            taken = [takers.submit(take, number) for number in range(6)]
            for _ in range(5):
                assert done.acquire(timeout=30)
            both.set()
        assert sum(one.result() for one in taken) == 1

    def test_values_come_back_from_json_files(self, storage: Storage) -> None:
        assert read_json(storage, "a.json") is None
        write_json(storage, "a.json", {"a": [1, None, "ä"]})
        assert read_json(storage, "a.json") == {"a": [1, None, "ä"]}
        storage.put("a.json", b'{"a')
        with pytest.raises(ValueError, match="Unterminated"):
            read_json(storage, "a.json")

    def test_urls_begin_with_the_root(self, storage: Storage, root: str) -> None:
        assert storage.url("") == root
        assert storage.url("_progress/a.json") == f"{root}/_progress/a.json"
