"""A stream's columns and the shapes it has seen, remembered in `ops`.

What a batch knew when it began decides which of its records take the fast way, so that must
be the same when the batch runs again: each entry carries the `_batch_id` that learnt it, and
a batch uses the entries up to its own number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from ingest.declarations.stream import Evolution, SchemaEvolution, Stream
from ingest.errors import DeclarationInvalid, NewColumnsRefused
from ingest.lake import Lake
from ingest.shapes.conversion import Conversion, union
from ingest.shapes.evolution import Evolved, declared_schema, evolved, widened
from ingest.shapes.fitting import Fit, fit, joined
from ingest.shapes.shape import Shape, merged, parse_shape
from ingest.tables import columns, delta

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EVENT_SCHEMAS = (
    "stream string, _batch_id bigint, variation bigint comment 'Hash of the shape.', "
    "shape string comment 'Attribute paths and JSON types.', first_seen_at timestamp"
)
STREAM_SCHEMAS = (
    "stream string, _batch_id bigint, version bigint, schema string comment 'Spark, as JSON.', "
    "added array<struct<path:string,type:string>>, recorded_at timestamp"
)
# Past this many shapes a stream's records are all looked at carefully when they are new.
MOST_SHAPES = 20_000


class StreamSchema:
    """What is known of one stream, up to a batch."""

    def __init__(self, spark: SparkSession, lake: Lake, stream: Stream, application: str) -> None:
        self._spark, self._lake, self._stream = spark, lake, stream
        self._application = application
        self.columns = T.StructType()
        self.version = 0
        self._shapes: dict[int, Shape] = {}
        self._fits: dict[int, Fit] = {}
        for name, ddl in (("event_schemas", EVENT_SCHEMAS), ("stream_schemas", STREAM_SCHEMAS)):
            if not lake.is_table(lake.ops(name)):
                delta.ensure_table(spark, lake.ops(name), ddl)

    def load(self, batch_id: int) -> None:
        """Know what was known when `batch_id` began. Raises DeclarationInvalid."""
        newest = (
            self._entries("stream_schemas", batch_id)
            .orderBy("version", ascending=False)
            .select("version", "schema")
            .first()
        )
        recorded = T.StructType()
        if newest:
            self.version = newest.version
            recorded = T.StructType.fromJson(json.loads(newest.schema))
        self.columns = self._with_declared(recorded)
        seen = self._entries("event_schemas", batch_id).select("variation", "shape").collect()
        self._shapes = {row.variation: parse_shape(row.shape) for row in seen}
        self._refit()

    @property
    def knows_shapes(self) -> bool:
        """Whether any shape has been seen."""
        return bool(self._shapes)

    @property
    def clean_variations(self) -> list[int]:
        """Variations whose records take the fast way."""
        return sorted(key for key, one in self._fits.items() if one.clean)

    @property
    def conversion(self) -> Conversion:
        """The fast way from records to columns."""
        return Conversion(joined(self._fits.values()))

    def learn(self, shapes: Mapping[int, str], batch_id: int, now: datetime) -> None:
        """Take in shapes that are new, and grow the columns as declared; both are recorded.

        Raises NewColumnsRefused under `fail_on_new_columns`.
        """
        new = {key: text for key, text in shapes.items() if key not in self._shapes}
        if not new:
            return
        parsed = {key: parse_shape(text) for key, text in new.items()}
        self.grow(merged(parsed.values()), batch_id, now)
        if len(self._shapes) < MOST_SHAPES:
            name = self._stream.name
            rows = [(name, batch_id, key, text, now) for key, text in sorted(new.items())]
            self._append("event_schemas", EVENT_SCHEMAS, rows, batch_id)
        self._shapes |= parsed
        self._refit()

    def grow(self, seen: Shape, batch_id: int, now: datetime) -> None:
        """Grow the columns by what `seen` brings, as declared, and record the version."""
        self._grow(lambda how: evolved(self.columns, seen, how, columns.NAMES), batch_id, now)

    def widen(self, incoming: T.StructType, batch_id: int, now: datetime) -> None:
        """Grow the columns by those of typed files, as declared, and record the version."""
        self._grow(lambda how: widened(self.columns, incoming, how, columns.NAMES), batch_id, now)

    def _grow(self, grown: Callable[[Evolution], Evolved], batch_id: int, now: datetime) -> None:
        declared = self._stream.evolution
        if declared.mode is SchemaEvolution.FAIL_ON_NEW_COLUMNS:
            growing = replace(declared, mode=SchemaEvolution.ADD_NEW_COLUMNS)
            if added := grown(growing).added:
                names = ", ".join(f"{path} {kind}" for path, kind in added)
                raise NewColumnsRefused(
                    f"{self._stream.name}: new columns {names}; declare them in "
                    f"{self._stream.declared_in} (schema_evolution is fail_on_new_columns)"
                )
        result = grown(declared)
        self._adopt(result, batch_id, now)

    def _adopt(self, result: Evolved, batch_id: int, now: datetime) -> None:
        if result.schema == self.columns and self.version:
            return
        self.columns = result.schema
        self.version += 1
        row = (
            self._stream.name,
            batch_id,
            self.version,
            result.schema.json(),
            list(result.added),
            now,
        )
        self._append("stream_schemas", STREAM_SCHEMAS, [row], batch_id)

    def _with_declared(self, recorded: T.StructType) -> T.StructType:
        declared = declared_schema(self._stream.columns)
        problems = [
            (
                f"{self._stream.declared_in}: {self._stream.name}",
                (
                    f"columns.{path}: declared {wanted}, but the table has {there}; "
                    "a landed column keeps its type"
                ),
            )
            for path, wanted, there in _conflicts(declared, recorded)
        ]
        if problems:
            raise DeclarationInvalid(problems)
        return union(recorded, declared) if recorded.fields else declared

    def _refit(self) -> None:
        rescues = self._stream.evolution.mode is not SchemaEvolution.NONE
        self._fits = {
            key: fit(self.columns, shape, overflow_matters=rescues)
            for key, shape in self._shapes.items()
        }

    def _entries(self, name: str, batch_id: int) -> DataFrame:
        entries = self._spark.read.format("delta").load(self._lake.ops(name))
        return entries.where(
            (entries.stream == self._stream.name) & (entries._batch_id <= batch_id)
        )

    def _append(
        self, name: str, ddl: str, rows: Sequence[tuple[object, ...]], batch_id: int
    ) -> None:
        delta.append_once(
            self._spark.createDataFrame(rows, ddl).coalesce(1),
            self._lake.ops(name),
            application=f"{self._application}/{name}",
            version=batch_id,
        )


def _conflicts(
    declared: T.StructType, there: T.StructType, path: str = ""
) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    columns_there = {member.name: member.dataType for member in there.fields}
    for member in declared.fields:
        old, name = columns_there.get(member.name), f"{path}{member.name}"
        if old is None or old == member.dataType:
            continue
        if isinstance(old, T.StructType) and isinstance(member.dataType, T.StructType):
            found += _conflicts(member.dataType, old, f"{name}.")
        else:
            found.append((name, member.dataType.simpleString(), old.simpleString()))
    return found
