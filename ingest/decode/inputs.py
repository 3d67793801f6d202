"""Where one batch's records come from, for decoders that read them in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from ingest.decode.arrow_json import records
from ingest.decode.exact_json import Refused, decoded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

    from ingest.decode.arrow_json import Mask
    from ingest.decode.batches import Batches
    from ingest.decode.structures import Watch

# The text of a record, from the text that stands in a file or a message; empty where it is none.
Reading = Callable[[str], str]
# Bytes that are read to columns at once.
ENOUGH = 1 << 24
# What a message without a value, Kafka's tombstone, is to a reading.
_NOTHING = b"null"


class Input(Protocol):
    """The records of a batch. Each can be found again by its place, a text without commas."""

    @property
    def provenance(self) -> Sequence[str]:
        """The ingest columns that say where a record comes from."""
        ...

    @property
    def place(self) -> str:
        """SQL of a record's place, from what `read` gives."""
        ...

    def read(
        self,
        kind: T.StructType,
        *,
        reading: Reading | None,
        watch: Watch | None,
        overflow_matters: bool,
    ) -> DataFrame:
        """Provenance, place, SCHEMA_ID, `record` and `fits` of each record.

        See `arrow_json.records`; what `watch` finds to be new does not fit either.
        `reading` says what the text of a record is, from what stands there.
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


def read_texts(texts: pa.Array, reading: Reading) -> pa.Array:
    """What stands for each text; nothing for bytes that are none."""
    found = []
    for raw in texts.cast(pa.binary()).to_pylist():
        try:
            found.append(reading(decoded(_NOTHING if raw is None else raw)))
        except Refused:
            found.append("")
    return pa.array(found, pa.string())


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
