"""How many events of each variation have landed, counted in bronze itself.

So the counts are those of what landed, whatever happened between; a batch that is looked at
again is not counted twice, because they say up to which batch they go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow.compute as pc

from ingest.storage import delta_log
from ingest.storage.layout import Lake

_COLUMNS = ("_event_type", "_schema_id", "_batch_id", "_ingested_at")


@dataclass(frozen=True, slots=True)
class Seen:
    """Events that landed, and when the first and the last of them did."""

    events: int
    first_seen: datetime
    last_seen: datetime

    def and_(self, other: Seen | None) -> Seen:
        """Both together."""
        if other is None:
            return self
        return Seen(
            self.events + other.events,
            min(self.first_seen, other.first_seen),
            max(self.last_seen, other.last_seen),
        )


@dataclass(slots=True)
class Counts:
    """What has landed up to a batch, by type and variation."""

    seen: dict[tuple[str, str], Seen] = field(default_factory=dict)
    batch_id: int = -1

    def follow(self, bronze: str) -> None:
        """Count what the table at `bronze` has gained."""
        found = delta_log.rows_after(bronze, self.batch_id, _COLUMNS)
        grouped = found.group_by(list(_COLUMNS[:2])).aggregate(
            [("_batch_id", "count"), ("_ingested_at", "min"), ("_ingested_at", "max")]
        )
        for row in grouped.to_pylist():
            key = (row["_event_type"], row["_schema_id"])
            if None not in key:
                new = Seen(row["_batch_id_count"], row["_ingested_at_min"], row["_ingested_at_max"])
                self.seen[key] = new.and_(self.seen.get(key))
        if len(found):
            self.batch_id = pc.max(found["_batch_id"]).as_py()

    def of(self, event_type: str) -> Mapping[str, Seen]:
        """What has landed of a type, by variation."""
        return {
            variation: seen for (name, variation), seen in self.seen.items() if name == event_type
        }

    @staticmethod
    def of_rows(rows: Mapping[str, Any]) -> Counts:
        """From rows of `ops.event_types`, by type."""
        counts = Counts()
        for name, row in rows.items():
            for one in row.variations:
                seen = Seen(one["events"], one["first_seen"], one["last_seen"])
                counts.seen[name, one["variation"]] = seen
            counts.batch_id = max(counts.batch_id, row.counted_batch_id)
        return counts


def has_unseen(lake: Lake, bronze: str) -> bool:
    """Whether events landed before their types were recorded: they have a type, but no shape id."""
    if not lake.is_table(bronze):
        return False
    return delta_log.nulls(bronze, "_schema_id") > delta_log.nulls(bronze, "_event_type")
