"""Checkpoint of a Structured Streaming query: the batches that it has begun and committed.

Format: version 1 of Spark's `offsets` and `commits` folders, a file a batch.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from ingest.spark.kafka_admin import Offsets
from ingest.storage.layout import Lake
from ingest.storage.storage import Storage

_VERSION = "v1"
# Spark 4.2 ends where a batch does not have this setting.
_SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
_OFFSETS, _COMMITS = "offsets", "commits"
# Lines of a whole file: the version, and what follows it at least.
_LINES = {_OFFSETS: 3, _COMMITS: 2}


@dataclass(frozen=True, slots=True)
class QueryCheckpoint:
    """The checkpoint below the key `folder`. Spark writes it; a planned batch is written here."""

    storage: Storage
    folder: str

    @property
    def url(self) -> str:
        """Where Spark finds it."""
        return self.storage.url(self.folder)

    @property
    def exists(self) -> bool:
        """Whether there is one."""
        return self.storage.exists(self.folder)

    @property
    def newest_begun(self) -> int:
        """The newest batch that was begun; -1 for none."""
        return self._newest(_OFFSETS)

    @property
    def newest_committed(self) -> int:
        """The newest batch that is known to be done; -1 for none."""
        return self._newest(_COMMITS)

    @property
    def is_unfinished(self) -> bool:
        """Whether a batch was begun that is not known to be done: it will run again."""
        return self.newest_begun > self.newest_committed

    def is_committed(self, batch: int) -> bool:
        """Whether a batch is known to be done; Spark removes old commits after a while."""
        return self.storage.exists(f"{self.folder}/{_COMMITS}/{batch}")

    def offsets(self, batch: int | None = None) -> dict[str, Any] | None:
        """Up to where a batch reads, or the newest that was begun; None where there is none.

        Raises ValueError where its file is torn.
        """
        number = self.newest_begun if batch is None else batch
        content = self.storage.read(f"{self.folder}/{_OFFSETS}/{number}")
        if content is None:
            return None
        lines = content.decode().splitlines()
        if not lines:
            raise ValueError(f"the offsets of batch {number} are empty")
        found: dict[str, Any] = json.loads(lines[-1])
        return found

    def plan(self, batch: int, ends: Offsets, shuffle_partitions: int) -> None:
        """Begin a batch in Spark's place: it runs the batch as it stands."""
        # Spark 4.2 refuses a checkpoint that has offsets and no id.
        self.storage.put_new(f"{self.folder}/metadata", json.dumps({"id": str(uuid4())}).encode())
        # Of a batch without time, as Spark describes it.
        metadata = {
            "batchWatermarkMs": 0,
            "batchTimestampMs": int(time.time() * 1000),
            "conf": {_SHUFFLE_PARTITIONS: str(shuffle_partitions)},
        }
        lines = [_VERSION, json.dumps(metadata), json.dumps(ends)]
        self.storage.put(f"{self.folder}/{_OFFSETS}/{batch}", "\n".join(lines).encode())

    def torn_file(self) -> str | None:
        """URL of a newest file that Spark cannot read, with the reason; None where there is none.

        Spark answers some with a stack trace, and some with silence.
        """
        for name, least in _LINES.items():
            newest = self._newest(name)
            if newest < 0:
                continue
            key = f"{self.folder}/{name}/{newest}"
            lines = (self.storage.read(key) or b"").decode(errors="replace").splitlines()
            if reason := _why_torn(lines, least):
                return f"{self.storage.url(key)} is torn ({reason})"
        return None

    def _newest(self, name: str) -> int:
        entries = self.storage.list(f"{self.folder}/{name}")
        return max((int(one.name) for one in entries if one.name.isdigit()), default=-1)


def checkpoint_of(lake: Lake, table: str) -> QueryCheckpoint:
    """The checkpoint of the query that lands `table`."""
    return QueryCheckpoint(lake.storage, lake.checkpoint(table))


def _why_torn(lines: list[str], least: int) -> str | None:
    if not lines or lines[0] != _VERSION:
        return "no version line"
    try:
        for line in lines[1:]:
            json.loads(line)
    except ValueError as error:
        return str(error)
    return None if len(lines) >= least else "it ends early"
