"""The queue of files that a stream has found: a Delta table, one commit a batch.

Structured Streaming reads it commit by commit, so each batch is a fixed list of names and
each name is handed out once, also after a crash. It is also the memory of what was seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ingest.declarations.stream import FileSource
from ingest.sources.query_checkpoint import QueryCheckpoint
from ingest.spark import delta_tables
from ingest.storage import delta_log, delta_writes
from ingest.storage.files import FoundFile
from ingest.storage.layout import is_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = (
    "path string, size bigint, modified_at timestamp, found_at timestamp, "
    "status string comment 'new: handed to a batch; changed: reported; landed: found in bronze'"
)
NEW, CHANGED, LANDED = "new", "changed", "landed"


class FileQueue:
    """Files of one stream, as found, in the order in which they will land."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        self.path = path
        if not is_table(path):
            delta_tables.ensure_table(path, SCHEMA)
        rows = delta_log.rows(path, ["path", "size", "modified_at", "found_at"]).sort_by("found_at")
        modified = rows["modified_at"].cast("int64").to_pylist()
        self._waiting: set[str] = set()
        # Of a file that changed, the newest look counts.
        self._known = {
            name: (size, microseconds)
            for name, size, microseconds in zip(
                rows["path"].to_pylist(), rows["size"].to_pylist(), modified, strict=True
            )
        }

    @property
    def known(self) -> dict[str, tuple[int, int]]:
        """Size and time of change (microseconds) of every file seen, by path."""
        return self._known

    @property
    def has_waiting(self) -> bool:
        """Whether a batch of files that was queued here has not been begun."""
        return bool(self._waiting)

    def take(self, paths: Iterable[str]) -> None:
        """Note that a batch of these files has begun."""
        self._waiting.difference_update(paths)

    def add(self, files: Iterable[FoundFile], source: FileSource, now: datetime) -> list[FoundFile]:
        """Queue the files that are new, in batches as declared; the changed ones are returned."""
        new = [file for file in files if file.path not in self._known]
        changed = [
            file
            for file in files
            if file.path in self._known and self._known[file.path] != (file.size, file.modified_us)
        ]
        for batch in batches(new, source):
            self.append(batch, NEW, now)
        if changed:
            self.append(changed, CHANGED, now)
        return changed

    def stream(self, checkpoint: QueryCheckpoint) -> DataFrame:
        """The queue as a stream: one commit, so one list of files, a batch.

        From the first commit on, which a new query finds there: of a table as it is, Spark would
        have to sort the files first, in jobs of half a second. `checkpoint` is the query's.
        """
        reader = self._spark.readStream.format("delta").option("maxFilesPerTrigger", 1)
        if not _began_with_the_table(checkpoint):
            reader = reader.option("startingVersion", 0)
        return reader.load(self.path)

    def append(self, files: Sequence[FoundFile], status: str, now: datetime) -> None:
        """Add files as one commit, which the stream takes as one batch; none adds nothing."""
        if not files:
            return
        rows = [
            (
                file.path,
                file.size,
                datetime.fromtimestamp(file.modified_us / 1e6, UTC),
                now,
                status,
            )
            for file in files
        ]
        delta_writes.append_rows(self.path, rows)
        if status == NEW:
            self._waiting.update(file.path for file in files)
        for file in files:
            self._known[file.path] = (file.size, file.modified_us)


def _began_with_the_table(checkpoint: QueryCheckpoint) -> bool:
    """Whether a query's first batch was planned of the table as it was, as earlier code did.

    Should it run again, it must be planned alike, or files would come twice.
    """
    first = checkpoint.offsets(0)
    return first is not None and bool(first.get("isStartingVersion"))


def batches(files: Sequence[FoundFile], source: FileSource) -> Iterator[list[FoundFile]]:
    """`files` cut where a batch would hold more files or bytes than declared."""
    batch: list[FoundFile] = []
    held = 0
    for file in files:
        full = len(batch) >= source.max_files_per_trigger
        if batch and (full or held + file.size > source.max_bytes_per_trigger):
            yield batch
            batch, held = [], 0
        batch.append(file)
        held += file.size
    if batch:
        yield batch
