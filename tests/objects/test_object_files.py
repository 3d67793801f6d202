"""Landing folders in a bucket: found, read, moved and deleted as local ones are."""

from __future__ import annotations

import bz2
import gzip
import random
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import types as T

from ingest.declarations.reading import read_stream
from ingest.declarations.stream import CleanSource, DatedFolders, FileSource, Format, Stream
from ingest.decoders.file_headers import empty_files, opened_parquet, why_unreadable
from ingest.errors import FolderMissing, SourceUnreadable, StorageFailed
from ingest.landing.unreadable_files import broken_files
from ingest.parse.avro_container import avro_records
from ingest.parse.lines import blocks, numbered_lines, read_at, whole
from ingest.runtime.spark_errors import explained, may_be_of_a_file
from ingest.sources.file_source import FileStreamSource, _clean
from ingest.sources.listing import check_folder, check_paths, listed, path_in_folder
from ingest.stack import s3
from ingest.storage import delta_writes, files
from ingest.storage.layout import Lake, storage_at
from tests.objects.proxy import Proxy, pages
from tests.spark.workshop import node

NOW = datetime.now(UTC)


@pytest.fixture
def landing(root: str) -> str:
    """The URL of a landing folder, which is empty."""
    return f"{root}/landing"


def put(landing: str, *names: str, content: bytes = b"{}\n") -> None:
    """Write files."""
    for name in names:
        storage_at(landing).put(name, content)


def found(landing: str, left_out: set[str] | None = None) -> list[str]:
    """Paths below a folder."""
    walked = files.walk(landing, {f"{landing}/{one}" for one in left_out or ()})
    return [one.path.removeprefix(f"{landing}/") for one in walked]


def stream_of(landing: str, **declared: object) -> Stream:
    """A stream of the files of a folder."""
    return read_stream(
        node("shop.a", {"from": "files", "format": "json", "path": landing, **declared})
    )


def test_all_folders_are_searched_and_hidden_names_passed_over(landing: str) -> None:
    put(landing, "a/b/c.jsonl", ".hidden", "_SUCCESS", "_temporary/part", "a/_b/c", "a/.b.jsonl")
    put(landing, "a 100%20#?.jsonl")
    put(landing, "empty.jsonl", content=b"")
    assert whole(f"{landing}/empty.jsonl") == b""
    assert found(landing) == ["a 100%20#?.jsonl", "a/b/c.jsonl"]
    assert whole(f"{landing}/a 100%20#?.jsonl") == b"{}\n"
    assert found(f"{landing}/none") == []


def test_size_and_time_come_with_each_name(landing: str) -> None:
    put(landing, "a.jsonl", content=b"12345")
    (file,) = listed(FileSource(path=landing), {}, NOW)
    assert (file.path, file.size) == (f"{landing}/a.jsonl", 5)
    assert abs(file.modified_us / 1e6 - NOW.timestamp()) < 600
    waits = FileSource(path=landing, min_file_age=timedelta(hours=1))
    assert listed(waits, {}, NOW) == []


def test_a_folder_that_is_left_out_is_not_asked_for(landing: str, proxy: Proxy) -> None:
    put(
        landing, *(f"region/dt={day:02}/{n}.jsonl" for day in range(6) for n in range(3)), "b.jsonl"
    )
    proxy.requests.clear()
    closed = {f"region/dt={day:02}" for day in range(5)}
    assert found(landing, closed) == ["b.jsonl", *(f"region/dt=05/{n}.jsonl" for n in range(3))]
    # The folder, that of the region, and one day.
    assert proxy.requests == ["GET"] * 3
    proxy.requests.clear()
    assert len(found(landing)) == 19
    assert proxy.requests == ["GET"]


def test_closed_dated_folders_are_left_out(landing: str) -> None:
    put(landing, "dt=2026-03-16/a.jsonl", "dt=2026-03-17/a.jsonl")
    dated = DatedFolders(format="dt=%Y-%m-%d", open_for=timedelta(days=3))
    source = FileSource(path=landing, dated_folders=dated)
    now = datetime(2026, 3, 20, tzinfo=UTC)
    known = {f"{landing}/dt=2026-03-16/a.jsonl": (3, 0)}
    assert [one.path for one in listed(source, known, now)] == [f"{landing}/dt=2026-03-17/a.jsonl"]


def test_names_behind_the_newest_are_asked_for_and_all_of_them_now_and_then(
    landing: str, proxy: Proxy, root: str
) -> None:
    lake = Lake(f"{root}/lake")
    queue = T.StructType().add("path", "string").add("size", "long")
    queue.add("modified_at", "timestamp").add("found_at", "timestamp").add("status", "string")
    delta_writes.create(lake.queue("shop__a"), queue.json(), {})
    stream, now = stream_of(landing, look_every="0 seconds", list_all_every="1 hour"), [NOW]
    assert isinstance(stream.source, FileSource)
    source = FileStreamSource(None, lake, stream, stream.source, lambda: now[0])  # type: ignore[arg-type]

    def names() -> list[str]:
        """Names that are queued by a look."""
        before = len(source._queue.known)
        source._queue._waiting.clear()
        source.discover()
        return [one.removeprefix(f"{landing}/") for one in list(source._queue.known)[before:]]

    put(landing, *(f"2026/{number:04}.jsonl" for number in range(1_500)), "a b/0.jsonl")
    assert len(names()) == 1_501
    put(landing, "2026/1500.jsonl", "b/1.jsonl", "b/_hidden", "_b/2.jsonl")
    assert names() == ["b/1.jsonl"]
    proxy.requests.clear()
    assert list(files.walk(landing, (), f"{landing}/b/1.jsonl")) == []
    assert proxy.requests == ["GET"]
    now[0] += timedelta(minutes=59)
    assert names() == []
    now[0] += timedelta(minutes=1)
    assert names() == ["2026/1500.jsonl"]
    # Another process lists all once, and then knows the newest, also where nothing was new.
    source = FileStreamSource(None, lake, stream, stream.source, lambda: now[0])  # type: ignore[arg-type]
    assert names() == []
    put(landing, "2026/1501.jsonl", "c.jsonl")
    assert names() == ["c.jsonl"]


def test_many_files_are_found_in_flat_memory(landing: str, proxy: Proxy) -> None:
    peaks = []
    for count in (3_000, 30_000):
        proxy.answers = pages(count)
        proxy.requests.clear()
        tracemalloc.start()
        assert sum(1 for _ in files.walk(landing, ())) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(proxy.requests) == count / 1000
    # Ten times as many; a page that is read ahead comes and goes.
    assert peaks[1] < 2 * peaks[0]


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2"])
def test_lines_are_read_as_those_of_a_local_file(landing: str, tmp_path: Path, ending: str) -> None:
    drawn = random.Random(1)
    lines = b"".join(b"%d,%s\n" % (n, drawn.randbytes(30).hex().encode()) for n in range(80_000))
    packed = {"": lines, ".gz": gzip.compress(lines, 1), ".bz2": bz2.compress(lines[:999_999])}[
        ending
    ]
    local = tmp_path / f"a.jsonl{ending}"
    local.write_bytes(packed)
    put(landing, local.name, content=packed)
    url = f"{landing}/{local.name}"
    assert files.size_of(url) == len(packed) == files.size_of(str(local))
    assert list(blocks(url)) == list(blocks(str(local)))
    assert sum(1 for _ in numbered_lines(url)) == sum(1 for _ in numbered_lines(str(local)))
    spans = [(5, 20), (30, 0), (50_000, 70)]
    assert list(read_at(url, spans)) == list(read_at(str(local), spans))


def test_a_small_file_is_one_request_and_a_large_one_a_few(landing: str, proxy: Proxy) -> None:
    put(landing, "small", content=b"1" * 100)
    put(landing, "large", content=b"1" * (9 << 20))
    for name, requests in (("small", 1), ("large", 3)):
        proxy.requests.clear()
        assert {byte for _, block in blocks(f"{landing}/{name}") for byte in block} == {ord("1")}
        assert proxy.requests == ["GET"] * requests
    files.remember_sizes([(f"{landing}/small", 100)])
    proxy.requests.clear()
    assert [files.size_of(f"{landing}/{name}") for name in ("small", "large")] == [100, 9 << 20]
    assert files.size_of(f"{landing}/large") == 9 << 20
    assert proxy.requests == ["HEAD"]


def test_typed_files_are_read(landing: str, tmp_path: Path) -> None:
    table = pa.table({"a": list(range(800_000)), "b": ["x" * 9] * 800_000})
    pq.write_table(table, tmp_path / "a.parquet", compression="none", use_dictionary=False)
    put(landing, "a.parquet", content=(tmp_path / "a.parquet").read_bytes())
    with opened_parquet(f"{landing}/a.parquet") as file:
        assert file.read().equals(table)
    why_unreadable(f"{landing}/a.parquet", Format.PARQUET)
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "int"}]}
    with (tmp_path / "a.avro").open("wb") as avro:
        fastavro.writer(avro, schema, [{"id": 1}, {"id": 2}])
    put(landing, "a.avro", content=(tmp_path / "a.avro").read_bytes())
    assert [record for _, record in avro_records(f"{landing}/a.avro")] == [{"id": 1}, {"id": 2}]


def test_a_file_that_is_replaced_while_it_is_read_is_not_mixed(landing: str) -> None:
    put(landing, "a", content=b"1" * (9 << 20))
    with files.open_stream(f"{landing}/a") as stream:
        stream.read(10)
        put(landing, "a", content=b"2" * (9 << 20))
        with pytest.raises(OSError, match="/landing/a was replaced while it was read"):
            stream.read(8 << 20)


def test_broken_files_are_named_and_none_while_the_store_is_away(
    landing: str, proxy: Proxy
) -> None:
    put(landing, "good.jsonl", "bad.jsonl.gz")
    paths = [f"{landing}/{name}" for name in ("good.jsonl", "bad.jsonl.gz", "gone.jsonl")]
    broken = broken_files(paths, stream_of(landing))
    assert list(broken) == paths[1:]
    assert empty_files(paths) == []
    proxy.answers = lambda _method, _path: (403, "<Error><Code>ExpiredToken</Code></Error>")
    with pytest.raises(StorageFailed, match="credentials have expired"):
        broken_files(paths, stream_of(landing))


def test_what_a_worker_says_of_the_store_is_no_fault_of_a_file() -> None:
    text = (
        "An exception was thrown from the Python worker: Traceback (most recent call last):\n"
        "  File x, line 1\n"
        "ingest.errors.StorageAway: s3a://b/a: http://s3 does not answer: see that it runs\n"
    )
    assert not may_be_of_a_file(RuntimeError(text))
    found = explained(RuntimeError(text), "shop.a", Lake("/lake"))
    assert isinstance(found, StorageFailed)
    assert str(found) == "shop.a: s3a://b/a: http://s3 does not answer: see that it runs"


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_files_that_have_landed_are_moved_or_deleted(landing: str, scheme: str) -> None:
    put(landing, "in/a/1.jsonl", "in/2.jsonl")
    declared = f"{scheme}:{landing.partition(':')[2]}"
    mover = FileSource(
        path=f"{declared}/in/",
        clean_source=CleanSource.MOVE,
        move_destination=f"{declared}/done",
    )
    assert path_in_folder(f"{landing}/in/a/1.jsonl", mover) == "a/1.jsonl"
    for _ in range(2):
        _clean(f"{landing}/in/a/1.jsonl", mover)
    assert found(landing) == ["done/a/1.jsonl", "in/2.jsonl"]
    for _ in range(2):
        _clean(
            f"{landing}/in/2.jsonl",
            FileSource(path=f"{landing}/in", clean_source=CleanSource.DELETE),
        )
    assert found(landing) == ["done/a/1.jsonl"]


def test_what_cannot_be_cleaned_up_is_a_warning(
    landing: str, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    put(landing, "a.jsonl")
    proxy.answers = lambda _method, _path: (403, "<Error><Code>AccessDenied</Code></Error>")
    _clean(f"{landing}/a.jsonl", FileSource(path=landing, clean_source=CleanSource.DELETE))
    assert "has landed but cannot be cleaned up" in caplog.text
    assert "may not do this (AccessDenied)" in caplog.text


def test_a_folder_without_files_is_reported_and_a_wrong_bucket_refused(
    landing: str, caplog: pytest.LogCaptureFixture
) -> None:
    source, stream = FileSource(path=landing), stream_of(landing)
    check_folder(source, "shop.yml: shop.orders")
    assert f"shop.yml: shop.orders: path {landing!r}: {landing} has no files yet" in caplog.text
    [warning] = check_paths([stream])
    assert "has no files yet; wait for them or mend the path" in warning
    assert listed(source, {}, NOW) == []
    put(landing, "a.jsonl")
    assert check_paths([stream]) == []
    with pytest.raises(FolderMissing, match="is a file; name its folder"):
        check_folder(FileSource(path=f"{landing}/a.jsonl"), "shop.orders")
    with pytest.raises(StorageFailed, match="s3a://nobody/landing: there is no such bucket"):
        check_folder(FileSource(path="s3a://nobody/landing"), "shop.orders")
    with pytest.raises(StorageFailed, match="s3a://nobody/landing: there is no such bucket"):
        listed(FileSource(path="s3a://nobody/landing"), {}, NOW)


def test_a_file_that_is_gone_is_as_a_local_one(landing: str) -> None:
    assert not files.is_file(f"{landing}/a")
    assert not files.is_folder(f"{landing}/a")
    assert files.size_of(f"{landing}/a") == 0
    with pytest.raises(FileNotFoundError):
        files.open_stream(f"{landing}/a")
    with pytest.raises(SourceUnreadable):
        why_unreadable(f"{landing}/a", Format.JSON)
    assert files.is_folder(f"s3a://{s3.BUCKET}")
