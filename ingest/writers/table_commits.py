"""The batches that a process commits to a bronze table, each once."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ingest.errors import StreamLocked
from ingest.spark import delta_tables
from ingest.storage import batch_commits, delta_log
from ingest.storage.batch_commits import BatchCommit, CommitId
from ingest.storage.locks import check_lock
from ingest.writers.bronze_writer import Committed, WriteResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class TableCommits:
    """The batches that one process commits to the bronze table at `path`.

    `stream_run` is the id of the stream's checkpoint, `stream` its name for messages. Two
    processes that land one stream at once, whatever became of its lock, commit a batch once: the
    one whose commit comes second takes its rows out again and stops.
    """

    def __init__(self, spark: SparkSession, path: str, stream: str, stream_run: str) -> None:
        self.path, self.stream_run = path, stream_run
        self._spark, self._stream = spark, stream
        self._writer = uuid.uuid4().hex
        # The newest version that has been read.
        self._seen: int | None = None

    def committed(self, batch_ids: Sequence[int]) -> list[Committed | None]:
        """What an earlier try wrote under each number; None where it committed nothing.

        A commit without rows counts, and one whose rows were deleted since. What another process
        commits from here on is found by `begin`.
        """
        self._seen = newest = batch_commits.newest_version(self.path)
        return [self._committed(batch_id, newest) for batch_id in batch_ids]

    def _committed(self, batch_id: int, version: int) -> Committed | None:
        found = batch_commits.look_back(self.path, self._id(batch_id), version)
        if found.commit:
            return Committed(self._counted(found.commit), found.commit.records, found.commit.refs)
        if found.is_certain:
            return None
        # Rows have the number, too, and say what the table holds.
        rows = self._rows_of(batch_id)
        return Committed(rows, is_logged=False) if rows.rows else None

    def begin(self, batch_id: int) -> CommitId:
        """The identity of the commit that is to be written.

        Raises StreamLocked where another process has committed it, or may do so.
        """
        check_lock(self.path, self._stream)
        commit = self._id(batch_id)
        if self._seen is None:
            self._seen = batch_commits.newest_version(self.path)
        for version, found in batch_commits.commits_after(self.path, self._seen):
            self._seen = version
            if found and found.is_of(commit):
                raise StreamLocked(
                    f"{self._stream}: another process has landed batch {batch_id}: its rows stay. "
                    "Stop one of the two"
                )
        return commit

    def finish(self, commit: CommitId) -> WriteResult | None:
        """What was written since `begin`; None where the log has no such commit.

        Raises StreamLocked where another process was quicker.
        """
        theirs: BatchCommit | None = None
        for version, found in batch_commits.commits_after(self.path, self._seen or 0):
            self._seen = version
            if not found or not found.is_of(commit):
                continue
            if found.writer != commit.writer:
                theirs = found
            elif theirs:
                raise StreamLocked(
                    f"{self._stream}: another process landed batch {commit.batch_id} at the same "
                    f"time. {self._take_out(found, theirs)}. Stop one of the two"
                )
            else:
                return self._counted(found)
        newest = batch_commits.newest_version(self.path)
        if newest == (self._seen or 0):
            return None
        # Delta has removed files of its log since the version that was seen.
        self._seen = newest
        ours = batch_commits.look_back(self.path, commit, newest).commit
        return self._counted(ours) if ours else None

    def finished(self, commit: CommitId) -> WriteResult:
        """The same of a commit that must be in the log."""
        written = self.finish(commit)
        if written is None:
            raise RuntimeError(f"{self.path}: the log has no commit of batch {commit.batch_id}")
        return written

    def _id(self, batch_id: int) -> CommitId:
        return CommitId(self.stream_run, batch_id, self._writer)

    def _take_out(self, ours: BatchCommit, theirs: BatchCommit) -> str:
        """Undo a commit; what became of it."""
        if batch_commits.newest_version(self.path) > ours.version:
            return (
                f"Versions {theirs.version} and {ours.version} of {self.path} both hold its rows, "
                f"and others came after: delete one copy of those with _batch_id {ours.batch_id}"
            )
        before = ours.version - 1
        self._spark.sql(f"restore table delta.`{self.path}` to version as of {before}")
        return "Its rows stay, those of this process were taken out again"

    def _counted(self, commit: BatchCommit) -> WriteResult:
        if commit.rows is None or commit.rescued is None:
            return self._rows_of(commit.batch_id)
        return WriteResult(commit.rows, commit.rescued)

    def _rows_of(self, batch_id: int) -> WriteResult:
        there = delta_log.counted(self.path, batch_id)
        if there:
            return WriteResult(there.rows, there.rescued)
        rows = self._spark.read.format("delta").load(self.path).where(f"_batch_id = {batch_id}")
        counts = delta_tables.only_row(rows.selectExpr("count(*) as rows", "count(_rescued) as n"))
        return WriteResult(counts["rows"], counts["n"])
