"""The quarantine table of a stream: refused records and unreadable files, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ingest.schemas import ingest_columns
from ingest.schemas.ingest_columns import ingest_values, instant, of_the_batch
from ingest.spark import delta_tables
from ingest.spark.sql import text_literal
from ingest.storage import delta_log, delta_writes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# What a batch quarantines in a commit of its own.
RECORDS, FILES = "records", "files"
# How the rule begins that a change broke which a table of current rows refused.
ORDER_RULE = "sequence_by: "
_IS_FILE = "_reason_code = 'FILE_UNREADABLE'"
_IS_OF = {
    FILES: _IS_FILE,
    # What a table of current rows refuses is there, too, with the batch of the change.
    RECORDS: f"not ({_IS_FILE}) and not coalesce(startswith(_rule, '{ORDER_RULE}'), false)",
}


@dataclass(frozen=True, slots=True)
class QuarantineTable:
    """The table at `path`; `stream_run` is the id of the stream's checkpoint."""

    spark: SparkSession
    path: str
    stream_run: str

    def has(self, part: str, batch_id: int) -> bool:
        """Whether an earlier try of a batch has quarantined RECORDS or FILES.

        It may have had another checkpoint: a recovery repeats the newest batch.
        """
        application = self._application(part)
        if delta_log.has_appended(self.path, application=application, version=batch_id):
            return True
        rows = self.spark.read.format("delta").load(self.path)
        return not rows.where(f"_batch_id = {batch_id} and {_IS_OF[part]}").isEmpty()

    def append(self, rejects: DataFrame, batch_id: int, now: datetime) -> None:
        """Append records, unless an earlier try has."""
        values = {
            "_ingested_at": of_the_batch(instant(now)),
            "_batch_id": of_the_batch(f"{batch_id}L"),
            "_code_version": text_literal(delta_tables.code_version()),
        } | {name: name for name in rejects.columns}
        delta_tables.append_once(
            rejects.selectExpr(*ingest_values(ingest_columns.QUARANTINE, values)),
            self.path,
            application=self._application(RECORDS),
            version=batch_id,
        )

    def append_few(
        self, rejects: Sequence[Mapping[str, Any]], batch_id: int, now: datetime, part: str
    ) -> None:
        """Append rejects, by the names of their columns, without Spark; as `append` does."""
        if not rejects:
            return
        shared = {
            "_ingested_at": now,
            "_batch_id": batch_id,
            "_code_version": delta_tables.code_version(),
        }
        names = ingest_columns.QUARANTINE.fieldNames()
        rows = [[{**shared, **one}.get(name) for name in names] for one in rejects]
        delta_writes.append_rows(
            self.path, rows, application=self._application(part), version=batch_id
        )

    def _application(self, part: str) -> str:
        return f"{self.stream_run}/{part}"
