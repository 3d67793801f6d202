"""Lines of text files, cut and unpacked."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import pytest

from ingest.parse import lines
from ingest.parse.lines import blocks, line_starts, numbered_lines, packed_otherwise, read_at, whole


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
def test_lines_end_with_lf_crlf_or_cr_wherever_a_chunk_ends(tmp_path: Path, chunk: int) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"one\ntwo\r\nthree\rfour\n\nsix \x85\x0c seven")
    assert list(numbered_lines(str(path))) == [
        (1, b"one\n"),
        (2, b"two\r\n"),
        (3, b"three\r"),
        (4, b"four\n"),
        (5, b"\n"),
        (6, b"six \x85\x0c seven"),
    ]
    starts = [
        offset + int(start)
        for offset, block in blocks(str(path), chunk)
        for start in line_starts(block)[:-1]
    ]
    assert starts == [0, 4, 9, 15, 20, 21]


def test_byte_order_mark_is_not_part_of_the_first_line(tmp_path: Path) -> None:
    path = tmp_path / "marked.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n1,2\n")
    assert [line for _, line in numbered_lines(str(path))] == [b"a,b\n", b"1,2\n"]
    assert [(offset, block[:4]) for offset, block in blocks(str(path))] == [(3, b"a,b\n")]


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_packed_files_are_unpacked(tmp_path: Path, ending: str, pack: type) -> None:
    path = tmp_path / f"packed.jsonl{ending}"
    path.write_bytes(pack(b"one\n") + pack(b"two\n"))
    assert [line for _, line in numbered_lines(str(path))] == [b"one\n", b"two\n"]
    assert whole(str(path)) == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("name", "pack"), [("a.jsonl", bytes), ("a.gz", gzip.compress), ("a.bz2", bz2.compress)]
)
def test_bytes_are_read_from_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, pack: type
) -> None:
    monkeypatch.setattr(lines, "CHUNK", 2)
    path = tmp_path / name
    path.write_bytes(pack(b"one\ntwo\nthree\n"))
    assert list(read_at(str(path), [(0, 4), (8, 6)])) == [b"one\n", b"three\n"]


def test_truncated_compressed_file_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "short.gz"
    path.write_bytes(gzip.compress(b"one\n"))
    with pytest.raises(EOFError, match="has become shorter"):
        list(read_at(str(path), [(8, 6)]))


def test_what_is_packed_otherwise_is_named_with_the_remedy() -> None:
    refused = packed_otherwise(["a.jsonl", "b.jsonl.gz", "c.jsonl.ZST"])
    assert refused == {
        "c.jsonl.ZST": "c.jsonl.ZST: .zst is not read; deliver it plain, as .gz or as .bz2"
    }
