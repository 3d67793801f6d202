"""`ops.event_types`: one row a type of event, as it is now.

It follows from `ops.event_schemas`, and is all that a reader needs: also of streams whose
declaration is not at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ingest.declarations.stream import PerType
from ingest.errors import TypeUnknown
from ingest.event_types.views import PAYLOAD
from ingest.nearest import nearest
from ingest.spark import delta_tables
from ingest.storage import delta_log, delta_writes
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_VARIATION = "struct<variation:string,events:bigint,first_seen:timestamp,last_seen:timestamp>"
_COLUMNS = (
    "stream string comment 'Stream that the type came in.'",
    "event_type string",
    "table_schema string comment 'Schema of its table.'",
    "table_name string comment 'Name of its table.'",
    "bronze_table string comment 'Table of bronze that holds its events.'",
    "per_type string comment 'What stands for it: views or tables.'",
    "event_group string comment 'Types that share a fate with it.'",
    "version bigint comment 'Version of its columns.'",
    "schema string comment 'Its columns, as Spark writes them in JSON.'",
    "rescued array<struct<path:array<string>,kept:string>> comment 'Values of another JSON type.'",
    "pending string comment 'What does not go with the columns, and waits for a person.'",
    "is_pinned boolean comment 'Whether its columns stay as they are.'",
    f"variations array<{_VARIATION}> comment 'What has landed of each: _schema_id in bronze.'",
    "events bigint comment 'How many of its events have landed.'",
    "first_seen timestamp comment 'When its first event landed.'",
    "last_seen timestamp comment 'When its newest event landed.'",
    "counted_batch_id bigint comment 'Newest batch of bronze that these counts hold.'",
    "last_grown timestamp comment 'When its newest variation or version came.'",
    "changed_at timestamp comment 'When its view, or its table, last had other columns.'",
    "query string comment 'The view of it.'",
    "table_columns string comment 'Columns of its own table; null where it has none.'",
    "filled_batch_id bigint comment 'Newest batch of bronze that its own table holds.'",
    "filled_version bigint comment 'Version of its columns in its own table.'",
    "layout string comment 'Fingerprint of all that its view selects.'",
    "filled_layout string comment 'The same, of what its own table has.'",
)


@dataclass(frozen=True, slots=True)
class Filled:
    """What a type's own table holds: all events up to a batch, in the columns of a version.

    `columns` is the list of them in SQL, `layout` the fingerprint of the view that they show.
    """

    batch_id: int
    version: int
    columns: str
    layout: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A row; see the columns' comments."""

    stream: str
    event_type: str
    table_schema: str
    table_name: str
    bronze_table: str
    per_type: str
    event_group: str
    version: int
    schema: str
    rescued: Sequence[Mapping[str, Any]]
    pending: str | None
    is_pinned: bool
    variations: Sequence[Mapping[str, Any]]
    events: int
    first_seen: datetime | None
    last_seen: datetime | None
    counted_batch_id: int
    last_grown: datetime | None
    changed_at: datetime
    query: str
    table_columns: str | None
    filled_batch_id: int
    filled_version: int
    layout: str
    filled_layout: str | None

    @property
    def name(self) -> str:
        """The table's name with its schema."""
        return f"{self.table_schema}.{self.table_name}"

    @property
    def filled(self) -> Filled | None:
        """What its own table is known to hold."""
        if not (self.table_columns and self.filled_layout):
            return None
        return Filled(
            self.filled_batch_id, self.filled_version, self.table_columns, self.filled_layout
        )

    def having(self, filled: Filled) -> Registered:
        """The row once its table holds this."""
        is_shown_alike = (filled.columns, filled.layout) == (self.table_columns, self.filled_layout)
        return replace(
            self,
            table_columns=filled.columns,
            filled_batch_id=filled.batch_id,
            filled_version=filled.version,
            filled_layout=filled.layout,
            changed_at=self.changed_at if is_shown_alike else datetime.now(UTC),
        )

    @property
    def has_table(self) -> bool:
        """Whether it has a table of its own, or gets one, and so no payload."""
        return self.per_type == PerType.TABLES.value

    def newest(self, folder: str) -> str:
        """A SELECT of all of the type's events: of its table, and of bronze what that lacks."""
        if not self.has_table:
            return self.query
        fresh = f"select * except ({PAYLOAD})\nfrom ({self.query})"
        if self.table_columns is None or self.filled_layout != self.layout:
            return fresh
        held, lacking = (
            f"select {self.table_columns}\nfrom {source}\nwhere {which} {self.filled_batch_id}"
            for source, which in (
                (f"delta.`{folder}`", "_batch_id <="),
                (f"({fresh})", "_batch_id >"),
            )
        )
        return f"{held}\nunion all\n{lacking}"


_NAMES = [one.name for one in fields(Registered)]


def _row(values: Mapping[str, Any]) -> Registered:
    return Registered(**{**dict.fromkeys(_NAMES), **values})


def ensured(spark: SparkSession, lake: Lake) -> str:
    """The table's folder; the table is made where there is none, and listed for dbt.

    One that an older version made gets the columns that it lacks.
    """
    path = lake.ops("event_types")
    if not lake.is_table(path):
        delta_tables.ensure_table(path, ", ".join(_COLUMNS))
    elif lacking := set(_NAMES) - set(delta_log.column_names(path)):
        added = [column for column in _COLUMNS if column.split(" ")[0] in lacking]
        spark.sql(f"alter table delta.`{path}` add columns ({', '.join(added)})")
    delta_tables.register(lake, [("ops.event_types", "", "ops")])
    return path


def registered(lake: Lake) -> list[Registered]:
    """All types, by stream and name."""
    path = lake.ops("event_types")
    if not lake.is_table(path):
        return []
    found = map(_row, delta_log.rows(path).to_pylist())
    return sorted(found, key=lambda one: (one.stream, one.event_type))


def replace_types(lake: Lake, stream: str, rows: Sequence[Registered]) -> None:
    """Put the types of one stream in the place of those that were there."""
    literal = stream.replace("'", "''")
    path = lake.ops("event_types")
    names = delta_log.column_names(path)
    values = [tuple(getattr(one, name) for name in names) for one in rows]
    delta_writes.replace_rows(path, values, f"stream = '{literal}'")


def change_types(
    lake: Lake,
    stream: str,
    change: Callable[[Mapping[str, Registered]], Mapping[str, Registered]],
) -> Mapping[str, Registered]:
    """Put what `change` makes of one stream's types in their place, by the types' names.

    For rows that several processes write: `change` is called again where another was quicker.
    """
    there: Mapping[str, Registered] = {}

    def changed(rows: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
        nonlocal there
        before = {one.event_type: one for one in map(_row, rows)}
        there = change(before)
        return list(rows) if there == before else [_values(one) for one in there.values()]

    delta_writes.change_rows(lake.ops("event_types"), "stream", stream, changed)
    return there


def record_filled(lake: Lake, stream: str, filled: Mapping[str, Filled]) -> None:
    """Note what tables of types hold now, beside the process that lands the stream.

    A type that has no row yet is left out.
    """

    def noted(there: Mapping[str, Registered]) -> Mapping[str, Registered]:
        return {
            name: one.having(filled[name]) if name in filled else one for name, one in there.items()
        }

    change_types(lake, stream, noted)


def _values(one: Registered) -> Mapping[str, Any]:
    return {name: getattr(one, name) for name in _NAMES}


def view(lake: Lake, schema: str, name: str) -> Registered | None:
    """The type whose table has this name."""
    return next((one for one in registered(lake) if one.name == f"{schema}.{name}"), None)


def names(lake: Lake) -> list[str]:
    """The names of all types' tables."""
    return sorted(one.name for one in registered(lake))


def _how_many(types: int) -> str:
    return f"{types} types have landed" if types else "no type of event has landed yet"


def chosen(types: Sequence[Registered], event_type: str, stream: str | None) -> Registered:
    """The one type of this name, or whose table has it. Raises TypeUnknown."""
    found = [one for one in types if event_type in (one.event_type, one.name)]
    found = [one for one in found if stream in (None, one.stream)]
    if len(found) == 1:
        return found[0]
    if found:
        streams = ", ".join(one.stream for one in found)
        raise TypeUnknown(f"{event_type!r} came in several streams, say --stream: {streams}")
    known = {one.event_type for one in types if stream in (None, one.stream)}
    where = stream or "any stream"
    hint = nearest(event_type, known) or f"; {_how_many(len(known))}"
    raise TypeUnknown(f"no event of type {event_type!r} has come in {where}{hint}")
