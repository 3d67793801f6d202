"""Where one batch's records come from, for decoders that read them in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from ingest.decode.arrow_json import records
from ingest.decode.reading import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

    from ingest.decode.arrow_json import Mask
    from ingest.decode.batches import Batches
    from ingest.decode.structures import Watch

# Bytes that are read to columns at once.
ENOUGH = 1 << 24


class Input(Protocol):
    """The records of a batch. Each can be found again by its place, a text without commas."""

    @property
    def provenance(self) -> Sequence[str]:
        """The ingest columns that say where a record comes from."""
        ...

    @property
    def has_headers(self) -> bool:
        """Whether records have headers."""
        ...

    @property
    def are_many(self) -> bool:
        """Whether they take so long that a look at some of them beforehand is little beside it."""
        ...

    @property
    def place(self) -> str:
        """SQL of a record's place, from what `read` gives."""
        ...

    def read(
        self,
        kind: T.StructType,
        *,
        reading: Reading,
        watch: Watch | None,
        overflow_matters: bool,
    ) -> DataFrame:
        """Provenance, place, SCHEMA_ID, `record` and `fits` of each record.

        See `arrow_json.records`; what `watch` finds to be new does not fit either.
        `reading` says what the JSON text of a record is, from what stands there.
        """
        ...

    def held(self, places: str) -> Batches:
        """Provenance, `value` (its bytes) and `_position` of the records at `places`, which have
        commas between.

        Position is the line, from 1; null where a record stands in none.
        """
        ...

    def sampled(self, most: int) -> Batches:
        """At most `most` records, as `held` gives them."""
        ...


def read_columns(
    texts: pa.StringArray, kind: T.StructType, watch: Watch | None, *, overflow_matters: bool
) -> tuple[pa.StringArray, pa.StructArray, Mask]:
    """Each text's SCHEMA_ID, its `record` and whether it fits; see Input.read."""
    found, fit = records(texts, kind, overflow_matters=overflow_matters)
    if not watch:
        return pa.nulls(len(texts), pa.string()), found, fit
    variations, known = watch.judged(texts, found, kind)
    return variations, found, fit & known


def gathered(pieces: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pieces of a batch, small ones together."""
    gathered: list[pa.RecordBatch] = []
    size = 0
    for piece in pieces:
        gathered.append(piece)
        size += piece.nbytes
        if size >= ENOUGH:
            yield pa.concat_batches(gathered)
            gathered, size = [], 0
    if gathered:
        yield pa.concat_batches(gathered)
