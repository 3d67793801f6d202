"""Spark's own Delta writer, which can write any batch to any storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Observation
from pyspark.sql import functions as F

from ingest.decoders.decoder import REF, Decoder
from ingest.spark import delta_tables
from ingest.spark.delta_commit import FileAppend
from ingest.writers.bronze_writer import FirstPass, PassToWrite, WriteResult
from ingest.writers.table_commits import TableCommits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkWriter:
    """See BronzeWriter: it can write each batch."""

    def __init__(self, spark: SparkSession, commits: TableCommits) -> None:
        self._spark, self._commits = spark, commits

    def first_pass(self, decoder: Decoder, batch: PassToWrite) -> FirstPass:
        """See BronzeWriter."""
        decoded, seen = observed(decoder.decode())
        rows = decoder.with_row(decoded.where(f"{REF} is null"))
        written = self.append(batch.to_bronze(rows), batch.batch_id)
        counts = seen.get
        return FirstPass(counts["records"], counts["deferred"], counts["refs"] or "", written)

    def append(self, rows: DataFrame, batch_id: int) -> WriteResult:
        """Append rows, for which the table may grow; their number in the batch's own commit."""
        commit = self._commits.begin(batch_id)
        delta_tables.append(rows, self._commits.path, commit.metadata())
        written = self._commits.finish(commit)
        if written is None:
            # Delta leaves out a commit without rows, which says that the batch has been landed.
            FileAppend(self._spark, self._commits.path).commit([], commit.metadata())
        return written or self._commits.finished(commit)


def observed(decoded: DataFrame) -> tuple[DataFrame, Observation]:
    """Decoded records, and what is counted while they are read: records, deferred, refs."""
    seen = Observation()
    decoded = decoded.observe(
        seen,
        F.count(F.lit(1)).alias("records"),
        F.count(REF).alias("deferred"),
        F.expr(f"listagg({REF}, ',')").alias("refs"),
    )
    return decoded, seen
