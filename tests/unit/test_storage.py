"""Storage in a folder: whole files, one creator, one holder of a lease."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.errors import InputError
from ingest.storage.layout import storage_at
from ingest.storage.local import LocalStorage
from tests.storage_contract import StorageContract, names


@pytest.mark.parametrize("scheme", ["", "file://"])
class TestLocalStorage(StorageContract):
    @pytest.fixture
    def root(self, scheme: str, tmp_path: Path) -> str:
        """An empty folder, named by a path and by a URL."""
        return f"{scheme}{tmp_path}"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    (tmp_path / "a" / "b").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        storage.put("a/b", b"a folder is there")
    assert list((tmp_path / "a").iterdir()) == [tmp_path / "a" / "b"]


def test_a_created_file_leaves_no_other(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    assert [storage.put_new("a/b", b"1") for _ in range(2)] == [True, False]
    assert list((tmp_path / "a").iterdir()) == [tmp_path / "a" / "b"]


def test_of_a_tree_on_another_disk_the_link_is_deleted(tmp_path: Path) -> None:
    storage = storage_at(str(tmp_path / "lake"))
    storage.put("tables/other", b"")
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "file").touch()
    (tmp_path / "lake" / "tables" / "linked").symlink_to(tmp_path / "disk")
    storage.delete_tree("tables/linked")
    assert names(storage, "tables") == ["other"]
    assert (tmp_path / "disk" / "file").exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("hdfs://namenode/lake", r"hdfs://namenode/lake: only local folders and s3a://, s3://"),
        ("s3x://me:secret@bucket/lake", r"^s3x://…: only local folders"),
        ("s3a:///lake", r"s3a:///lake names no bucket: write s3a://bucket/lake"),
        ("s3a://me:secret@bucket/lake", r"^a URL of s3a:// has a bucket, and no user, key"),
        ("s3a://me:sec/ret@bucket/lake", r"^a URL of s3a:// has a bucket, and no user, key"),
        ("abfss://account/lake", r"write abfss://container@account.dfs.core.windows.net/lake"),
        ("gs://bucket/a//b", r"gs://bucket/a//b: a path in a bucket has no empty names"),
    ],
)
def test_a_url_that_cannot_be_is_refused(url: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        storage_at(url)
    assert "sec" not in str(refused.value)
