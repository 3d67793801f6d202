"""What this process knows, for the macros of its own dbt.

Macros of another dbt ask Spark: which tables there are, which types of events, how far each stream
is. A statement takes a second where streams keep the processors busy, and a pass has few models.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ingest.declarations.stream import Stream
from ingest.storage import delta_log
from ingest.storage.layout import Lake

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OF_TYPES = (
    *("stream", "event_type", "table_schema", "table_name", "changed_at"),
    *("table_columns", "filled_batch_id", "pending"),
)
# What readers of a type ask only where it has a table of its own.
_OF_OWN_TABLES = ("filled_batch_id", "pending")


class Catalog(NamedTuple):
    """What the catalog is to know: names of tables, and when types of each stream last changed."""

    tables: frozenset[str]
    changed: Mapping[str, int]


class DriverState:
    """State of the driver: threads of streams write it, the thread of builds reads it."""

    def __init__(self, lake: Lake, streams: Iterable[Stream]) -> None:
        self._lake = lake
        self._streams = {one.name: one for one in streams}
        # Of tables of bronze. Written by many threads, each its own key.
        self._newest: dict[str, int] = {}
        self._looked_up: dict[str, tuple[int, int]] = {}
        self._read: dict[str, tuple[int, Sequence[Mapping[str, Any]]]] = {}

    def landed(self, stream: str, batch_id: int) -> None:
        """A batch of a stream is in bronze, with rows."""
        self._newest[self._streams[stream].table] = batch_id

    def catalog(self) -> Catalog:
        """What the catalog is to know now."""
        tables = self._rows("stream_tables", ["table_name"])
        changed: dict[str, int] = {}
        for one in self._rows("event_types", _OF_TYPES):
            changed[one["stream"]] = max(changed.get(one["stream"], -1), _micros(one["changed_at"]))
        return Catalog(frozenset(one["table_name"] for one in tables), changed)

    def for_macros(self, registered: Catalog | None = None) -> Mapping[str, Any]:
        """What macros read (macros/serve/driver_state.sql), of values of JSON.

        newest         {table of bronze: its newest batch}, where one has landed in this process,
                       which goes on while dbt builds, for a later model may read further; of
                       streams that have types, for which all of its types are here; -1 of
                       streams that are not among `tables`
        tables         names of the tables that `ops.stream_tables` lists
        types          rows of `ops.event_types`; null is left out
        types_changed  {stream: when the newest change of a type was, in microseconds}
        watermarks_version
                       Delta's version of `ops.model_marks`, -1 where there is none
        is_registered  whether the catalog has all that is here since `registered`
        """
        # First: types are written down before the batch lands that brings them.
        typed = {
            one.table: self._newest_of(one)
            for one in self._streams.values()
            if one.events.are_split
        }
        catalog = self.catalog()
        # What lands before it is listed stays unread until it is: the catalog shows an empty view.
        listed = catalog.tables
        unlisted = {one.table: -1 for one in self._streams.values() if one.table not in listed}
        return {
            "newest": ChainMap(unlisted, typed, self._newest),
            "tables": sorted(catalog.tables),
            "types": [_type(one) for one in self._rows("event_types", _OF_TYPES)],
            "types_changed": dict(sorted(catalog.changed.items())),
            "watermarks_version": self._version("model_marks"),
            "is_registered": catalog == registered,
        }

    def _rows(self, name: str, columns: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """Columns of a table of bookkeeping, which is read where it has changed."""
        version = self._version(name)
        known = self._read.get(name)
        if known is None or known[0] != version:
            path = self._lake.ops(name)
            rows = delta_log.rows(path, columns).to_pylist() if version >= 0 else []
            known = self._read[name] = version, rows
        return known[1]

    def _newest_of(self, stream: Stream) -> int:
        """The newest batch in bronze, of a stream that may be another process's."""
        if stream.table in self._newest:
            return self._newest[stream.table]
        path = self._lake.bronze(stream.table)
        if not self._lake.is_table(path):
            return -1
        version = delta_log.version(path)
        if self._looked_up.get(stream.table, (-1, -1))[0] != version:
            self._looked_up[stream.table] = version, delta_log.newest_batch(path)
        return self._looked_up[stream.table][1]

    def _version(self, name: str) -> int:
        path = self._lake.ops(name)
        return delta_log.version(path) if self._lake.is_table(path) else -1


def _type(row: Mapping[str, Any]) -> Mapping[str, Any]:
    has_table = row["table_columns"] is not None
    left_out = {"table_columns", "changed_at"} | (set() if has_table else set(_OF_OWN_TABLES))
    return {
        name: value for name, value in row.items() if name not in left_out and value is not None
    }


def _micros(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
