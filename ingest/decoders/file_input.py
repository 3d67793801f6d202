"""Files of JSON, or of Avro as JSON, read by Spark's Python workers: each once, by one worker.

A record is known by where it stands: the number of its file among the batch's, its offset and
length there, and its line. In Avro, whose records have no place in a file, the offset counts
records. Those that are deferred are read again by their refs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import TYPE_CHECKING, assert_never

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from ingest.decoders.arrow_batches import Batches, balanced
from ingest.decoders.decoder import SOURCE
from ingest.decoders.deferred import FOUND, in_batches
from ingest.decoders.input import ENOUGH, gathered
from ingest.envelopes.avro_as_json import avro_texts
from ingest.parse.lines import CHUNK, blocks, line_starts, read_at, whole
from ingest.storage.files import size_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ingest.decoders.input import ColumnReader
    from ingest.envelopes.message_reader import Reading
    from ingest.parse.lines import Positions


class Layout(Enum):
    """How records stand in a file."""

    LINES = auto()
    WHOLE_FILE = auto()
    AVRO = auto()


# Bytes that one task reads of many files.
_TASK = 1 << 29
# Bytes of a batch that takes some seconds.
_MANY = 1 << 28
# Bytes of a sample, of which each takes far longer; and of each record of one that is large.
_SAMPLED, _EACH = 1 << 23, 1 << 9
# Bytes of a file that a sample reads at once, of which it takes few lines.
_BEGINNING = 1 << 16
# Up to so many records, a job costs more than the work.
_FEW_RECORDS = 5_000
# So much larger is JSON than its gz.
_PACKED = 8
_SPACES = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class FileInput:
    """See Input: the records of files. Lines of white space are no records."""

    spark: SparkSession
    paths: Sequence[str]
    layout: Layout

    @property
    def provenance(self) -> Sequence[str]:
        """See Input."""
        return (SOURCE,)

    @property
    def has_headers(self) -> bool:
        """See Input."""
        return False

    @property
    def are_many(self) -> bool:
        """See Input."""
        # Where a file is a record, a few of them may be as large as all.
        is_cut = self.layout is not Layout.WHOLE_FILE
        return is_cut and sum(map(_unpacked_size, self.paths)) > _MANY

    @property
    def place(self) -> Sequence[str]:
        """See Input."""
        return _PLACE

    def read(self, columns: ColumnReader, reading: Reading) -> DataFrame:
        """See Input."""
        spark, paths, layout = self.spark, self.paths, self.layout
        shares = _shared(spark, paths)

        def read(ids: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            pieces = (
                piece
                for share in _numbers(ids)
                for number in shares[share]
                for piece in _pieces(number, paths[number], layout=layout)
            )
            for piece in gathered(pieces):
                texts = piece["text"]
                if reading.is_needed:
                    texts = reading.texts(texts, None)
                yield pa.RecordBatch.from_pydict(
                    {name: piece[name] for name in _PLACE} | columns.read(texts)
                )

        kinds = f"file int, offset long, length long, line long, {columns.ddl}"
        found = columns.mapped(spark.range(0, len(shares), 1, len(shares)), read, kinds)
        # The path does not travel with each record, as its number does. One literal of all paths,
        # which no name can hold a zero of: a literal each takes a second for thousands of them.
        names = F.split(F.lit("\0".join(paths)), "\0")
        return found.withColumn(SOURCE, F.get(names, "file"))

    def removed(self, refs: str) -> int:  # noqa: ARG002
        """See Input: files stay."""
        return 0

    def deferred(self, refs: str) -> Batches:
        """See Input."""
        spark, paths, layout = self.spark, self.paths, self.layout
        found: dict[int, list[tuple[int, int, int]]] = {}
        count = size = 0
        for place in refs.split(","):
            number, offset, length, line = map(int, place.split(":"))
            found.setdefault(number, []).append((offset, length, line))
            count, size = count + 1, size + length
        numbers = sorted(found)
        shares = _shared(spark, [paths[number] for number in numbers])

        def read(ids: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number in (numbers[one] for share in _numbers(ids) for one in shares[share]):
                path, wanted = paths[number], sorted(found[number])
                values = _values_at(path, wanted, layout)
                yield from in_batches(
                    (path, value, line if layout is not Layout.WHOLE_FILE else None)
                    for value, (_, _, line) in zip(values, wanted, strict=True)
                )

        few = count <= _FEW_RECORDS and size <= ENOUGH
        return Batches.of_shares(spark, len(shares), read, FOUND, here=few)

    def sampled(self, most: int) -> Batches:
        """See Input: the first few of each file."""
        spark, paths, layout = self.spark, self.paths, self.layout
        chosen = paths[:most]
        each, bytes_each = most // len(chosen), max(_SAMPLED, _EACH * most) // len(chosen)
        shares = _shared(spark, chosen)

        def read(ids: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number in (number for share in _numbers(ids) for number in shares[share]):
                yield from in_batches(islice(_first(number, chosen[number]), each))

        def _first(number: int, path: str) -> Iterator[tuple[str, bytes, None]]:
            left = bytes_each
            for piece in _pieces(number, path, layout=layout, chunk_bytes=_BEGINNING):
                for value in piece["text"].slice(0, each).cast(pa.binary()).to_pylist():
                    yield path, value, None
                    left -= len(value)
                    if left <= 0:
                        return

        return Batches.of_shares(spark, len(shares), read, FOUND, here=most <= _FEW_RECORDS)


_PLACE = ("file", "offset", "length", "line")


def _values_at(
    path: str, places: Sequence[tuple[int, int, int]], layout: Layout
) -> Iterator[bytes]:
    """The records at places (offset, length, line) of one file, which ascend."""
    pieces = [(offset, length) for offset, length, _ in places]
    match layout:
        case Layout.AVRO:
            wanted = {offset for offset, _ in pieces}
            texts = enumerate(avro_texts(path))
            return (text.encode() for number, text in texts if number in wanted)
        case Layout.WHOLE_FILE:
            return read_at(path, pieces)
        case Layout.LINES:
            return (one.splitlines()[0] for one in read_at(path, pieces))
        case _:
            assert_never(layout)


def _shared(spark: SparkSession, paths: Sequence[str]) -> list[list[int]]:
    """The numbers of the files, in shares of about the same size: one a core, or more."""
    sizes = [_unpacked_size(path) for path in paths]
    cores = spark.sparkContext.defaultParallelism
    # As many for each core, so that all end at about the same time.
    count = min(len(paths), cores * (1 + sum(sizes) // (cores * _TASK)))
    return balanced(sizes, count)


def _unpacked_size(path: str) -> int:
    """About how many bytes are to be read."""
    return size_of(path) * (_PACKED if path.endswith((".gz", ".bz2")) else 1)


def _numbers(ids: Iterable[pa.RecordBatch]) -> Iterator[int]:
    return (one for batch in ids for one in batch.column(0).to_pylist())


def _pieces(
    number: int, path: str, *, layout: Layout, chunk_bytes: int = CHUNK
) -> Iterator[pa.RecordBatch]:
    """The records of one file: `text`, and its place."""
    match layout:
        case Layout.AVRO:
            yield from _avro_pieces(number, path)
        case Layout.WHOLE_FILE:
            block = whole(path)
            yield _piece(number, block, np.array([0, len(block)]), 0, 0)
        case Layout.LINES:
            yield from _line_pieces(number, path, chunk_bytes)
        case _:
            assert_never(layout)


def _line_pieces(number: int, path: str, chunk_bytes: int) -> Iterator[pa.RecordBatch]:
    before = 0
    for offset, block in blocks(path, chunk_bytes):
        starts = line_starts(block)
        piece = _piece(number, block, starts, offset, before)
        before += len(piece)
        # Only a line that begins with a space can be blank.
        first = np.frombuffer(block, dtype=np.uint8)[starts[:-1]]
        blank = np.isin(first, np.frombuffer(_SPACES, dtype=np.uint8))
        for index in np.flatnonzero(blank):
            blank[index] = not block[starts[index] : starts[index + 1]].strip(_SPACES)
        yield piece.filter(pa.array(~blank)) if blank.any() else piece


def _avro_pieces(number: int, path: str) -> Iterator[pa.RecordBatch]:
    before = 0
    for texts in _bundled(avro_texts(path)):
        ordinals = np.arange(before, before + len(texts))
        before += len(texts)
        yield pa.RecordBatch.from_arrays(
            [
                pa.array(texts, pa.string()),
                pa.array(np.full(len(texts), number, dtype=np.int32)),
                pa.array(ordinals),
                pa.array([len(text) for text in texts], pa.int64()),
                pa.array(ordinals + 1),
            ],
            ["text", *_PLACE],
        )


def _bundled(texts: Iterable[str]) -> Iterator[list[str]]:
    bundle: list[str] = []
    size = 0
    for text in texts:
        bundle.append(text)
        size += len(text)
        if size >= ENOUGH:
            yield bundle
            bundle, size = [], 0
    if bundle:
        yield bundle


def _piece(
    number: int, block: bytes, starts: Positions, offset: int, before: int
) -> pa.RecordBatch:
    """Texts that lie one behind the other in a block, which is not copied."""
    count = len(starts) - 1
    buffers = [None, pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(block)]
    return pa.RecordBatch.from_arrays(
        [
            pa.Array.from_buffers(pa.string(), count, buffers),
            pa.array(np.full(count, number, dtype=np.int32)),
            pa.array(starts[:-1] + offset),
            pa.array(np.diff(starts)),
            pa.array(np.arange(before + 1, before + count + 1)),
        ],
        ["text", *_PLACE],
    )
