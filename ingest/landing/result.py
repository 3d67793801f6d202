"""Result of landing one batch: row counts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from ingest.errors import RecordsMissing

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """What became of one batch, in records; those that left quarantine are taken off there."""

    batch_id: int
    files: int
    records: int = 0
    landed: int = 0
    rescued: int = 0
    quarantined: int = 0
    # Whether its second commit has rows, too.
    has_second: bool = False

    @property
    def newest_batch_id(self) -> int:
        """The highest `_batch_id` of its rows."""
        return self.batch_id + self.has_second

    def checked(
        self, stream: str, unreadable_files: int, *, may_drop: bool, removed: Callable[[], int]
    ) -> BatchResult:
        """The batch, of which each record that was read is in bronze or in quarantine.

        Of the files that could not be read, each is a row of quarantine. `may_drop`: duplicates
        are in neither, and how many there are is unknown. `removed` counts records that the
        source had no more when they were to be read again: they count as never read. Raises
        RecordsMissing.
        """
        kept = self.landed + self.quarantined - unreadable_files
        missing = self.records - kept
        if missing > 0 and not may_drop and removed() >= missing:
            log.warning(
                "%s: batch %d: %d messages were removed from their topic, as compaction does, "
                "before they could be read a second time",
                stream,
                self.batch_id,
                missing,
            )
            return replace(self, records=kept)
        if missing < 0 or (missing and not may_drop):
            raise RecordsMissing(
                f"{stream}: batch {self.batch_id}: {self.records} records were read, and {kept} "
                "came to be in bronze or quarantine. Unless somebody deleted rows meanwhile, "
                "that is a fault of Headwater's: report it. "
                f"Rows have _batch_id {self.batch_id} and {self.batch_id + 1}; started again, the "
                "stream leaves them as they are and goes on"
            )
        return self
