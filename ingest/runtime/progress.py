"""What each stream has done so far, for `ingest status` and for `ops.stream_progress`.

Totals are a small file a stream, replaced whole after each batch, so that a person may look
without Spark; the batches themselves become rows, written together now and then.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from ingest.errors import HeadwaterError
from ingest.landing.result import BatchResult
from ingest.spark import delta_tables
from ingest.storage import delta_log, delta_writes
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake
from ingest.storage.locks import is_locked

_DDL = (
    "stream string, _batch_id bigint, files int, records bigint, landed bigint, rescued bigint, "
    "quarantined bigint, seconds double, ended_at timestamp"
)

# The state of a stream whose broker or registry is away, and which is tried again by itself.
WAITING = "waiting"
# States that a stream leaves by itself before its process gives its lock back.
_AT_WORK = ("running", WAITING)
# Files of the table past which they become one: streams that are always on make one a minute.
_MOST_FILES = 60
# Seconds between two writes of rows.
_WRITE_EVERY = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """A stream's state and counts since its table was made."""

    stream: str
    table: str
    # That, `running`, WAITING, `stopped` or `failed`.
    state: str = "never ran"
    error: str | None = None
    code: str | None = None
    batches: int = 0
    files: int = 0
    changed_files: int = 0
    records: int = 0
    landed: int = 0
    rescued: int = 0
    quarantined: int = 0
    # Records that wait at the source, if it knows.
    lag: int | None = None
    last_batch_at: str | None = None
    newest_batch_id: int = -1
    # The newest batch that the table of living keys holds.
    current_batch_id: int = -1

    def after(self, landed: BatchResult, at: datetime) -> StreamProgress:
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


def read_totals(lake: Lake, stream: str, table: str) -> StreamProgress:
    """A stream's totals; zeros for one that never ran."""
    found = read_json(lake.storage, _totals_key(lake, table))
    return StreamProgress(**found) if found else StreamProgress(stream=stream, table=table)


def seen_totals(lake: Lake, stream: str, table: str) -> StreamProgress:
    """A stream's totals for a person: `killed` where nobody is there any more who wrote them."""
    totals = read_totals(lake, stream, table)
    if totals.state not in _AT_WORK or is_locked(lake, table):
        return totals
    # It may have ended, and recorded it, just before its lock was free.
    again = read_totals(lake, stream, table)
    return replace(again, state="killed") if again.state in _AT_WORK else again


def all_totals(lake: Lake) -> list[StreamProgress]:
    """The totals of all streams that ever ran, also of those that are declared no more."""
    names = sorted(one.name for one in lake.storage.list(lake.progress()))
    found = (
        read_json(lake.storage, lake.progress(name))
        for name in names
        if name.endswith(".json") and not name.startswith("_")
    )
    # States of groups of types are lists.
    return [StreamProgress(**one) for one in found if isinstance(one, dict)]


def error_fields(error: HeadwaterError | None) -> Mapping[str, str | None]:
    """What has gone wrong with a stream, as fields of its totals."""
    return {"error": str(error) if error else None, "code": error.code if error else None}


def save_totals(lake: Lake, totals: StreamProgress) -> None:
    """Replace a stream's totals."""
    write_json(lake.storage, _totals_key(lake, totals.table), asdict(totals))


class Grown(Protocol):
    """Receives the name of a stream whose tables have more rows, and its batch in bronze."""

    def __call__(self, stream: str, batch_id: int | None = None, /) -> None: ...


def _nobody(_stream: str, _batch_id: int | None = None, /) -> None:
    """Does nothing."""


@dataclass(slots=True)
class ProgressLog:
    """Batches of all streams of this process, on their way to `ops.stream_progress`.

    Until they are there each is a line of a stream's file, too, so that sums are true after a
    process was killed.
    """

    lake: Lake
    grown: Grown = _nobody
    _rows: list[tuple[Any, ...]] = field(default_factory=list)
    # The table of each stream.
    _tables: dict[str, str] = field(default_factory=dict)
    # Totals of each stream that this process has started, or failed to.
    _totals: dict[str, StreamProgress] = field(default_factory=dict)
    # The newest batch of each stream that is known, the only one that may run again.
    _newest: dict[str, int] = field(default_factory=dict)
    # Batches of several streams end at once, while others are written.
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _last_write: float = field(default_factory=time.monotonic)

    def states(self) -> Mapping[str, StreamProgress]:
        """Totals of each stream that this process has started, or failed to; reads no file."""
        return self._totals.copy()

    def save(self, totals: StreamProgress) -> None:
        """Replace a stream's totals."""
        # First: where the disk is full, the state is known all the same.
        self._totals[totals.stream] = totals
        save_totals(self.lake, totals)

    def note(self, stream: str, table: str, **changes: str | None) -> None:
        """Change totals of a stream of which no query runs."""
        totals = read_totals(self.lake, stream, table)
        self.save(replace(totals, **changes))  # type: ignore[arg-type]

    def begin(self, stream: str, table: str) -> None:
        """Take over what a process has left that ended before it wrote it."""
        left = _left(self.lake, table)
        there = self._written(stream, _since(read_totals(self.lake, stream, table), left))
        with self._lock:
            self._tables[stream] = table
            self._rows = [row for row in self._rows if row[0] != stream]
            left = [row for row in left if (row[-1], row[1]) not in there]
            self._rows += left
            self._save(stream)
            known = there | {(row[-1], row[1]) for row in left}
            self._newest[stream] = max(known)[1] if known else -1

    def _written(self, stream: str, since: datetime | None) -> set[tuple[datetime, int]]:
        """When each batch of a stream ended that the table has, and its number."""
        path = self.lake.ops("stream_progress")
        if not self.lake.is_table(path):
            return set()
        found = delta_log.rows_where(
            path,
            {"stream": stream},
            ["ended_at", "_batch_id"],
            since=("ended_at", since) if since else None,
        )
        return {(row["ended_at"], row["_batch_id"]) for row in found.to_pylist()}

    def add(self, stream: str, landed: BatchResult, seconds: float, at: datetime) -> None:
        """Remember a batch, unless it is one that runs again."""
        row = (
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
        with self._lock:
            if landed.batch_id != self._newest[stream]:
                self._newest[stream] = landed.batch_id
                self._rows.append(row)
                self._save(stream)
        # Rows that leave quarantine are no records of their batch.
        if landed.records or landed.landed:
            self.grown(stream, landed.newest_batch_id if landed.landed else None)

    def write_if_due(self) -> None:
        """Write rows where none were written for a minute. Called by one thread, as `write` is."""
        if time.monotonic() - self._last_write > _WRITE_EVERY:
            self.write()

    def write(self) -> None:
        """Write what was remembered, in one commit."""
        self._last_write = time.monotonic()
        with self._lock:
            rows = self._rows.copy()
        if not rows:
            return
        path = self.lake.ops("stream_progress")
        delta_tables.ensure_table(path, _DDL)
        delta_writes.append_rows(path, rows)
        with self._lock:
            self._rows = self._rows[len(rows) :]
            for stream in {row[0] for row in rows}:
                self._save(stream)
        if delta_log.number_of_files(path) > _MOST_FILES:
            delta_writes.compact(path)

    def _save(self, stream: str) -> None:
        """Replace the file of a stream's rows, which are few: see `write_if_due`."""
        lines = "".join(_line(row) for row in self._rows if row[0] == stream)
        self.lake.storage.put(_batches_key(self.lake, self._tables[stream]), lines.encode())


def _totals_key(lake: Lake, table: str) -> str:
    return lake.progress(f"{table}.json")


def _batches_key(lake: Lake, table: str) -> str:
    return lake.progress(f"{table}.batches.jsonl")


def _since(totals: StreamProgress, left: Sequence[tuple[Any, ...]]) -> datetime | None:
    """When the oldest batch ended that may be recorded twice; None: any."""
    if totals.last_batch_at is None:
        return None
    ends: list[datetime] = [row[-1] for row in left]
    return min([datetime.fromisoformat(totals.last_batch_at), *ends])


def _line(row: tuple[Any, ...]) -> str:
    return json.dumps([*row[:-1], row[-1].isoformat()]) + "\n"


def _left(lake: Lake, table: str) -> list[tuple[Any, ...]]:
    """The rows in a stream's file of batches."""
    found = []
    for line in (lake.storage.read(_batches_key(lake, table)) or b"").splitlines():
        # Earlier versions appended lines, of which a kill could cut the last one off: then its
        # batch is not committed, and runs again.
        with contextlib.suppress(ValueError):
            *row, at = json.loads(line)
            found.append((*row, datetime.fromisoformat(at)))
    return found
