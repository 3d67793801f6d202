"""Writing files as careful producers do: under a name that nobody reads, then renamed."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from demo.marketplace import clock
from demo.marketplace.clock import HOUR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from demo.marketplace.arrivals import Line

LINES_A_FILE: Final = 25_000
# One file in so many is compressed.
GZIP_EVERY: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFile:
    """One file of lines."""

    path: str
    lines: Sequence[Line]

    def data(self) -> bytes:
        """The bytes, compressed if the name says so; without a time stamp in them."""
        plain = b"".join(line.data + b"\n" for line in self.lines)
        if not self.path.endswith(".gz"):
            return plain
        sink = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=sink, mtime=0, compresslevel=6) as file:
            file.write(plain)
        return sink.getvalue()


def line_files(
    folder: str, name: str, closed_hour: int, lines: Sequence[Line], *, may_compress: bool
) -> Iterator[LineFile]:
    """The lines of one closing, in files of bearable size, in the folder of the day they came."""
    closed = closed_hour * HOUR
    stamp = clock.compact(closed)[:13].replace("-", "T")
    for number, start in enumerate(range(0, len(lines), LINES_A_FILE), start=1):
        is_compressed = may_compress and (closed_hour + number) % GZIP_EVERY == 0
        ending = "jsonl.gz" if is_compressed else "jsonl"
        path = f"{folder}/dt={clock.date(closed - 1)}/{name}-{stamp}-{number:04d}.{ending}"
        yield LineFile(path=path, lines=lines[start : start + LINES_A_FILE])


def write(root: Path, path: str, data: bytes) -> None:
    """Put a file in its place at once, whole. One that is there with the same bytes stays."""
    target = root / path
    if target.is_file() and target.stat().st_size == len(data) and target.read_bytes() == data:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f"_{target.name}.unfinished")
    unfinished.write_bytes(data)
    unfinished.replace(target)
