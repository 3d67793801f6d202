"""The writers of one stream's bronze table, chosen by the setting `HEADWATER_BRONZE_WRITER`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest import settings
from ingest.arrow_files.writer import ArrowWriter
from ingest.decoders.decoder import Decoder
from ingest.writers.bronze_writer import BronzeWriter, FirstPass, PassToWrite, WriteResult
from ingest.writers.spark_writer import SparkWriter
from ingest.writers.table_commits import TableCommits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Writers:
    """Spark's writer, and those that are quicker with some batches."""

    commits: TableCommits
    spark: SparkWriter
    quicker: Sequence[BronzeWriter]

    @staticmethod
    def of(spark: SparkSession, path: str, stream: str, stream_run: str) -> Writers:
        """The writers of the bronze table at `path`; see TableCommits. Raises InputError."""
        commits = TableCommits(spark, path, stream, stream_run)
        has_arrow = settings.has_arrow_writer() and is_one_machine(spark, path)
        quicker = [ArrowWriter(spark, commits)] if has_arrow else []
        return Writers(commits, SparkWriter(spark, commits), quicker)

    def first_pass(self, decoder: Decoder, batch: PassToWrite) -> FirstPass:
        """See BronzeWriter: by the first writer that can."""
        for writer in self.quicker:
            if passed := writer.first_pass(decoder, batch):
                return passed
        return self.spark.first_pass(decoder, batch)

    def append(self, rows: DataFrame, batch_id: int) -> WriteResult:
        """Append rows of a second pass."""
        return self.spark.append(rows, batch_id)


def is_one_machine(spark: SparkSession, path: str) -> bool:
    """Whether Spark's workers see the folder `path` as this process does."""
    return "://" not in path and str(spark.sparkContext.master).startswith("local")
