"""SQL of the view that shows one type of event, typed, over the table of all of them.

Nothing is stored for a type: its columns are read out of the payload when somebody asks for
them, so a new version shows what landed before it, too. Columns hold all values that were seen,
because they follow from them; only where values of another JSON type were let in, or the columns
are pinned, a value is looked at before it is cast.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.events.columns import ATTRIBUTE, KEPT
from ingest.events.variations import NUMBER
from ingest.shapes.conversion import at, quoted, sql_type, text_literal
from ingest.shapes.shape import ARRAY, BOOLEAN, OBJECT, STRING
from ingest.tables.columns import INGEST, record_schema

PAYLOAD = "_payload"
_RESCUED = "_rescued"
# What `schema_of_variant` says of values of a JSON type.
_SCHEMAS = {
    NUMBER: "^(BIGINT|DOUBLE|DECIMAL)",
    STRING: "^STRING",
    BOOLEAN: "^BOOLEAN",
    OBJECT: "^OBJECT",
    ARRAY: "^ARRAY",
}
# And of numbers that a column of this type shows as they are.
_NUMBERS = {"bigint": "^BIGINT", "decimal(38,0)": "^(BIGINT|DECIMAL.[0-9]+, ?0)"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeView:
    """The view of one type. `rescued` has the JSON type that is kept, by path.

    `schema` is `columns` in JSON.
    """

    event_type: str
    columns: T.StructType
    schema: str
    payload: tuple[str, ...]
    rescued: Mapping[tuple[str, ...], str]
    is_pinned: bool = False

    def layout(self, table: T.StructType) -> str:
        """A fingerprint of all that `query` selects from a relation of the columns `table`."""
        beside = sorted(
            f"{field.name} {field.dataType.simpleString()}" for field in record_schema(table).fields
        )
        said = repr((self.schema, self.rescued, self.is_pinned, beside))
        return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def query(self, source: str, table: T.StructType) -> str:
        """A SELECT of the type's events from `source`, a relation of the columns `table`.

        First what ingest adds and what stands beside the payload, then a column for each
        attribute, last the payload itself.
        """
        names = {folded(field.name) for field in self.columns.fields}
        own = [
            f"{self._rescued()} as {_RESCUED}" if name == _RESCUED else name
            for name in INGEST.fieldNames()
        ]
        beside = [
            quoted(field.name)
            for field in record_schema(table).fields
            if (field.name,) != self.payload and folded(field.name) not in names
        ]
        attributes = [
            f"{self._value(field)} as {quoted(field.name)}" for field in self.columns.fields
        ]
        last = f"{at('', self.payload)} as {PAYLOAD}"
        selected = ",\n    ".join([*own, *beside, *attributes, last])
        wanted = f"_event_type = {text_literal(self.event_type)}"
        return f"select\n    {selected}\nfrom {source}\nwhere {wanted}"

    def _value(self, field: T.StructField) -> str:
        path = (field.metadata[ATTRIBUTE],)
        value = self._got(path, sql_type(field.dataType))
        schemas = self._schemas(field)
        if not schemas:
            return value
        raw = self._got(path, "variant")
        return f"if(schema_of_variant({raw}) rlike {text_literal(schemas)}, {value}, null)"

    def _schemas(self, field: T.StructField) -> str | None:
        """What a value's schema must be like; None where any is."""
        kept = field.metadata[KEPT]
        if self.is_pinned and kept == NUMBER:
            return _NUMBERS.get(field.dataType.simpleString(), _SCHEMAS[NUMBER])
        if self.is_pinned or (field.metadata[ATTRIBUTE],) in self.rescued:
            return _SCHEMAS.get(kept)
        return None

    def _rescued(self) -> str:
        """SQL of what bronze has rescued, with the values that the columns do not show."""
        places = {
            path: f"schema_of_variant({self._got(path, 'variant')}) not rlike "
            + text_literal(_SCHEMAS[kept])
            for path, kept in self.rescued.items()
            if kept and "[]" not in path
        }
        if self.is_pinned:
            for field in self.columns.fields:
                path = (field.metadata[ATTRIBUTE],)
                places.setdefault(path, f"{self._value(field)} is null")
        if not places:
            return _RESCUED
        members = ", ".join(
            f"{text_literal('.'.join([*self.payload, *path]))}, "
            f"if({wrong}, nullif({self._got(path, 'string')}, 'null'), null)"
            for path, wrong in places.items()
        )
        found = f"nullif(to_json(named_struct({members})), '{{}}')"
        both = f"concat(left({_RESCUED}, length({_RESCUED}) - 1), ',', substr({found}, 2))"
        return f"coalesce({both}, {found}, {_RESCUED})"

    def _got(self, path: Sequence[str], kind: str) -> str:
        """SQL of what stands at a path of the payload."""
        payload = at("", self.payload)
        steps = [_step(name) for name in path]
        if None not in steps:
            place = text_literal("$" + "".join(map(str, steps)))
            return f"try_variant_get({payload}, {place}, {text_literal(kind)})"
        for name in path:
            payload = f"try_cast({payload} as map<string, variant>)[{text_literal(name)}]"
        return payload if kind == "variant" else f"try_cast({payload} as {kind})"


def _step(name: str) -> str | None:
    """A name in a path of Spark's; None for one that no path can have."""
    quotes = [quote for quote in "\"'" if name and quote not in name]
    return f"[{quotes[0]}{name}{quotes[0]}]" if quotes else None
