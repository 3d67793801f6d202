"""Where one batch's records come from, for decoders that read them in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from ingest.decode.arrow_json import records
from ingest.decode.decoder import SCHEMA_ID
from ingest.decode.instants import instants_in, without_instants
from ingest.decode.reading import Reading
from ingest.shapes.conversion import at, extracted, quoted, sql_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

    from ingest.decode.batches import Batches
    from ingest.decode.structures import Watch

# What is read of a record, the instants that are not in it, and whether that is all of it.
RECORD, INSTANTS, FITS = "record", "instants", "fits"
# Bytes that are read to columns at once.
ENOUGH = 1 << 24


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Reads JSON texts into the columns `kind`; see `arrow_json.records`.

    What `watch` finds to be new does not fit either.
    """

    kind: T.StructType
    watch: Watch | None
    overflow_matters: bool

    @property
    def ddl(self) -> str:
        """The columns that `read` gives."""
        record = sql_type(extracted(self.kind), variant="string")
        names = map(_numbered, range(len(instants_in(self.kind))))
        instants = ", ".join(f"{name}: timestamp" for name in names)
        told = f", {INSTANTS} struct<{instants}>" if instants else ""
        return f"{SCHEMA_ID} string, {RECORD} {record}{told}, {FITS} boolean"

    @property
    def instants(self) -> dict[str, str]:
        """SQL of instants, by that of their texts, which are null where they are not."""
        paths = enumerate(instants_in(self.kind))
        return {at(RECORD, path): f"{INSTANTS}.{_numbered(number)}" for number, path in paths}

    def read(self, texts: pa.StringArray) -> dict[str, pa.Array]:
        """Each text's SCHEMA_ID, RECORD, INSTANTS where there can be some, and FITS."""
        kind = extracted(self.kind)
        found, fit = records(texts, kind, overflow_matters=self.overflow_matters)
        variations = pa.nulls(len(texts), pa.string())
        if self.watch:
            variations, known = self.watch.judged(texts, found, kind)
            fit = fit & known
        told = {}
        if paths := instants_in(self.kind):
            found, instants = without_instants(found, paths)
            names = [str(number) for number in range(len(paths))]
            told[INSTANTS] = pa.StructArray.from_arrays(instants, names=names)
        return {SCHEMA_ID: variations, RECORD: found, **told, FITS: pa.array(fit)}


def _numbered(number: int) -> str:
    return quoted(str(number))


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

    def read(self, columns: ColumnReader, reading: Reading) -> DataFrame:
        """Provenance, place, and what `columns` reads of each record.

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
