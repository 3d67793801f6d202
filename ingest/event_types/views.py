"""SQL of the view that shows one type of event, typed, over the table of all of them.

Nothing is stored for a type: its columns are read out of the payload when somebody asks for
them, so a new version shows what landed before it, too. What no column shows is in `_rescued`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.event_types.columns import ATTRIBUTE
from ingest.event_types.places import Shapes, Source, Struct, struct
from ingest.event_types.rescue import Lost, Path
from ingest.schemas.conversion import at
from ingest.schemas.ingest_columns import INGEST, record_schema
from ingest.schemas.shape import Shape
from ingest.spark.sql import quoted, text_literal

PAYLOAD = "_payload"
_RESCUED = "_rescued"


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeView:
    """The view of one type.

    `kept` is the shape that its columns follow, `seen` that of all its events, None where some
    landed before types were recorded. `declared` are paths of declared types.
    """

    event_type: str
    columns: T.StructType
    payload: Path
    kept: Shape
    seen: Shape | None
    declared: frozenset[Path] = frozenset()

    def layout(self, table: T.StructType) -> str:
        """A fingerprint of all that `query` selects from a relation of the columns `table`."""
        beside = sorted(
            f"{field.name} {field.dataType.simpleString()}" for field in record_schema(table).fields
        )
        said = repr((self.query("", table), beside))
        return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def query(self, source: str, table: T.StructType) -> str:
        """A SELECT of the type's events from `source`, a relation of the columns `table`.

        First what ingest adds and what stands beside the payload, then a column for each
        attribute, last the payload itself.
        """
        payload = self._payload()
        names = {folded(field.name) for field in self.columns.fields}
        own = [
            f"{self._rescued(payload)} as {_RESCUED}" if name == _RESCUED else name
            for name in INGEST.fieldNames()
        ]
        beside = [
            quoted(field.name)
            for field in record_schema(table).fields
            if (field.name,) != self.payload and folded(field.name) not in names
        ]
        attributes = [
            f"{payload.members[field.metadata[ATTRIBUTE]].value} as {quoted(field.name)}"
            for field in self.columns.fields
        ]
        last = f"{at('', self.payload)} as {PAYLOAD}"
        selected = ",\n    ".join([*own, *beside, *attributes, last])
        wanted = f"_event_type = {text_literal(self.event_type)}"
        return f"select\n    {selected}\nfrom {source}\nwhere {wanted}"

    def _payload(self) -> Struct:
        """The payload, of which those attributes are shown that have columns."""
        attributes = [
            T.StructField(field.metadata[ATTRIBUTE], field.dataType)
            for field in self.columns.fields
        ]
        shapes = Shapes(self.seen, self.kept, self.declared)
        return struct(Source(at("", self.payload)), T.StructType(attributes), shapes)

    def _rescued(self, payload: Struct) -> str:
        """SQL of what bronze has rescued, with what the columns do not show."""
        lost = Lost()
        payload.rescue(self.payload, lost)
        if not (found := lost.json()):
            return _RESCUED
        objects = f"array({', '.join([_RESCUED, *found])})"
        members = f"transform({objects}, one -> substr(one, 2, length(one) - 2))"
        joined = f"array_join(filter({members}, one -> one <> ''), ',')"
        return f"concat('{{', nullif({joined}, ''), '}}')"
