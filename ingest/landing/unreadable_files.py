"""Which files of a batch cannot be read, where reading all of it has failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from ingest.declarations.stream import Format, Stream
from ingest.envelopes.avro_as_json import why_no_avro
from ingest.errors import SourceUnreadable, StorageFailed
from ingest.parse.csv_records import CsvFile
from ingest.decoders.file_headers import csv_header, why_unreadable


def broken_files(paths: Sequence[str], stream: Stream) -> dict[str, str]:
    """The files that cannot be read to their end, or without a sound header, with the reason."""
    found = {}
    for path in paths:
        try:
            match stream.format:
                case Format.AVRO:
                    why_no_avro(path)
                case Format.CSV:
                    why_unreadable(path, stream.format)
                    if stream.csv.header:
                        csv_header(CsvFile(path, stream.csv, stream.multi_line))
                case Format.JSON | Format.PARQUET | Format.BYTES:
                    why_unreadable(path, stream.format)
                case _:
                    assert_never(stream.format)
        except SourceUnreadable as error:
            found[path] = str(error)
        except StorageFailed:
            # Where the store does not answer, or refuses us, no file is to blame.
            raise
        except Exception as error:
            # A reader may fail on broken bytes in any way, and the other files wait.
            found[path] = f"{path}: {type(error).__name__}: {' '.join(str(error).split())}"
    return found
