"""Table `ops.gaps`: messages that were removed before they landed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple
from datetime import datetime

from ingest.sources.data_loss import DataLoss
from ingest.spark import delta_tables
from ingest.storage import delta_writes
from ingest.storage.layout import Lake

_DDL = (
    "stream string, topic string, partition int, "
    "first_offset bigint comment 'First that is gone; of a database, before which all landed.', "
    "last_offset bigint comment 'Last that is gone; null if unknown.', "
    "reason string comment 'removed: by retention or a person; remade: the topic was made again; "
    "slot, unfollowed: changes of a database that never came to the topic.', "
    "_batch_id bigint comment 'What landed since has this number or a higher one.', "
    "found_at timestamp"
)


def record(
    lake: Lake,
    stream: str,
    gaps: Sequence[DataLoss],
    batch_id: int,
    now: datetime,
) -> None:
    """Write gaps of a stream down; each once, however often a recovery is repeated."""
    if not gaps:
        return
    path = lake.ops("gaps")
    if not lake.is_table(path):
        delta_tables.ensure_table(path, _DDL)
    for gap in gaps:
        row = (stream, *astuple(gap), batch_id, now)
        begins = repr((stream, gap.topic, gap.partition, gap.first, gap.reason, batch_id))
        delta_writes.append_rows(
            path, [row], application=hashlib.sha256(begins.encode()).hexdigest()
        )
