"""Files are found whatever their age, and handed out in batches as declared."""

from __future__ import annotations

import gzip
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.declarations.globs import glob_problem
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import CsvOptions, DatedFolders, FileSource, Format
from ingest.decoders.file_headers import csv_header, why_unreadable
from ingest.errors import DeclarationInvalid, FolderMissing, SourceUnreadable
from ingest.parse.csv_records import CsvFile
from ingest.parse.lines import whole
from ingest.sources.file_queue import batches
from ingest.sources.listing import check_folder, check_paths, listed
from ingest.storage.files import FoundFile
from tests.spark.workshop import node

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
DATED = DatedFolders(format="dt=%Y-%m-%d", open_for=timedelta(days=3))


def put(path: Path, content: str = "{}\n", at: datetime = NOW) -> Path:
    """Write a file that was changed at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    os.utime(path, (at.timestamp(), at.timestamp()))
    return path


def found(source: FileSource, known: set[str] | None = None, now: datetime = NOW) -> list[str]:
    """Paths below the source's folder."""
    return [
        str(Path(file.path).relative_to(source.path))
        for file in listed(source, dict.fromkeys(known or (), (0, 0)), now)
    ]


def test_an_old_file_is_found_after_a_new_one(tmp_path: Path) -> None:
    source = FileSource(path=str(tmp_path))
    new = put(tmp_path / "new.jsonl")
    put(tmp_path / "old.jsonl", at=NOW - timedelta(weeks=3))
    assert found(source, {str(new)}) == ["old.jsonl", "new.jsonl"]


def test_a_file_that_is_known_as_it_is_is_passed_over(tmp_path: Path) -> None:
    source = FileSource(path=str(tmp_path))
    put(tmp_path / "a.jsonl")
    (one,) = listed(source, {}, NOW)
    known = {one.path: (one.size, one.modified_us)}
    assert listed(source, known, NOW) == []
    put(tmp_path / "a.jsonl", at=NOW + timedelta(seconds=1))
    assert [file.path for file in listed(source, known, NOW)] == [one.path]


def test_all_folders_are_searched_and_hidden_names_passed_over(tmp_path: Path) -> None:
    for name in ("a/b/c.jsonl", ".hidden", "_SUCCESS", "_temporary/part", "a/.b.jsonl.crc"):
        put(tmp_path / name)
    assert found(FileSource(path=str(tmp_path))) == ["a/b/c.jsonl"]


def test_a_url_is_read_with_names_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "my orders"
    put(folder / "a 100%20.jsonl")
    [file] = listed(FileSource(path=folder.as_uri()), {}, NOW)
    assert file.path == f"file://{folder}/a 100%20.jsonl"
    assert whole(file.path) == b"{}\n"


def test_file_as_path_is_refused_and_missing_folder_is_reported(tmp_path: Path) -> None:
    entry = {"from": "files", "format": "json"}
    missing = read_stream(node("shop.a", {**entry, "path": str(tmp_path / "none")}))
    there = read_stream(node("shop.b", {**entry, "path": str(tmp_path)}))
    [warning] = check_paths([missing, there])
    assert "none is not a folder; create it" in warning
    wrong = put(tmp_path / "a.jsonl")
    with pytest.raises(DeclarationInvalid, match=r"shop.c: meta.ingest.path .* is a file"):
        check_paths([read_stream(node("shop.c", {**entry, "path": str(wrong)}))])


@pytest.mark.parametrize(
    ("glob", "taken"),
    [
        ("*.{json,jsonl}", ["a.json", "a.jsonl"]),
        ("a.{json{,l},csv}", ["a.csv", "a.json", "a.jsonl"]),
        ("a.{json,c}[!x]", ["a.jsonl"]),
        ("a.[{]", ["a.{"]),
        ("a.[jc]s{on,v}", ["a.csv", "a.json"]),
        ("{a,b}.{csv,{}", None),
        ("*.[abc", None),
        ("a.json}", None),
        ("a.[^j]*", None),
        ("a\\*", None),
        ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", None),
    ],
)
def test_globs_may_have_braces(tmp_path: Path, glob: str, taken: list[str] | None) -> None:
    for name in ("a.json", "a.jsonl", "a.csv", "a.{", "b.txt"):
        put(tmp_path / name)
    assert (glob_problem(glob) is None) is (taken is not None)
    if taken is not None:
        assert found(FileSource(path=str(tmp_path), path_glob_filter=glob)) == taken


def test_names_that_do_not_match_are_passed_over(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.gz", "a.csv"):
        put(tmp_path / name)
    assert found(FileSource(path=str(tmp_path), path_glob_filter="*.jsonl*")) == [
        "a.jsonl",
        "a.jsonl.gz",
    ]


def test_size_and_time_come_with_each_name(tmp_path: Path) -> None:
    path = put(tmp_path / "a.jsonl", "12345")
    (file,) = listed(FileSource(path=str(tmp_path)), {}, NOW)
    assert file == FoundFile(str(path), 5, int(NOW.timestamp() * 1_000_000))


def test_a_file_that_may_still_be_written_waits(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", at=NOW - timedelta(seconds=5))
    source = FileSource(path=str(tmp_path), min_file_age=timedelta(seconds=10))
    assert found(source) == []
    assert found(source, now=NOW + timedelta(seconds=5)) == ["a.jsonl"]


def test_closed_folders_are_not_listed_again(tmp_path: Path) -> None:
    source = FileSource(path=str(tmp_path), dated_folders=DATED)
    old = put(tmp_path / "dt=2026-03-16" / "a.jsonl")
    put(tmp_path / "dt=2026-03-17" / "a.jsonl")
    assert len(found(source)) == 2
    assert found(source, {str(old)}) == ["dt=2026-03-17/a.jsonl"]


def test_a_folder_of_an_old_day_that_comes_late_is_listed(tmp_path: Path) -> None:
    source = FileSource(path=str(tmp_path), dated_folders=DATED)
    known = put(tmp_path / "dt=2026-03-10" / "a.jsonl")
    put(tmp_path / "dt=2026-01-01" / "late.jsonl")
    assert found(source, {str(known)}) == ["dt=2026-01-01/late.jsonl"]


def test_folders_that_name_no_day_stay_open(tmp_path: Path) -> None:
    source = FileSource(path=str(tmp_path), dated_folders=DATED)
    known = put(tmp_path / "dt=unknown" / "a.jsonl")
    put(tmp_path / "dt=unknown" / "b.jsonl")
    assert found(source, {str(known)}) == ["dt=unknown/a.jsonl", "dt=unknown/b.jsonl"]


def test_missing_folder_is_reported_with_its_declaration(tmp_path: Path) -> None:
    with pytest.raises(
        FolderMissing, match=r"shop.yml: shop.orders: path .* is not a folder"
    ) as told:
        check_folder(FileSource(path=str(tmp_path / "none")), "shop.yml: shop.orders")
    assert told.value.exit_code == 2
    with pytest.raises(FolderMissing):
        check_folder(FileSource(path=str(put(tmp_path / "file"))), "a file")


def test_a_folder_that_vanished_cannot_be_listed(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="cannot be listed") as told:
        found(FileSource(path=str(tmp_path / "none")))
    assert told.value.exit_code == 1


def files(*sizes: int) -> list[FoundFile]:
    """Files of these sizes."""
    return [FoundFile(f"/f{index}", size, index) for index, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "most_files", "most_bytes", "expected"),
    [
        ([], 10, 10, []),
        ([1, 1, 1], 2, 100, [[1, 1], [1]]),
        ([4, 4, 4], 10, 8, [[4, 4], [4]]),
        ([9, 1, 9], 10, 8, [[9], [1], [9]]),
        ([1, 1], 1, 1, [[1], [1]]),
    ],
)
def test_batches_keep_both_bounds_and_every_file(
    sizes: list[int], most_files: int, most_bytes: int, expected: list[list[int]]
) -> None:
    source = FileSource(
        path="x", max_files_per_trigger=most_files, max_bytes_per_trigger=most_bytes
    )
    cut = list(batches(files(*sizes), source))
    assert [[file.size for file in batch] for batch in cut] == expected
    assert [file for batch in cut for file in batch] == files(*sizes)


def header_of(path: Path) -> tuple[str, ...] | None:
    """The names in a CSV file's header."""
    return csv_header(CsvFile(str(path), CsvOptions(), multi_line=False))


@pytest.mark.parametrize(
    ("first_line", "names"),
    [
        (b"a,b\n1,2\n", ("a", "b")),
        (b"a,b\r\n1,2\r\n", ("a", "b")),
        (b'\xef\xbb\xbfa,"b,c"\n', ("a", "b,c")),
        (b"a", ("a",)),
        (b'\n \na, b , "c"\n', ("a", "b", "c")),
        (b"", None),
    ],
)
def test_a_csv_header_is_read(tmp_path: Path, first_line: bytes, names: tuple[str, ...]) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(first_line)
    assert header_of(path) == names
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(first_line))
    assert header_of(packed) == names


@pytest.mark.parametrize("line", [b"a,a\n", b"a, A\n", b"a,,b\n", b"\xff,b\n", b'a,"b\n'])
def test_a_csv_without_a_sound_header_is_unreadable(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(line)
    with pytest.raises(SourceUnreadable, match=r"a\.csv: "):
        header_of(path)


@pytest.mark.parametrize("file_format", [Format.JSON, Format.PARQUET])
def test_a_file_that_was_cut_off_is_unreadable(tmp_path: Path, file_format: Format) -> None:
    path = tmp_path / ("a.parquet" if file_format is Format.PARQUET else "a.jsonl.gz")
    if file_format is Format.PARQUET:
        pq.write_table(pa.table({"a": list(range(1000))}), path)
    else:
        path.write_bytes(gzip.compress(os.urandom(5000)))
    why_unreadable(str(path), file_format)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(SourceUnreadable) as told:
        why_unreadable(str(path), file_format)
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)
