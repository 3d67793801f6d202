"""What each stream has done so far, for `ingest status` and for `ops.stream_progress`.

Totals are a small file a stream, replaced whole after each batch, so that a person may look
without Spark; the batches themselves become rows, written together now and then.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ingest.bronze.landing import Landed
from ingest.lake import Lake
from ingest.tables import delta, table_log

_DDL = (
    "stream string, _batch_id bigint, files int, records bigint, landed bigint, rescued bigint, "
    "quarantined bigint, seconds double, ended_at timestamp"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """A stream's state and counts since its table was made."""

    stream: str
    table: str
    state: str = "never ran"
    error: str | None = None
    batches: int = 0
    files: int = 0
    changed_files: int = 0
    records: int = 0
    landed: int = 0
    rescued: int = 0
    quarantined: int = 0
    # Records that wait at the source, where it tells.
    lag: int | None = None
    last_batch_at: str | None = None
    newest_batch_id: int = -1
    # The newest batch that the table of living keys holds.
    current_batch_id: int = -1

    def after(self, landed: Landed, at: datetime) -> Totals:
        """These totals with one batch more; a repeated batch counts once."""
        if landed.batch_id <= self.newest_batch_id:
            return self
        return replace(
            self,
            batches=self.batches + 1,
            files=self.files + landed.files,
            records=self.records + landed.records,
            landed=self.landed + landed.landed,
            rescued=self.rescued + landed.rescued,
            quarantined=self.quarantined + landed.quarantined,
            last_batch_at=at.isoformat(timespec="seconds"),
            newest_batch_id=landed.batch_id,
        )


def totals_file(lake: Lake, table: str) -> Path:
    """Where a stream's totals are kept."""
    return Path(lake.root, "_progress", f"{table}.json")


def read_totals(lake: Lake, stream: str, table: str) -> Totals:
    """A stream's totals; zeros for one that never ran."""
    try:
        return Totals(**json.loads(totals_file(lake, table).read_text("utf-8")))
    except FileNotFoundError:
        return Totals(stream=stream, table=table)


def save_totals(lake: Lake, totals: Totals) -> None:
    """Replace a stream's totals."""
    path = totals_file(lake, totals.table)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(totals)) + "\n", "utf-8")
    new.replace(path)


@dataclass(slots=True)
class ProgressLog:
    """Batches of all streams of this process, on their way to `ops.stream_progress`."""

    lake: Lake
    # Is told the name of a stream whose tables have more rows than before.
    grown: Callable[[str], None] = lambda _: None
    _rows: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, stream: str, landed: Landed, seconds: float, at: datetime) -> None:
        """Remember a batch."""
        self._rows.append(
            (
                stream,
                landed.batch_id,
                landed.files,
                landed.records,
                landed.landed,
                landed.rescued,
                landed.quarantined,
                seconds,
                at,
            )
        )
        if landed.records:
            self.grown(stream)

    def write(self) -> None:
        """Write what was remembered, in one commit."""
        rows, self._rows = self._rows, []
        if not rows:
            return
        path = self.lake.ops("stream_progress")
        delta.ensure_table(path, _DDL)
        table_log.append_rows(path, rows)
