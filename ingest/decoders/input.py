"""Where one batch's records come from, for decoders that read them in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyspark.sql import types as T

from ingest.decoders.decoder import RESCUED, SCHEMA_ID
from ingest.envelopes.message_reader import Reading
from ingest.parse.json_columns import records
from ingest.parse.timestamps import instants_in, without_instants
from ingest.schemas.conversion import Path, at, extracted, members_of, variants_of
from ingest.spark.sql import quoted, sql_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ingest.decoders.arrow_batches import Batches, Work
    from ingest.event_types.inference import ShapeMonitor

# What is read of a record, the instants that are not in it, and whether that is all of it; and
# what Spark makes of its VARIANTs.
RECORD, INSTANTS, FITS, VARIANTS = "record", "instants", "fits", "variants"
# Rows whose VARIANTs are parsed together: so many, or of about so many bytes.
GROUP, _GROUP_BYTES = 64, 1 << 20
_ROWS = "rows"
# Bytes that are read to columns at once.
ENOUGH = 1 << 24


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Reads JSON texts into the columns `kind`; see `json_columns.records`.

    What `watch` finds to be new does not fit either.
    """

    kind: T.StructType
    watch: ShapeMonitor | None
    overflow_matters: bool

    @property
    def ddl(self) -> str:
        """The columns that `read` gives."""
        record = sql_type(extracted(self.kind), variant="string")
        names = map(_numbered, range(len(instants_in(self.kind))))
        instants = ", ".join(f"{name}: timestamp" for name in names)
        read_columns = f", {INSTANTS} struct<{instants}>" if instants else ""
        return (
            f"{SCHEMA_ID} string, {RESCUED} string, {RECORD} {record}{read_columns}, {FITS} boolean"
        )

    @property
    def known(self) -> dict[str, str]:
        """SQL of instants and VARIANTs, by that of their texts."""
        found = {
            at(RECORD, path): f"{INSTANTS}.{_numbered(number)}"
            for number, path in enumerate(instants_in(self.kind))
        }
        for number, text in enumerate(at(RECORD, path) for path in self._variants):
            found[text] = f"if({text} is null, null, {VARIANTS}.{_numbered(number)})"
        return found

    @property
    def _variants(self) -> Sequence[Path]:
        return members_of(self.kind, T.VariantType)

    def mapped(self, rows: DataFrame, work: Work, kinds: str) -> DataFrame:
        """What `work` makes of rows: `kinds`, `ddl` among them, and VARIANTS where there are some.

        Those are null where one of a group was none. Each text is one value, as DuckDB has written
        it, so that those of a group are as many as its rows.
        """
        texts = [at(f"{_ROWS}.{RECORD}", path) for path in self._variants]
        if not texts:
            return rows.mapInArrow(work, kinds)

        def grouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return map(_grouped, work(batches))

        groups = rows.mapInArrow(grouped, f"{_ROWS} array<struct<{kinds}>>")
        each = ", ".join([_ROWS, *map(variants_of, texts)])
        names = [_numbered(number) for number in range(len(texts))]
        found = groups.selectExpr(f"inline(arrays_zip({each})) as ({', '.join([_ROWS, *names])})")
        return found.selectExpr(f"{_ROWS}.*", f"struct({', '.join(names)}) as {VARIANTS}")

    def read(self, texts: pa.StringArray) -> dict[str, pa.Array]:
        """Each text's SCHEMA_ID, RESCUED, RECORD, INSTANTS where there can be some, and FITS."""
        read_columns = self.as_texts(texts)
        if paths := instants_in(self.kind):
            read_columns[RECORD], instants = without_instants(read_columns[RECORD], paths)
            names = [str(number) for number in range(len(paths))]
            # Spark knows columns by their positions.
            fits = read_columns.pop(FITS)
            read_columns[INSTANTS] = pa.StructArray.from_arrays(instants, names=names)
            read_columns[FITS] = fits
        return read_columns

    def as_texts(self, texts: pa.StringArray) -> dict[str, pa.Array]:
        """The same with instants among the texts of RECORD."""
        kind = extracted(self.kind)
        found = records(texts, kind, overflow_matters=self.overflow_matters)
        variations, fit = pa.nulls(len(texts), pa.string()), found.are_whole
        if self.watch:
            variations, known = self.watch.judged(texts, found.columns, kind)
            fit = fit & known
        return {
            SCHEMA_ID: variations,
            RESCUED: found.rescued,
            RECORD: found.columns,
            FITS: pa.array(fit),
        }


def _numbered(number: int) -> str:
    return quoted(str(number))


def _grouped(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of a batch, in arrays."""
    size = max(1, min(GROUP, len(batch) * _GROUP_BYTES // max(batch.nbytes, 1)))
    starts = pa.array([*range(0, len(batch), size), len(batch)], pa.int32())
    rows = pa.StructArray.from_arrays(batch.columns, names=batch.schema.names)
    return pa.RecordBatch.from_arrays([pa.ListArray.from_arrays(starts, rows)], [_ROWS])


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
    def place(self) -> Sequence[str]:
        """The columns that `read` gives which, with colons between, are a record's place."""
        ...

    def read(self, columns: ColumnReader, reading: Reading) -> DataFrame:
        """Provenance, place, and what `columns` reads of each record.

        `reading` says what the JSON text of a record is, from what stands there.
        """
        ...

    def deferred(self, refs: str) -> Batches:
        """Provenance, `value` (its bytes) and `_position` of the records at `refs`, which have
        commas between.

        Position is the line, from 1; null where a record stands in none.
        """
        ...

    def removed(self, refs: str) -> int:
        """How many of the records at `refs` do not exist any more."""
        ...

    def sampled(self, most: int) -> Batches:
        """At most `most` records, as `deferred` gives them."""
        ...


def record_ref(columns: Sequence[str]) -> str:
    """SQL of a record's ref, from the columns of its place.

    It is never empty, but nullable: Spark 4.2 would remove a filter that finds no record, and with
    it what is observed below.
    """
    return f"nullif(concat_ws(':', {', '.join(columns)}), '')"


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
