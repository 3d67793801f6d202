"""Lines of text files, cut and unpacked as Spark's text source does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ingest.files.listing import opened

_CHUNK = 1 << 22
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Endings for which Hadoop needs native libraries, or a format of its own.
_PACKED_OTHERWISE = frozenset({".deflate", ".lz4", ".snappy", ".zst"})


def numbered_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Each line of a file with its number, from 1: without its end, be it LF, CRLF or CR."""
    yield from enumerate(_lines(path), 1)


def whole(path: str) -> bytes:
    """A file's bytes, unpacked."""
    system, inside = opened(path)
    with system.open_input_stream(inside) as stream:
        return bytes(stream.read())


def packed_otherwise(paths: Sequence[str]) -> dict[str, str]:
    """The files that neither of the two readers could unpack alike, with the reason."""
    return {
        path: f"{path}: {ending} is not read; deliver it plain, as .gz or as .bz2"
        for path in paths
        if (ending := PurePosixPath(path).suffix.lower()) in _PACKED_OTHERWISE
    }


def _lines(path: str) -> Iterator[bytes]:
    system, inside = opened(path)
    with system.open_input_stream(inside) as stream:
        held = bytes(stream.read(_CHUNK)).removeprefix(_BYTE_ORDER_MARK)
        while chunk := bytes(stream.read(_CHUNK)):
            # A CR at the end may be half of a CRLF.
            end = max(held.rfind(b"\n"), held.rfind(b"\r", 0, -1)) + 1
            yield from held[:end].splitlines()
            held = held[end:] + chunk
        yield from held.splitlines()
