"""What became of a batch, as landing tells it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
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
