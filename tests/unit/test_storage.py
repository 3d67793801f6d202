"""Storage in a folder: whole files, one creator, one holder of a lease."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingest.errors import InputError
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import storage_at
from ingest.storage.local import LocalStorage
from ingest.storage.storage import LeaseHeld, Storage

HOLDER = """
import sys
from ingest.storage.layout import storage_at
with storage_at(sys.argv[1]).lease("locks/a.lock"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["", "file://"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """Storage in an empty folder, named by a path and by a URL."""
    return storage_at(f"{request.param}{tmp_path}")


def names(storage: Storage, key: str) -> list[str]:
    """Names in a folder."""
    return sorted(one.name for one in storage.list(key))


def test_a_file_is_created_replaced_and_deleted(storage: Storage) -> None:
    assert storage.read("a/b.json") is None
    for content in (b"one", b"two"):
        storage.put("a/b.json", content)
        assert storage.read("a/b.json") == content
    assert storage.exists("a/b.json")
    for _ in range(2):
        storage.delete("a/b.json")
        assert not storage.exists("a/b.json")
    assert names(storage, "a") == []


def test_of_several_creators_of_a_file_one_succeeds(tmp_path: Path) -> None:
    storage = storage_at(str(tmp_path))

    def create(number: int) -> bool:
        return storage.put_new("a/b", str(number).encode() * 1000)

    with ThreadPoolExecutor(8) as creators:
        made = list(creators.map(create, range(8)))
    assert sum(made) == 1
    assert storage.read("a/b") == str(made.index(True)).encode() * 1000
    assert list((tmp_path / "a").iterdir()) == [tmp_path / "a" / "b"]


def test_a_reader_sees_whole_files_only(tmp_path: Path) -> None:
    storage = storage_at(str(tmp_path))
    contents = {letter * 100_000 for letter in (b"a", b"b", b"c")}
    storage.put("file", next(iter(contents)))
    with ThreadPoolExecutor(3) as writers:
        written = [writers.submit(storage.put, "file", one) for one in contents for _ in range(30)]
        while not all(one.done() for one in written):
            assert storage.read("file") in contents
    for one in written:
        one.result()
    assert names(storage, "") == ["file"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        storage.put("a/b", b"a folder is there")
    assert list((tmp_path / "a").iterdir()) == [tmp_path / "a" / "b"]


def test_a_listing_has_size_time_and_folders(storage: Storage) -> None:
    storage.put("a/file", b"12345")
    storage.put("a/folder/file", b"")
    storage.put("a/.being-written", b"")
    file, folder = sorted(storage.list("a"))
    assert (file.name, file.size, file.is_folder) == ("file", 5, False)
    assert file.modified_us > 1_700_000_000_000_000
    assert (folder.name, folder.is_folder) == ("folder", True)
    assert list(storage.list("none")) == []


def test_a_tree_is_deleted_at_once(storage: Storage) -> None:
    storage.put("a/b/c", b"")
    storage.put("ab", b"")
    storage.delete_tree("a")
    storage.delete_tree("none")
    assert names(storage, "") == ["ab"]


def test_of_a_tree_on_another_disk_the_link_is_deleted(tmp_path: Path) -> None:
    storage = storage_at(str(tmp_path / "lake"))
    storage.put("tables/other", b"")
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "file").touch()
    (tmp_path / "lake" / "tables" / "linked").symlink_to(tmp_path / "disk")
    storage.delete_tree("tables/linked")
    assert names(storage, "tables") == ["other"]
    assert (tmp_path / "disk" / "file").exists()


def test_urls_begin_with_the_root() -> None:
    assert storage_at("/lake").url("_progress/a.json") == "/lake/_progress/a.json"
    assert storage_at("file:///lake").url("a") == "file:///lake/a"


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(InputError, match=r"s3a://bucket/lake: only a folder"):
        storage_at("s3a://bucket/lake")


def test_a_lease_ends_with_its_process(tmp_path: Path) -> None:
    storage = storage_at(str(tmp_path))
    assert not storage.is_leased("locks/a.lock")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert storage.is_leased("locks/a.lock")
        with (
            pytest.raises(LeaseHeld, match=f"process {holder.pid} on "),
            storage.lease("locks/a.lock"),
        ):
            pass
        holder.kill()
        holder.wait()
    with storage.lease("locks/a.lock"):
        assert storage.is_leased("locks/a.lock")
    assert not storage.is_leased("locks/a.lock")


def test_values_come_back_from_json_files(storage: Storage) -> None:
    assert read_json(storage, "a.json") is None
    write_json(storage, "a.json", {"a": [1, None, "ä"]})
    assert read_json(storage, "a.json") == {"a": [1, None, "ä"]}
    storage.put("a.json", b'{"a')
    with pytest.raises(ValueError, match="Unterminated"):
        read_json(storage, "a.json")
