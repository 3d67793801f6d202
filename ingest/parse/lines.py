"""Lines of text files, cut and unpacked as Spark's text source does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ingest.storage.files import ending_of, open_file, open_stream

if TYPE_CHECKING:
    Positions = np.ndarray[Any, np.dtype[np.int64]]

# Bytes that are read at once.
CHUNK = 1 << 22
_LF, _CR = b"\n\r"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PACKED = frozenset({".gz", ".bz2"})
# Endings for which Hadoop needs native libraries, or a format of its own.
_PACKED_OTHERWISE = frozenset({".deflate", ".lz4", ".snappy", ".zst"})


def numbered_lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Each line of a file with its number, from 1, and with its end, be it LF, CRLF or CR."""
    lines = (line for _, block in blocks(path) for line in block.splitlines(keepends=True))
    return enumerate(lines, 1)


def blocks(path: str, chunk_bytes: int = CHUNK) -> Iterator[tuple[int, bytes]]:
    """A file in blocks of whole lines, each with its offset in the unpacked file.

    A block is as long as what is read at once, or as a line. A byte order mark at the file's
    start belongs to no line.
    """
    with open_stream(path) as stream:
        held = bytes(stream.read(chunk_bytes))
        offset = len(_BYTE_ORDER_MARK) if held.startswith(_BYTE_ORDER_MARK) else 0
        held = held[offset:]
        while chunk := bytes(stream.read(chunk_bytes)):
            # A CR at the end may be half of a CRLF.
            end = max(held.rfind(b"\n"), held.rfind(b"\r", 0, -1)) + 1
            if end:
                yield offset, held[:end]
            offset += end
            held = held[end:] + chunk
        if held:
            yield offset, held


def line_starts(block: bytes) -> Positions:
    """Where each line of a block of whole lines begins, and where the last one ends."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == _LF)
    if b"\r" in block:
        returns = np.flatnonzero(data == _CR)
        is_last = returns == len(data) - 1
        alone = is_last | (data[np.minimum(returns + 1, len(data) - 1)] != _LF)
        ends = np.sort(np.concatenate([ends, returns[alone]]))
    starts = np.concatenate([[0], ends + 1])
    return starts if len(data) == starts[-1] else np.append(starts, len(data))


def read_at(path: str, spans: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Of the unpacked file, so many bytes from each offset; the offsets ascend."""
    # A packed file has no places to go to: it is read from its start.
    if ending_of(path) not in _PACKED:
        with open_file(path) as file:
            for offset, length in spans:
                yield bytes(file.read_at(length, offset))
        return
    with open_stream(path) as stream:
        position = 0
        for offset, length in spans:
            while position < offset:
                passed = len(stream.read(min(CHUNK, offset - position)))
                if not passed:
                    raise EOFError(f"{path}: the file has become shorter since it was read")
                position += passed
            yield bytes(stream.read(length))
            position += length


def whole(path: str) -> bytes:
    """A file's bytes, unpacked."""
    with open_stream(path) as stream:
        return bytes(stream.read())


def packed_otherwise(paths: Sequence[str]) -> dict[str, str]:
    """The files that neither of the two readers could unpack alike, with the reason."""
    return {
        path: f"{path}: {ending} is not read; deliver it plain, as .gz or as .bz2"
        for path in paths
        if (ending := ending_of(path)) in _PACKED_OTHERWISE
    }
