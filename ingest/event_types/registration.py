"""Keeps what `ops.event_types` has of one stream: its types, their counts and their tables."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import types as T

from ingest.declarations.stream import PerType, Stream
from ingest.event_types import ops_table
from ingest.event_types.columns import kept_type
from ingest.event_types.counts import Counts, has_unseen
from ingest.event_types.event_type import EventType
from ingest.event_types.groups import placed
from ingest.event_types.ops_table import Filled, Registered
from ingest.event_types.views import TypeView
from ingest.storage.layout import Lake

# Seconds between two writes of the counts alone.
_WRITE_EVERY = 10.0


@dataclass(frozen=True, slots=True)
class _Looks:
    """What a row says of a type, beside its counts and its table: what `one` and `beside` have."""

    one: EventType
    beside: T.StructType
    schema: str
    rescued: Sequence[Mapping[str, Any]]
    query: str
    layout: str


class Registration:
    """One stream's rows of `ops.event_types`; threads may write at once."""

    def __init__(self, lake: Lake, stream: Stream) -> None:
        self._lake, self._stream = lake, stream
        self._bronze = lake.bronze(stream.table)
        self._counts, self._written_at = Counts(), 0.0
        self._filled: dict[str, Filled] = {}
        # What was written last. While a process has the stream's lock, nobody else writes its rows,
        # but for what processes of groups have filled.
        self._rows: Mapping[str, Registered] = {}
        self._looks: dict[str, _Looks] = {}
        self._has_unseen = False
        self._lock = threading.Lock()

    def load(self) -> None:
        """Begin with what is written there."""
        with self._lock:
            there = self._rows = self._there()
            self._counts = Counts.of_rows(there)
            self._has_unseen = has_unseen(self._lake, self._bronze)
            self._filled = {name: one.filled for name, one in there.items() if one.filled}

    def count(self, types: Mapping[str, EventType], beside: T.StructType, *, is_last: bool) -> None:
        """Count what has landed since, and write it now and then, or at last."""
        with self._lock:
            self._counts.follow(self._bronze)
        if is_last or time.monotonic() - self._written_at > _WRITE_EVERY:
            self.write(types, beside)

    def fill(self, filled: Mapping[str, Filled]) -> None:
        """Take in what tables of types hold now, to be written next."""
        with self._lock:
            self._filled.update(filled)

    def filled(self, event_type: str) -> Filled | None:
        """What a type's own table is known to hold."""
        return self._filled.get(event_type)

    def write(self, types: Mapping[str, EventType], beside: T.StructType) -> None:
        """Write the rows, where they are others; `beside` are the columns of bronze."""
        types = dict(types)
        groups = placed(types, self._stream.events)

        def rows(there: Mapping[str, Registered]) -> Mapping[str, Registered]:
            return {
                key: self._row(one, groups[key], beside, there.get(key))
                for key, one in types.items()
            }

        with self._lock:
            if self._stream.events.have_own_processes:
                self._rows = ops_table.change_types(self._lake, self._stream.name, rows)
            elif (found := rows(self._rows)) != self._rows:
                ops_table.replace_types(self._lake, self._stream.name, list(found.values()))
                self._rows = found
            self._written_at = time.monotonic()

    def _there(self) -> Mapping[str, Registered]:
        found = ops_table.registered(self._lake)
        return {one.event_type: one for one in found if one.stream == self._stream.name}

    def _row(
        self, one: EventType, group: str, beside: T.StructType, there: Registered | None
    ) -> Registered:
        events, table = self._stream.events, f"bronze.{self._stream.table}"
        looks, seen = self._looks_of(one, table, beside), self._counts.of(one.name)
        declared = events.group_of(one.name)
        filled = None
        if declared.per_type is PerType.TABLES:
            written = there.filled if there else None
            filled = written if declared.has_own_process else self._filled.get(one.name)
        table_columns = filled.columns if filled else None
        shown = (table_columns, filled.layout) if filled else (looks.query, "")
        return Registered(
            stream=self._stream.name,
            event_type=one.name,
            table_schema=events.schema,
            table_name=one.table_name,
            bronze_table=table,
            per_type=declared.per_type.value,
            event_group=group,
            version=one.version,
            schema=looks.schema,
            rescued=looks.rescued,
            pending=one.pending or one.open_conflicts,
            is_pinned=one.is_pinned,
            variations=[
                {"variation": number, **asdict(counts)} for number, counts in sorted(seen.items())
            ],
            events=sum(counts.events for counts in seen.values()),
            first_seen=min((counts.first_seen for counts in seen.values()), default=None),
            last_seen=max((counts.last_seen for counts in seen.values()), default=None),
            counted_batch_id=self._counts.batch_id,
            last_grown=one.last_grown,
            changed_at=there.changed_at if there and shown == _shown(there) else datetime.now(UTC),
            query=looks.query,
            table_columns=table_columns,
            filled_batch_id=filled.batch_id if filled else -1,
            filled_version=filled.version if filled else 0,
            layout=looks.layout,
            filled_layout=filled.layout if filled else None,
        )

    def view(self, one: EventType) -> TypeView:
        """The view that shows a type."""
        return TypeView(
            event_type=one.name,
            columns=one.columns,
            payload=self._stream.events.payload,
            kept=one.kept,
            seen=None if self._has_unseen else one.in_bronze,
            declared=frozenset(self._stream.events.hints),
        )

    def _looks_of(self, one: EventType, table: str, beside: T.StructType) -> _Looks:
        """The same as long as type and columns are: of 300 types, few change with a batch."""
        before = self._looks.get(one.name)
        if before and before.one is one and before.beside is beside:
            return before
        view = self.view(one)
        found = self._looks[one.name] = _Looks(
            one,
            beside,
            schema=one.schema,
            rescued=[
                {"path": list(path), "kept": kept_type(one.kept, path)}
                for path in sorted(one.rescued)
            ],
            query=view.query(table, beside),
            layout=view.layout(beside),
        )
        return found


def _shown(one: Registered) -> tuple[str | None, str | None]:
    """What a reader's catalog has of a type: its table's columns and their layout, or its view."""
    if one.table_columns:
        return (one.table_columns, one.filled_layout)
    return (one.query, "")
