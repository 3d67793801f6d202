"""Files whose column names cannot be read are unreadable, with the reason."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ingest.declarations.stream import CsvOptions, Format
from ingest.decoders.file_headers import csv_header, parquet_footer, why_unreadable
from ingest.errors import SourceUnreadable
from ingest.parse.csv_records import CsvFile


def test_a_parquet_column_whose_name_is_not_utf8_makes_its_file_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1], "abcQefgh": [2]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"abcQefgh", b"abc\xffefgh"))
    with pytest.raises(SourceUnreadable, match="'utf-8' codec can't decode"):
        parquet_footer(str(path))
    with pytest.raises(SourceUnreadable, match="'utf-8' codec can't decode"):
        why_unreadable(str(path), Format.PARQUET)


def test_a_header_of_utf_16_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\n1,2\n".encode("utf-16-le"))
    with pytest.raises(SourceUnreadable, match=r"zero byte; is it UTF-16\?"):
        csv_header(CsvFile(str(path), CsvOptions(), multi_line=False))
