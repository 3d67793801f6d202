"""One process holds the embedded catalog, and the next one is told who."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingest.storage import embedded_catalog
from ingest.storage.embedded_catalog import CatalogHeld

HOLDER = """
import sys
from pathlib import Path
from ingest.storage import embedded_catalog
embedded_catalog.hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""
DERBY = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def running(program: str, argument: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that has taken what `program` takes."""
    with subprocess.Popen(
        [sys.executable, "-c", program, str(argument)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_second_process_names_the_catalog_owner(tmp_path: Path) -> None:
    with running(HOLDER, tmp_path) as holder:
        with pytest.raises(CatalogHeld, match=f"process {holder.pid}") as told:
            embedded_catalog.hold(tmp_path)
        assert "\n" not in str(told.value)


def test_a_killed_holder_leaves_it_free(tmp_path: Path) -> None:
    with running(HOLDER, tmp_path) as holder:
        holder.kill()
        holder.wait()
        embedded_catalog.hold(tmp_path)


def test_database_half_created_by_a_killed_process_is_created_again(tmp_path: Path) -> None:
    half, whole = tmp_path / "metastore", tmp_path / "another"
    for database in (half, whole):
        database.mkdir()
        (database / "dbex.lck").touch()
    (whole / "service.properties").touch()
    embedded_catalog.hold(tmp_path)
    assert not half.exists()
    assert whole.exists()


def test_one_process_may_take_it_twice(tmp_path: Path) -> None:
    embedded_catalog.hold(tmp_path)
    embedded_catalog.hold(tmp_path)


def test_a_stranger_with_the_database_open_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_catalog, "JVM_SECONDS", 0.1)
    database = tmp_path / "metastore_db"
    database.mkdir()
    with (
        running(DERBY, database / "dbex.lck"),
        pytest.raises(CatalogHeld, match="not Headwater's"),
    ):
        embedded_catalog.hold(tmp_path)
    embedded_catalog.hold(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_half_written_lock_file_is_another_process(text: str) -> None:
    assert embedded_catalog.described(text) == "another process"
