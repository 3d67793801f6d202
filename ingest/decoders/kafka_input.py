"""Messages of Kafka, read by Spark's Python workers.

A message is known by its topic, partition and offset. Those that are deferred are read again
from the broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from ingest.decoders.arrow_batches import Batches
from ingest.decoders.decoder import REF, SCHEMA_ID
from ingest.decoders.input import FITS, gathered, record_ref
from ingest.registry.wire_format import headers_in
from ingest.schemas.ingest_columns import ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from ingest.decoders.input import ColumnReader
    from ingest.envelopes.message_reader import Reading

PROVENANCE = ("_source", "_partition", "_offset", "_key", "_headers", "_timestamp")
# Deferred messages: provenance, their bytes, and no line that they stand in.
DEFERRED = f"{ddl(PROVENANCE)}, value binary, _position bigint"
_PLACE = ("_source", "_partition", "_offset")
# Up to so many messages, of so many bytes, are worked on here.
_FEW, _SMALL = 5_000, 1 << 24


@dataclass(frozen=True, slots=True)
class MessageInput:
    """See Input: messages, with the columns of `kafka_source.COLUMNS`.

    One without a value has no columns.
    """

    spark: SparkSession
    messages: DataFrame

    @property
    def provenance(self) -> Sequence[str]:
        """See Input."""
        return PROVENANCE

    @property
    def has_headers(self) -> bool:
        """See Input."""
        return True

    @property
    def are_many(self) -> bool:
        """See Input: how many there are is not known here."""
        return False

    @property
    def place(self) -> Sequence[str]:
        """See Input: with the length, which says what to expect of deferred ones."""
        return (*_PLACE, "length")

    def unlanded(self, rows: DataFrame) -> DataFrame:
        """A row for each message: REF, null where one of `rows` is of it."""
        there = rows.select(*_PLACE).distinct().withColumn("_is_there", F.lit(True))
        ref = f"if(_is_there, null, {record_ref(self.place)}) as {REF}"
        return self._sized.join(there, list(_PLACE), "left").selectExpr(ref)

    def read(self, columns: ColumnReader, reading: Reading) -> DataFrame:
        """See Input."""

        def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in gathered(batches):
                texts = _as_texts(batch["value"])
                is_empty = texts.is_null()
                if reading.is_needed:
                    texts = reading.texts(batch["value"], batch["_headers"])
                columns_read = columns.read(texts)
                if not reading.is_needed:
                    columns_read[FITS] = pc.or_(columns_read[FITS], is_empty)
                if reading.translation and not columns.watch:
                    values, headers = batch["value"].to_pylist(), headers_in(batch["_headers"])
                    columns_read[SCHEMA_ID] = reading.schema_ids(values, headers)
                beside = {name: batch[name] for name in batch.schema.names if name != "value"}
                yield pa.RecordBatch.from_pydict(beside | columns_read)

        kinds = f"{ddl(PROVENANCE)}, length int, {columns.ddl}"
        return columns.mapped(self._sized, read, kinds)

    @property
    def _sized(self) -> DataFrame:
        length = "coalesce(length(value), 0) as length"
        return self.messages.selectExpr(*PROVENANCE, length, "value")

    def deferred(self, refs: str) -> Batches:
        """See Input."""
        if not refs:
            return Batches(self.spark, DEFERRED, [])
        split = [place.split(":") for place in refs.split(",")]
        topics, partitions, offsets, lengths = zip(*split, strict=True)
        wanted = pa.table(
            {
                "_source": pa.array(topics),
                "_partition": pa.array(map(int, partitions), pa.int32()),
                "_offset": pa.array(map(int, offsets), pa.int64()),
            }
        )
        chosen = F.broadcast(self.spark.createDataFrame(wanted))
        found = self.messages.join(chosen, wanted.column_names, "left_semi")
        is_small = len(split) <= _FEW and sum(map(int, lengths)) <= _SMALL
        return self._batches(found, here=is_small)

    def removed(self, refs: str) -> int:
        """See Input: a topic that is compacted keeps the last message of each key."""
        deferred = refs.split(",") if refs else []
        return len(deferred) - self.deferred(refs).rows().count()

    def sampled(self, most: int) -> Batches:
        """See Input."""
        return self._batches(self.messages.where("value is not null").limit(most), here=False)

    def _batches(self, messages: DataFrame, *, here: bool) -> Batches:
        found = messages.selectExpr(*PROVENANCE, "value", "cast(null as bigint) as _position")
        return Batches(self.spark, DEFERRED, found.toArrow().to_batches() if here else found)


def _as_texts(values: pa.BinaryArray) -> pa.StringArray:
    """Bytes as text, unchecked as that of files is."""
    return pa.Array.from_buffers(pa.string(), len(values), values.buffers(), offset=values.offset)
