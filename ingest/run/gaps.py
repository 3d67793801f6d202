"""`ops.gaps`: what was gone before it landed, a row for each partition."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime

from ingest.databases.followed import SLOT, UNFOLLOWED
from ingest.lake import Lake
from ingest.tables import delta, table_log

_DDL = (
    "stream string, topic string, partition int, "
    "first_offset bigint comment 'First that is gone; of a database, before which all landed.', "
    "last_offset bigint comment 'Last that is gone; null where nobody can tell.', "
    "reason string comment 'removed: by retention or a person; remade: the topic was made again; "
    "slot, unfollowed: changes of a database that never came to the topic.', "
    "_batch_id bigint comment 'What landed since has this number or a higher one.', "
    "found_at timestamp"
)
REMOVED, REMADE = "removed", "remade"


@dataclass(frozen=True, slots=True)
class Gap:
    """Offsets of one partition that never landed; `last` is None where nobody can tell.

    Of a database, changes that never came to the topic: all before `first` landed.
    """

    topic: str
    partition: int
    first: int
    last: int | None
    reason: str

    def __str__(self) -> str:
        where = f"{self.topic}, partition {self.partition}"
        if self.reason in (SLOT, UNFOLLOWED):
            return f"{where}: changes are missing behind what landed before offset {self.first}"
        if self.last is None:
            return f"{where}: offsets from {self.first} on went with the topic, if there were any"
        return f"{where}: offsets {self.first} to {self.last} were removed before they landed"


def record(
    lake: Lake,
    stream: str,
    gaps: Sequence[Gap],
    batch_id: int,
    now: datetime,
) -> None:
    """Write gaps of a stream down; each once, however often a recovery is begun anew."""
    if not gaps:
        return
    path = lake.ops("gaps")
    if not lake.is_table(path):
        delta.ensure_table(path, _DDL)
    for gap in gaps:
        row = (stream, *astuple(gap), batch_id, now)
        begins = repr((stream, gap.topic, gap.partition, gap.first, gap.reason, batch_id))
        table_log.append_rows(path, [row], application=hashlib.sha256(begins.encode()).hexdigest())
