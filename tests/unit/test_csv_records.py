"""CSV by RFC 4180: values, places and faults of records, compared with Python's reader."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path
from typing import Any

import pytest

from ingest.declarations.stream import CsvOptions
from ingest.parse import csv_records
from ingest.parse.csv_records import CsvFile
from tests.fuzzing import cases, seed

Seen = tuple[int, list[str | None] | str]


def read(
    path: Path, content: str | bytes, width: int = 2, *, multi_line: bool = False, **options: Any
) -> list[Seen]:
    """Line and values of each record of a file, or the code of its fault."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    file = CsvFile(str(path), CsvOptions(**options), multi_line)
    return [
        (one.position, one.fault[0] if one.fault else list(one.values))
        for one in file.records(width)
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file to write."""
    return tmp_path / "a.csv"


def test_only_the_first_line_is_the_header(path: Path) -> None:
    assert read(path, "a,b\na,b\n") == [(2, ["a", "b"])]
    assert read(path, "a,b\na,b\n", header=False) == [(1, ["a", "b"]), (2, ["a", "b"])]
    assert read(path, "\n \na,b\n\n1,2") == [(5, ["1", "2"])]
    assert read(path, "a,b\n") == read(path, "") == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_ends_with_lf_crlf_or_cr(path: Path, end: str) -> None:
    content = f"\ufeffa,b{end}1,x{end}2,"
    assert read(path, content) == [(2, ["1", "x"]), (3, ["2", None])]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ('1,"a, b"', ["1", "a, b"]),
        ('"1","say ""hi"""', ["1", 'say "hi"']),
        (",", [None, None]),
        ('"",', ["", None]),
        ('5" pipe,"x"', ['5" pipe', "x"]),
        (" 1 , x ", [" 1 ", " x "]),
        ("\u00a0,\x1f", ["\u00a0", "\x1f"]),
        ('1,"a"b', "MALFORMED_CSV"),
        ('1,"a" ', "MALFORMED_CSV"),
        ("1", "MALFORMED_CSV"),
        ("1,2,3", "MALFORMED_CSV"),
        (b"1,M\xfcller", "INVALID_UTF8"),
    ],
)
def test_a_line_has_values_or_a_fault(
    path: Path, line: str | bytes, values: list[str | None] | str
) -> None:
    raw = line if isinstance(line, bytes) else line.encode()
    assert read(path, b"a,b\n" + raw + b"\n3,4\n") == [(2, values), (3, ["3", "4"])]


def test_a_declared_way_of_writing_is_followed(path: Path) -> None:
    options: dict[str, Any] = {"sep": "||", "quote": "'", "escape": "\\", "null_value": "NA"}
    content = "a||b\n'x||\\'y\\\\'||NA\n'NA'||\n"
    assert read(path, content, **options) == [(2, ["x||'y\\", None]), (3, [None, None])]
    assert read(path, 'a,b\n"1",2\n', quote="") == [(2, ['"1"', "2"])]


OPEN = "MALFORMED_CSV"


@pytest.mark.parametrize(
    ("lines", "single", "multiple"),
    [
        # A value over two and over three lines, whose middle looks like a record.
        ('1,"x\ny"\n', [(2, OPEN), (3, OPEN)], [(2, ["1", "x\ny"])]),
        ('1,"x\n2,y\n3,z"\n', [(2, OPEN), (3, OPEN), (4, OPEN)], [(2, ["1", "x\n2,y\n3,z"])]),
        ('1,"x\r\n\r\ny"\r\n', [(2, OPEN), (3, OPEN), (4, OPEN)], [(2, ["1", "x\r\n\r\ny"])]),
        # The quotes of the last line show that the first was a slip.
        ('1,"x\n2,y\n3,"z"\n', [(2, OPEN), (3, ["2", "y"]), (4, ["3", "z"])], None),
        # Nothing shows it where no other quote comes; a file may have been cut off there.
        ('1,"x\n2,y\n', [(2, OPEN), (3, ["2", "y"])], [(2, OPEN), (3, OPEN)]),
    ],
)
def test_a_quote_that_does_not_close_on_its_line_lands_no_halves(
    path: Path, lines: str, single: list[Seen], multiple: list[Seen] | None
) -> None:
    assert read(path, "a,b\n" + lines) == single
    assert read(path, "a,b\n" + lines, multi_line=True) == (multiple or single)


def test_a_line_of_other_spaces_than_blanks_is_a_record(path: Path) -> None:
    assert read(path, "a\n\u00a0\n \t\n\x1f\n", width=1) == [(2, ["\u00a0"]), (4, ["\x1f"])]


@pytest.mark.parametrize(
    ("end", "others"),
    [
        ('y"\n3,z\n', [(6, OPEN), (7, ["3", "z"])]),
        # The quotes of a later line show that the first was a slip.
        ('"y"\n3,z\n', [(6, ["y"]), (7, ["3", "z"])]),
        ("y\n", [(6, OPEN)]),
    ],
)
def test_a_value_that_is_longer_than_any_lands_no_halves(
    path: Path, monkeypatch: pytest.MonkeyPatch, end: str, others: list[Seen]
) -> None:
    monkeypatch.setattr(csv_records, "_FARTHEST", 5)
    content = 'a,b\n1,"x\n1,2\n3,4\n5,6\n' + end
    seen = read(path, content, multi_line=True)
    assert seen[:4] == [(line, OPEN) for line in (2, 3, 4, 5)]
    assert seen[4:] == [(at, OPEN if values == ["y"] else values) for at, values in others]


def test_the_bytes_of_a_record_are_kept_as_they_came(path: Path) -> None:
    path.write_bytes(b'a,b\r\n1,"x\r\ny"\r\n2,\xff\r\n')
    file = CsvFile(str(path), CsvOptions(), multi_line=True)
    assert [one.raw for one in file.records(2)] == [b'1,"x\r\ny"', b"2,\xff"]


def drawn_value(draw: random.Random) -> str:
    """A value that may have to be quoted."""
    letters = draw.choice(["ab", 'ab"', "ab\n", 'a"\n,', "\r\n\" ,;'ü\\"])
    return "".join(draw.choices(letters, k=draw.randrange(5)))


def test_what_python_writes_is_read_as_python_reads_it(path: Path) -> None:
    draw = random.Random(seed())
    for _ in range(cases(1500)):
        width = draw.randrange(2, 5)
        rows = [[drawn_value(draw) for _ in range(width)] for _ in range(draw.randrange(6))]
        text, end = io.StringIO(), draw.choice(["\n", "\r\n"])
        # With LF as the end, Python would not quote a CR unless all is quoted.
        is_all = end == "\n" or draw.random() < 0.5
        writer = csv.writer(
            text, quoting=csv.QUOTE_ALL if is_all else csv.QUOTE_MINIMAL, lineterminator=end
        )
        writer.writerows(rows)
        whole = read(path, text.getvalue(), width, multi_line=True, header=False)
        assert [["" if one is None else one for one in values] for _, values in whole] == rows
        # A line a record: what spans lines is in quarantine, line by line, and no part of it lands.
        one_line = [row for row in rows if not any("\n" in one or "\r" in one for one in row)]
        seen = read(path, text.getvalue(), width, header=False)
        landed = [values for _, values in seen if not isinstance(values, str)]
        assert [["" if one is None else one for one in values] for values in landed] == one_line


def test_each_line_of_any_bytes_is_a_record_or_a_fault(path: Path) -> None:
    draw = random.Random(seed())
    for _ in range(cases(3000)):
        content = bytes(draw.choices(b'ab,,""\n\n\r\xff', k=draw.randrange(40)))
        path.write_bytes(content)
        for multi_line in (False, True):
            file = CsvFile(str(path), CsvOptions(header=False), multi_line)
            lines = [line for one in file.records(2) for line in one.raw.splitlines() if line]
            assert lines == [line for line in content.splitlines() if line]
