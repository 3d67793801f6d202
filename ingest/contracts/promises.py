"""What a stream promises of its columns and messages, as far as others rely on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.contracts.differences import Path
from ingest.declarations.stream import ColumnHint, Stream
from ingest.event_types.columns import column_name
from ingest.lineage.rendering import events_table
from ingest.registry.columns import columns
from ingest.registry.compatibility import Compatibility
from ingest.schemas.conversion import type_at, union
from ingest.schemas.evolution import declared_schema


@dataclass(frozen=True, slots=True)
class Promise:
    """A stream with the schema of its messages, if it declares one."""

    stream: Stream
    schema: str | None

    @property
    def name(self) -> str:
        """The stream's name."""
        return self.stream.name

    @property
    def subject(self) -> str | None:
        """Subject of the registry under which the schema is known; None where there is none."""
        return self.stream.subject if self.schema else None

    @property
    def compatibility(self) -> Compatibility | None:
        """What is asked of new schemas, if it is declared."""
        return self.stream.avro.compatibility

    @property
    def hints(self) -> T.StructType:
        """The columns that `columns` declares, those in the payload of events, too."""
        events = self.stream.events
        inside = [
            ColumnHint(path=(*events.payload, *path), type=kind)
            for path, kind in (events.hints.items() if events.are_split else ())
        ]
        outside = [one for one in self.stream.columns if not inside or one.path != events.payload]
        return declared_schema([*outside, *inside])

    @property
    def columns(self) -> T.StructType:
        """All columns that are known without a record."""
        return self.columns_with(self.schema)

    def columns_with(self, schema: str | None) -> T.StructType:
        """The columns, were messages of another schema; one that holds itself has none."""
        try:
            return union(self.hints, columns(schema)) if schema else self.hints
        except ValueError:
            return self.hints

    def is_hint(self, path: Path) -> bool:
        """Whether the type of a column is declared by itself."""
        return type_at(self.hints, path) is not None

    def tables(self, path: Path) -> Mapping[str, frozenset[Path]]:
        """The names of a column by the tables that have it, in lower case."""
        lowered = tuple(folded(part) for part in path)
        found = {f"bronze.{self.stream.table}": frozenset({lowered})}
        found[f"bronze.{self.stream.current_table}"] = frozenset({lowered})
        if self.stream.events.are_split:
            names = frozenset({self._in_type(path)})
            found[events_table(*self.name.split(".", 1))] = names
        return found

    def _in_type(self, path: Path) -> Path:
        """The name of a column in the tables of types of events."""
        payload = self.stream.events.payload
        inner = path[len(payload) :]
        if path[: len(payload)] != payload or not inner:
            return tuple(folded(part) for part in path)
        reserved = {folded(name) for name in self.stream.events.reserved}
        first = column_name(inner[0], payload[-1], reserved)
        return tuple(folded(part) for part in (first, *inner[1:]))


def promised(streams: list[Stream]) -> Mapping[str, Promise]:
    """The promises of streams, by name."""
    return {
        one.name: Promise(one, one.avro.schema if one.is_plain_avro else None) for one in streams
    }


def node_without_file(node: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """A source entry that names no file of a schema, and the name of the file that it named."""
    declared = node["config"]["meta"]["ingest"]
    if not isinstance(declared, dict) or not isinstance(declared.get("avro"), dict):
        return node, None
    avro = {key: value for key, value in declared["avro"].items() if key != "schema"}
    meta = {**node["config"]["meta"], "ingest": {**declared, "avro": avro}}
    return {**node, "config": {**node["config"], "meta": meta}}, declared["avro"].get("schema")
