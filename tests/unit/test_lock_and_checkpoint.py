"""One process lands a stream, and a checkpoint belongs to one stream and one table."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.declarations.stream import FileSource, Format, Stream
from ingest.errors import (
    CheckpointInvalid,
    StorageFailed,
    StreamLocked,
    TableChanged,
    TerminalError,
)
from ingest.failpoint import failpoint
from ingest.runtime.checkpoint import (
    CheckpointIdentity,
    fresh_identity,
    identity_of,
    start_checkpoint,
)
from ingest.runtime.progress import read_totals, save_totals
from ingest.runtime.runner import refuse_death
from ingest.runtime.spark_errors import explained
from ingest.storage import delta_log
from ingest.storage.layout import Lake
from ingest.storage.locks import is_locked, stream_lock

HOLDER = """
import sys
from ingest.storage.layout import Lake
from ingest.storage.locks import stream_lock
with stream_lock(Lake(sys.argv[1]), "shop__orders", "shop.orders"):
    print("held", flush=True)
    sys.stdin.read()
"""
STREAM = Stream(
    unique_id="source.headwater.shop.orders",
    name="shop.orders",
    table="shop__orders",
    declared_in="shop.yml",
    description="",
    source=FileSource(path="landing"),
    format=Format.JSON,
)


def test_second_process_names_the_stream_owner(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, lake.root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StreamLocked, match=f"process {holder.pid} ") as told:
            stream_lock(lake, "shop__orders", "shop.orders").__enter__()
        assert (told.value.exit_code, told.value.code) == (1, "LOCKED")
        holder.kill()
        holder.wait()
    with stream_lock(lake, "shop__orders", "shop.orders"):
        pass


def test_who_looks_at_a_lock_does_not_keep_an_owner_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))
    assert not is_locked(lake, "shop__orders")
    lake.storage.put(lake.lock("shop__orders"), b"")
    with Path(lake.url(lake.lock("shop__orders"))).open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        monkeypatch.setattr(time, "sleep", lambda _: looking.close())
        with stream_lock(lake, "shop__orders", "shop.orders"):
            assert is_locked(lake, "shop__orders")


def test_unwritable_lock_is_reported(tmp_path: Path) -> None:
    (tmp_path / "_locks").write_text("a file where a folder should be", encoding="utf-8")
    with pytest.raises(StorageFailed, match="the lake must be writable") as told:
        stream_lock(Lake(str(tmp_path)), "shop__orders", "shop.orders").__enter__()
    assert told.value.exit_code == 1


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """A lake whose table has the id `here` and rows up to batch 7."""
    monkeypatch.setattr(delta_log, "table_id", lambda *_: "here")
    monkeypatch.setattr(delta_log, "newest_batch", lambda *_: 7)
    return Lake(str(tmp_path))


def ran(lake: Lake, *, stream: str = "shop.orders", table_id: str = "here") -> Path:
    """Leave a checkpoint as two batches do; gives its folder."""
    CheckpointIdentity(stream=stream, application="x", table_id=table_id, first_batch_id=4).save(
        lake, STREAM.table
    )
    folder = Path(lake.url(lake.checkpoint(STREAM.table)))
    for batch in ("0", "1"):
        for name, lines in (
            ("offsets", ["v1", "{}", '{"reservoirId": "here"}']),
            ("commits", ["v1", "{}"]),
        ):
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / batch).write_text("\n".join(lines), encoding="utf-8")
    log = Path(lake.queue(STREAM.table), "_delta_log")
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").touch()
    return folder


def test_a_checkpoint_is_known_again(lake: Lake) -> None:
    ran(lake)
    assert identity_of(lake, STREAM).first_batch_id == 4


def test_a_stream_that_never_ran_gets_one(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_log, "newest_batch", lambda *_: -1)
    made = identity_of(lake, STREAM)
    assert made.first_batch_id == 0
    assert identity_of(lake, STREAM) == made


def test_each_checkpoint_has_an_application_of_its_own() -> None:
    first, second = (fresh_identity(STREAM, "here", 0) for _ in range(2))
    assert first.application != second.application


def test_rows_without_a_checkpoint_are_refused(lake: Lake) -> None:
    with pytest.raises(CheckpointInvalid, match=r"is gone; .*ingest recover --select source:shop"):
        identity_of(lake, STREAM)


@pytest.mark.parametrize("name", ["offsets/1", "commits/1"])
@pytest.mark.parametrize("content", ["", "v1", "v1\n{", 'v1\n{}\n{"a"'])
def test_a_torn_file_is_refused(lake: Lake, name: str, content: str) -> None:
    torn = ran(lake) / name
    if name == "commits/1" and content.startswith("v1\n{}"):
        content = 'v1\n{"a"'
    torn.write_text(content, encoding="utf-8")
    with pytest.raises(CheckpointInvalid, match="is torn") as told:
        identity_of(lake, STREAM)
    assert (told.value.exit_code, told.value.code) == (1, "CHECKPOINT")


def test_a_torn_identity_is_refused(lake: Lake) -> None:
    ran(lake)
    lake.storage.put(lake.identity(STREAM.table), b'{"stream": "sh')
    with pytest.raises(CheckpointInvalid, match="is torn"):
        identity_of(lake, STREAM)


def test_another_streams_identity_is_refused(lake: Lake) -> None:
    ran(lake, stream="shop.customers")
    with pytest.raises(CheckpointInvalid, match=r"belongs to stream shop\.customers"):
        identity_of(lake, STREAM)


def test_replaced_table_is_refused(lake: Lake) -> None:
    ran(lake, table_id="gone")
    with pytest.raises(TableChanged, match="replaced or removed under us"):
        identity_of(lake, STREAM)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("java.io.IOException: No space left on device", "STORAGE"),
        ("java.io.IOException: File too large", "STORAGE"),
        ("Mkdirs failed to create file:/lake/bronze", "STORAGE"),
        ("[DELTA_SCHEMA_CHANGED_WITH_VERSION] Detected schema change", "TABLE_CHANGED"),
        ("[DELTA_CONCURRENT_APPEND] ConcurrentAppendException", "TRANSIENT"),
        ("Job aborted: java.lang.OutOfMemoryError: Java heap space\n\tat java.base", "MEMORY"),
        ("org.apache.kafka.common.KafkaException: x: java.lang.OutOfMemoryError: y", "MEMORY"),
        ("something else\n\tat org.apache.spark", "STOPPED"),
    ],
)
def test_a_failure_becomes_one_line_with_a_code(text: str, code: str, tmp_path: Path) -> None:
    error = explained(RuntimeError(text), "shop.orders", Lake(str(tmp_path)))
    assert (error.code, error.exit_code) == (code, 1)
    assert str(error).startswith("shop.orders: ")
    assert "\n" not in str(error)
    assert "at org.apache" not in str(error)


def test_python_traceback_is_shortened_to_its_last_line(tmp_path: Path) -> None:
    text = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
ValueError: first: cause

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "json_files.py", line 62, in read
OSError: the file has gone
"""
    error = explained(RuntimeError(text), "shop.orders", Lake(str(tmp_path)))
    assert str(error).startswith("shop.orders: OSError: the file has gone; see ")


@pytest.mark.parametrize(("code", "expected"), [("52", "MEMORY"), ("1", "STOPPED")])
def test_ended_spark_reports_out_of_memory(code: str, expected: str, tmp_path: Path) -> None:
    java = subprocess.Popen(["sh", "-c", f"exit {code}"])
    spark: Any = SimpleNamespace(sparkContext=SimpleNamespace(_gateway=SimpleNamespace(proc=java)))
    with pytest.raises(TerminalError) as told:
        refuse_death(spark, Lake(str(tmp_path)))
    assert told.value.code == expected


def test_totals_come_back_as_they_were_saved(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path))
    never = read_totals(lake, "shop.orders", "shop__orders")
    assert (never.state, never.landed) == ("never ran", 0)
    save_totals(lake, never)
    assert read_totals(lake, "shop.orders", "shop__orders") == never
    assert not list(tmp_path.rglob("*.new"))


def test_a_failpoint_that_is_not_named_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_FAILPOINT", "elsewhere")
    failpoint("here")


def test_a_failpoint_kills_the_process_where_it_is_named() -> None:
    program = "from ingest.failpoint import failpoint; failpoint('here'); print('lives')"
    died = subprocess.run(
        [sys.executable, "-c", program],
        env={"HEADWATER_FAILPOINT": "here"},
        capture_output=True,
        check=False,
    )
    assert (died.returncode, died.stdout) == (-9, b"")


def test_a_recovered_stream_may_begin_its_checkpoint(lake: Lake) -> None:
    fresh_identity(STREAM, "here", 8).save(lake, STREAM.table)
    with pytest.raises(CheckpointInvalid, match="is gone"):
        identity_of(lake, STREAM)
    start_checkpoint(lake, STREAM.table)
    assert identity_of(lake, STREAM).first_batch_id == 8
