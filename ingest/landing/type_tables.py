"""Tables of single types of events: bronze again, a type each, with flat columns.

They follow the stream's table from batch to batch. What a table holds, it says itself: each
write notes the newest batch of its rows in the same commit, so a process killed at any line
repeats nothing and leaves nothing out. Columns that come are added; a column whose type has
changed makes the table be rebuilt from bronze, in one commit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest.landing.compaction import compacted
from ingest.declarations.stream import Stream
from ingest.errors import TableChanged
from ingest.event_types import ops_table
from ingest.event_types.counts import has_unseen
from ingest.event_types.catalog import TypeTable
from ingest.event_types.ops_table import Filled
from ingest.event_types.views import PAYLOAD
from ingest.failpoint import failpoint
from ingest.storage.layout import Lake
from ingest.spark.sql import quoted
from ingest.schemas.evolution import extends
from ingest.type_walk import has_variant
from ingest.spark import delta_tables
from ingest.storage import delta_log, delta_writes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# Of a type among those that are staged; Delta refuses such a name for a column.
_NUMBER = "number of type"
# Rows that are staged at once: a gigabyte or two.
_MOST_ROWS = 4_000_000
# So many bytes of events are written as one file, by this process and not by Spark, whose
# commits take three times as long.
_ONE_FILE = 32 << 20
# Commits between two compactions of a table.
_COMPACT_EVERY = 32


@dataclass(frozen=True, slots=True)
class Staged:
    """Events of a type on their way, and how many bytes they take."""

    rows: DataFrame
    size: int


@dataclass(frozen=True, slots=True)
class _State:
    """What a table holds: rows up to a batch, -1 for none. `is_simple`: delta-rs may write it."""

    batch_id: int = -1
    is_simple: bool = True


class TypeTables:
    """Writes the tables of types of one stream; each table by one thread at a time.

    `group` names the group whose process this is, if it is one.
    """

    def __init__(self, spark: SparkSession, lake: Lake, stream: Stream, group: str | None) -> None:
        self._spark, self._lake, self._stream = spark, lake, stream
        self._staged_in = lake.staged(stream.table, group or "")
        self._bronze = lake.bronze(stream.table)
        # A table that was filled from another bronze table is filled again from the start.
        self._application = delta_log.table_id(self._bronze)
        self._states: dict[str, _State] = {}
        self._schema = T.StructType()
        self._has_older = has_unseen(lake, self._bronze)

    def newest_batch(self) -> int:
        """The newest batch of bronze, whose columns count from now on."""
        newest = delta_log.newest_batch(self._bronze)
        self._schema = delta_tables.table_schema(self._spark, self._bronze)
        return newest

    def path(self, one: TypeTable) -> str:
        """Folder of a type's table."""
        return self._lake.table(self._stream.events.schema, one.name)

    def held(self, one: TypeTable) -> int:
        """The newest batch of which a type's table holds all events, or bronze has none."""
        held = self._state(one).batch_id
        if held < 0:
            return -1 if self._has_older else one.first_batch_id - 1
        return max(held, one.filled.batch_id) if one.filled else held

    def is_current(self, one: TypeTable) -> bool:
        """Whether a table is known to have the columns that its type has now."""
        is_there = self._state(one).batch_id >= 0
        return is_there and one.filled is not None and one.filled.layout == self._layout(one)

    def settle(self, one: TypeTable, newest: int) -> Filled | None:
        """Give a table that is there its columns of now, where events to come will not.

        Where it would show what it holds otherwise now, or in other types, it is created again, of all
        that bronze has of it. None where there is no table, or nothing to do.
        """
        held = self.held(one)
        if self._state(one).batch_id < 0 or self.is_current(one):
            return None
        there = delta_tables.table_schema(self._spark, self.path(one))
        wanted = self._shown(one, self._events(-1, -1)).schema
        if not one.shows_otherwise and extends(wanted, there):
            if extends(there, wanted):
                return self._filled(one, held, wanted.names)
            if held < newest:
                return None
        return self._write(one, self._shown(one, self._events(-1, newest)), newest, is_anew=True)

    def ranges(self, tables: Sequence[TypeTable], up_to: int) -> Iterator[delta_log.BatchRange]:
        """Ranges of batches that have to be staged, one after the other."""
        after = min((self.held(one) for one in tables), default=up_to)
        return delta_log.batch_ranges(self._bronze, after, up_to, _MOST_ROWS)

    @contextlib.contextmanager
    def staged(
        self, tables: Sequence[TypeTable], after: int, up_to: int
    ) -> Iterator[Mapping[str, Staged]]:
        """Events of a range of batches, by type, read out of bronze once for all types."""
        storage, folder = self._lake.storage, self._staged_in
        storage.delete_tree(folder)
        rows = self._events(after, up_to)
        names = [one.event_type for one in tables]
        (
            rows.where(F.col("_event_type").isin(names))
            .where(F.col("_batch_id") > _by_type(tables, map(self.held, tables)))
            .withColumn(_NUMBER, _by_type(tables, range(len(tables))))
            # One task: a stream that lands keeps the other cores.
            .coalesce(1)
            .write.partitionBy(_NUMBER)
            .parquet(storage.url(folder))
        )
        failpoint("after_staging")
        there = {one.name for one in storage.list(folder)}
        try:
            yield {
                name: self._read(f"{folder}/{part}", rows.schema)
                for number, name in enumerate(names)
                if (part := f"{_NUMBER}={number}") in there
            }
        finally:
            storage.delete_tree(folder)

    def append(self, one: TypeTable, staged: Staged | None, up_to: int) -> Filled:
        """Append what a type's table does not have of these events, all up to a batch.

        None are staged where only columns have come.
        """
        found = staged or Staged(self._events(up_to, up_to), 0)
        rows = found.rows.where(F.col("_batch_id") > self.held(one))
        state = self._state(one)
        is_small = state.is_simple and found.size < _ONE_FILE
        shown = self._shown(one, rows)
        return self._write(one, shown, up_to, is_anew=state.batch_id < 0, is_small=is_small)

    def _read(self, folder: str, schema: T.StructType) -> Staged:
        storage = self._lake.storage
        rows = self._spark.read.schema(schema).parquet(storage.url(folder))
        size = sum(one.size for one in storage.list(folder) if one.name.endswith(".parquet"))
        return Staged(rows.coalesce(1) if size < _ONE_FILE else rows, size)

    def _state(self, one: TypeTable) -> _State:
        if one.name not in self._states:
            path = self.path(one)
            if self._lake.is_table(path):
                held = delta_log.last_version(path, self._application)
                if held < 0:
                    self._check_owner(one)
                self._states[one.name] = _State(held, delta_log.is_simple(path))
            else:
                self._states[one.name] = _State()
        return self._states[one.name]

    def _events(self, after: int, up_to: int) -> DataFrame:
        rows = self._spark.read.format("delta").load(self._bronze)
        return rows.where(F.col("_batch_id").between(after + 1, up_to))

    def _shown(self, one: TypeTable, events: DataFrame) -> DataFrame:
        view = f"{self._stream.events.schema}__{one.name}"
        events.createOrReplaceTempView(view)
        shown = self._spark.sql(one.view.query(view, events.schema)).drop(PAYLOAD)
        self._spark.catalog.dropTempView(view)
        return shown

    def _write(
        self, one: TypeTable, rows: DataFrame, up_to: int, *, is_anew: bool, is_small: bool = False
    ) -> Filled:
        path, by = self.path(one), self._application
        # Should the write fail, the table is asked again what became of it.
        del self._states[one.name]
        if is_small and not has_variant(rows.schema):
            found = rows.toArrow()
            if is_anew:
                delta_writes.create(path, rows.schema.json(), delta_tables.LAYER)
            delta_writes.write_once(path, found, application=by, version=up_to, is_anew=is_anew)
        elif is_anew:
            delta_tables.replace_once(rows, path, application=by, version=up_to)
        elif self._lake.is_table(path):
            delta_tables.append_once(rows, path, application=by, version=up_to, grow=True)
        else:
            raise TableChanged(f"{path} was removed; the next turn creates it again")
        failpoint("after_table")
        if delta_log.version(path) % _COMPACT_EVERY == _COMPACT_EVERY - 1:
            compacted(self._spark, path)
        self._states[one.name] = _State(up_to, delta_log.is_simple(path))
        return self._filled(one, up_to, rows.columns)

    def _check_owner(self, one: TypeTable) -> None:
        """Raise TableChanged where another stream fills a table that is not filled by this one."""
        name = f"{self._stream.events.schema}.{one.name}"
        for other in ops_table.registered(self._lake):
            if other.name == name and other.stream != self._stream.name:
                raise TableChanged(
                    f"{self.path(one)} is the table of {other.event_type!r} of {other.stream}; "
                    f"give {self._stream.name} a source of its own"
                )

    def _layout(self, one: TypeTable) -> str:
        return one.view.layout(self._schema)

    def _filled(self, one: TypeTable, batch_id: int, columns: Sequence[str]) -> Filled:
        names = ", ".join(map(quoted, columns))
        return Filled(batch_id, one.version, names, self._layout(one))


def _by_type(tables: Sequence[TypeTable], values: Iterable[int]) -> Column:
    """The value of a row's type."""
    pairs = zip(tables, values, strict=True)
    literals = (F.lit(x) for one, value in pairs for x in (one.event_type, value))
    return F.create_map(*literals)[F.col("_event_type")]
