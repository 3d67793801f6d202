"""`ops.event_schemas`: every shape that was learnt, and every version of columns that it brought.

An entry belongs to a stream as a whole, or to one type of its events. It is made by a batch,
and a batch uses the entries up to its own number, so that it does the same when it runs again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ingest.spark import delta_tables
from ingest.storage import delta_log, delta_writes
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The change that an entry with a schema of Avro records.
WRITER, READER = AVRO_CHANGES = ("writer", "reader")
_COLUMNS = (
    "stream string, _batch_id bigint comment 'Batch that learnt it.', "
    "version bigint comment 'Version of the columns from here on.', "
    "variation bigint comment 'Hash of a shape, or id of a schema; null for versions.', "
    "shape string comment 'Attribute paths and JSON types.', "
    "schema string comment 'Columns of a new version, as Spark writes them in JSON.', "
    "added array<struct<path:string,type:string>> comment 'Columns that the version brought.', "
    "recorded_at timestamp"
)
_COLUMNS_OF_TYPES = (
    "event_type string comment 'Type of event; null where the row is about the whole stream.', "
    "prototype string comment 'First payload seen of a variation; or a schema of Avro.', "
    "change string comment 'What it was: grown, refused, accepted, pinned or reverted; or "
    "whose schema of Avro it is: writer, reader.', "
    "conflict string comment 'What did not go with the columns that were there.'"
)
_COLUMNS_OF_IDS = "guid string comment 'Id of a schema, where it is no number.'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row, but for what all rows of a commit share; see the columns' comments."""

    version: int
    variation: int | None = None
    shape: str | None = None
    schema: str | None = None
    added: Sequence[tuple[str, str]] | None = None
    event_type: str | None = None
    prototype: str | None = None
    change: str | None = None
    conflict: str | None = None
    guid: str | None = None


# Each in the order of the table's columns.
_of_schema = attrgetter("version", "variation", "shape", "schema", "added")
_of_type = attrgetter("event_type", "prototype", "change", "conflict", "guid")


def ensured(spark: SparkSession, lake: Lake) -> str:
    """The table's folder; the table is made, or given the columns that an older one lacks."""
    path = lake.ops("event_schemas")
    if not lake.is_table(path):
        parts = (_COLUMNS, _COLUMNS_OF_TYPES, _COLUMNS_OF_IDS)
        delta_tables.ensure_table(path, ", ".join(parts))
        return path
    there = delta_log.column_names(path)
    for name, new in (("event_type", _COLUMNS_OF_TYPES), ("guid", _COLUMNS_OF_IDS)):
        if name not in there:
            spark.sql(f"alter table delta.`{path}` add columns ({new})")
    return path


def entries(path: str, stream: str, batch_id: int) -> list[Mapping[str, Any]]:
    """The rows of one stream that were known when `batch_id` began, in order."""
    found = delta_log.rows(path).to_pylist()
    mine = [row for row in found if row["stream"] == stream and row["_batch_id"] <= batch_id]
    return sorted(mine, key=lambda row: (row["_batch_id"], row["version"]))


def avro_schemas(lake: Lake) -> Mapping[str, list[str]]:
    """Schemas of Avro by the streams that they came with: writers' first, then readers', the
    newest of each last."""
    path = lake.ops("event_schemas")
    if not lake.is_table(path):
        return {}
    found = [row for row in delta_log.rows(path).to_pylist() if row.get("change") in AVRO_CHANGES]
    found.sort(key=lambda row: (row["change"] == READER, row["_batch_id"]))
    schemas: dict[str, list[str]] = {}
    for row in found:
        if row["prototype"]:
            schemas.setdefault(row["stream"], []).append(row["prototype"])
    return schemas


@dataclass(frozen=True, slots=True)
class SchemaLog:
    """The entries of one stream in the table at `path`, which a run of the stream adds to."""

    path: str
    stream: str
    stream_run: str

    def entries(self, batch_id: int) -> list[Mapping[str, Any]]:
        """See `entries`."""
        return entries(self.path, self.stream, batch_id)

    def has(self, part: str) -> bool:
        """Whether this run has appended entries as a `part`."""
        return delta_log.last_version(self.path, self._application(part)) >= 0

    def append(self, rows: Sequence[Entry], batch_id: int, now: datetime, part: str) -> None:
        """Append entries in one commit, unless this run has a `part` of this batch already."""
        if not rows:
            return
        delta_writes.append_rows(
            self.path,
            [(self.stream, batch_id, *_of_schema(one), now, *_of_type(one)) for one in rows],
            application=self._application(part),
            version=batch_id,
        )

    def _application(self, part: str) -> str:
        return f"{self.stream_run}/{part}"
