"""SQL of one place of a payload: the value that a column shows, and what it does not show.

Where a plain cast shows every value that has landed at a place, the SQL is that cast. Elsewhere
each value is looked at: it is shown if it is one of the column's type, else the column is null.
Spark's own casts of a variant make a timestamp of a number, and a boolean of "yes".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import types as T

from ingest.event_types.rescue import Lost, Path
from ingest.event_types.variations import NUMBER, json_type
from ingest.schemas.conversion import cast_exactly, typed
from ingest.schemas.shape import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DOUBLE,
    EMPTY,
    LARGE,
    MAP,
    OBJECT,
    STRING,
    WIDE,
    Shape,
)
from ingest.schemas.shape import merged as merged_shapes
from ingest.schemas.texts import NUMBER_FORM
from ingest.spark.sql import sql_type, text_literal

# What `schema_of_variant` says of values of a JSON type.
_SCHEMAS = {
    NUMBER: "BIGINT|DOUBLE|DECIMAL",
    STRING: "STRING",
    BOOLEAN: "BOOLEAN",
    OBJECT: "OBJECT",
    ARRAY: "ARRAY",
}
# What a column may show of which a decision has left the type, and nothing that was kept.
_SCALARS = frozenset({NUMBER, STRING, BOOLEAN})
# Kinds of which a plain cast shows every value as it came.
_PLAIN: Mapping[T.DataType, Sequence[set[str]]] = {
    T.LongType(): [{BIGINT, WIDE}, {"TEXT_BIGINT"}],
    T.DecimalType(38, 0): [{BIGINT, LARGE, WIDE}, {"TEXT_BIGINT", "TEXT_LARGE"}],
    T.DoubleType(): [{BIGINT, DOUBLE}, {"TEXT_DOUBLE"}],
    T.BooleanType(): [{BOOLEAN}, {"TEXT_BOOLEAN"}],
    T.DateType(): [{"TEXT_DATE"}],
    T.TimestampType(): [{"TEXT_TIMESTAMP"}],
}
_OBJECT = "map<string, variant>"


@dataclass(frozen=True, slots=True)
class Source:
    """SQL of a variant, and the names that lead from it to a value."""

    variant: str
    path: Path = ()

    def at(self, name: str) -> Source:
        """A member of an object."""
        if name and '"' not in name:
            return Source(self.variant, (*self.path, name))
        # No path of Spark's can have such a name.
        return Source(f"{self.cast(_OBJECT)}[{text_literal(name)}]")

    def cast(self, kind: str) -> str:
        """SQL of the value in a type; null where Spark cannot cast it."""
        if not self.path:
            return self.variant if kind == "variant" else f"try_cast({self.variant} as {kind})"
        path = text_literal("$" + "".join(f'["{name}"]' for name in self.path))
        return f"try_variant_get({self.variant}, {path}, {text_literal(kind)})"

    @property
    def text(self) -> str:
        """SQL of the value as text, objects and arrays as JSON; null where there is no value."""
        return self.cast("string")

    @property
    def is_there(self) -> str:
        """SQL: whether there is a value; the null of JSON is none."""
        return f"{self.text} is not null"

    def is_one_of(self, json_types: Iterable[str]) -> str:
        """SQL: whether the value has one of these JSON types."""
        schemas = "|".join(_SCHEMAS[one] for one in sorted(json_types))
        return f"schema_of_variant({self.cast('variant')}) rlike '^({schemas})'"


@dataclass(frozen=True, slots=True)
class Shapes:
    """What is known of the values at a place.

    `seen` is the shape of all that have landed, None where nobody knows. `kept` is the shape that
    the column follows, None where its type is declared: then the column shows values of any JSON
    type that are one of its own. `declared` are the paths of declared types below the place.
    """

    seen: Shape | None
    kept: Shape | None
    declared: frozenset[Path] = frozenset()

    def member(self, name: str) -> Shapes:
        """Of a member of an object; of a map, whose names nobody knows, any entry may be it."""
        seen, kept = (
            one and merged_shapes([one.fields.get(name, EMPTY), one.element or EMPTY])
            for one in (self.seen, self.kept)
        )
        return self._below(name, seen, kept)

    def element(self) -> Shapes:
        """Of the elements of an array."""
        seen, kept = (one and (one.element or EMPTY) for one in (self.seen, self.kept))
        return self._below("[]", seen, kept)

    def entry(self) -> Shapes:
        """Of the values of a map, of which some may have come as members of an object."""
        seen, kept = (
            one and merged_shapes([*one.fields.values(), one.element or EMPTY])
            for one in (self.seen, self.kept)
        )
        return self._below("[]", seen, kept)

    def _below(self, step: str, seen: Shape | None, kept: Shape | None) -> Shapes:
        declared = frozenset(path[1:] for path in self.declared if path[0] == step)
        return Shapes(seen, None if () in declared else kept, declared - {()})

    def are_all(self, *kinds: str) -> bool:
        """Whether all values that have landed are of these kinds."""
        return self.seen is not None and self.seen.values <= set(kinds)

    @property
    def accepted(self) -> frozenset[str]:
        """The JSON types that a scalar column shows; none where it shows any."""
        if self.kept is None:
            return frozenset()
        return _SCALARS & {json_type(kind) for kind in self.kept.values} or _SCALARS

    @property
    def are_accepted(self) -> bool:
        """Whether all values that have landed are of a JSON type that the column shows."""
        if self.seen is None or not self.accepted:
            return not self.accepted
        return {json_type(kind) for kind in self.seen.values} <= self.accepted


@dataclass(frozen=True)
class Place(ABC):
    """A place of a payload: where the value is, the column's type, and what is known."""

    source: Source
    kind: T.DataType
    shapes: Shapes

    @property
    @abstractmethod
    def is_plain(self) -> bool:
        """Whether a plain cast shows all that has landed, as it came."""

    @property
    def value(self) -> str:
        """SQL of what the column shows."""
        return self.source.cast(sql_type(self.kind)) if self.is_plain else self._looked_at()

    @abstractmethod
    def _looked_at(self) -> str:
        """The same, where each value is looked at."""

    @property
    @abstractmethod
    def is_lost(self) -> str:
        """SQL: whether something is there that the column does not show whole; never null."""

    def rescue(self, path: Path, lost: Lost) -> None:
        """Add to `lost` what the column, at a path of the record, does not show."""
        if not self.is_plain:
            lost.add(path, f"if({self.is_lost}, {self.source.text}, null)")


@dataclass(frozen=True)
class Scalar(Place):
    """A place of values without members; or a variant, which shows any."""

    @cached_property
    def is_plain(self) -> bool:
        """See Place."""
        if isinstance(self.kind, T.VariantType):
            return True
        seen = self.shapes.seen
        if seen is None or not self.shapes.are_accepted:
            return False
        if not seen.values or isinstance(self.kind, T.StringType):
            return True
        return any(seen.values <= plain for plain in _PLAIN.get(self.kind, ()))

    def _looked_at(self) -> str:
        text, accepted = self.source.text, self.shapes.accepted
        value, conditions = cast_exactly(self.kind, text), []
        if not self.shapes.are_accepted:
            conditions.append(self.source.is_one_of(accepted))
        if isinstance(self.kind, T.BooleanType):
            # Spark's cast takes "yes", too.
            conditions.append(f"{text} in ('true', 'false')")
        elif isinstance(self.kind, T.NumericType) and STRING in accepted:
            # A code such as 007 is no number, unless its type is declared.
            conditions.append(f"{text} rlike '^(?:{NUMBER_FORM})$'")
        elif isinstance(self.kind, T.BinaryType):
            value = typed(self.kind, text)
        return f"if({' and '.join(conditions)}, {value}, null)" if conditions else value

    @property
    def is_lost(self) -> str:
        """See Place."""
        return f"({self.source.is_there} and {self.value} is null)"


@dataclass(frozen=True)
class Holder(Place):
    """A place of arrays or maps; `element` is one of theirs, which SQL knows by `name`."""

    element: Place
    name: str

    @cached_property
    def is_plain(self) -> bool:
        """See Place."""
        kinds = (ARRAY,) if isinstance(self.kind, T.ArrayType) else (OBJECT, MAP)
        return self.shapes.are_all(*kinds) and self.element.is_plain

    @property
    def _elements(self) -> str:
        if isinstance(self.kind, T.ArrayType):
            return self.source.cast("array<variant>")
        return f"map_values({self.source.cast(_OBJECT)})"

    def _looked_at(self) -> str:
        name, value = self.name, self.element.value
        if isinstance(self.kind, T.ArrayType):
            return f"transform({self._elements}, {name} -> {value})"
        return f"transform_values({self.source.cast(_OBJECT)}, (k{name}, {name}) -> {value})"

    @property
    def is_lost(self) -> str:
        """See Place. One element that is lost loses all: its place among them has no path."""
        inside = "false" if self.element.is_plain else self.element.is_lost
        exists = f"exists({self._elements}, {self.name} -> {inside})"
        return f"coalesce({exists}, {self.source.is_there})"


@dataclass(frozen=True)
class Struct(Place):
    """A place of objects, of which some members are shown."""

    members: Mapping[str, Place]

    @cached_property
    def is_plain(self) -> bool:
        """See Place."""
        is_whole = self.shapes.are_all(OBJECT) and not self._has_hidden
        return is_whole and all(one.is_plain for one in self.members.values())

    @property
    def _has_hidden(self) -> bool:
        """Whether objects may have members that are not shown."""
        seen = self.shapes.seen
        return seen is None or MAP in seen.kinds or not seen.fields.keys() <= self.members.keys()

    @property
    def _hidden(self) -> str:
        """SQL of a map of the members that are not shown, as variants."""
        names = ", ".join(map(text_literal, self.members))
        is_hidden = f"k not in ({names}) and " if names else ""
        members = self.source.cast(_OBJECT)
        return f"map_filter({members}, (k, v) -> {is_hidden}not is_variant_null(v))"

    @property
    def _is_object(self) -> str:
        first = [T.StructField(name, T.VariantType()) for name in list(self.members)[:1]]
        # A struct of one member costs less than a map of all of them.
        kind = sql_type(T.StructType(first)) if first else _OBJECT
        return f"{self.source.cast(kind)} is not null"

    def _looked_at(self) -> str:
        members = ", ".join(
            f"{text_literal(name)}, {one.value}" for name, one in self.members.items()
        )
        return f"if({self._is_object}, named_struct({members}), null)"

    @property
    def is_lost(self) -> str:
        """See Place."""
        lost = [one.is_lost for one in self.members.values() if not one.is_plain]
        if self._has_hidden:
            lost.append(f"size({self._hidden}) > 0")
        inside = " or ".join(lost) or "false"
        return f"if({self._is_object}, {inside}, {self.source.is_there})"

    def rescue(self, path: Path, lost: Lost) -> None:
        """See Place. Each member that is not shown has its own path."""
        if self.is_plain:
            return
        if not self.shapes.are_all(OBJECT, MAP):
            lost.add(path, f"if({self._is_object}, null, {self.source.text})")
        if self._has_hidden:
            lost.add_members(path, self._hidden)
        for name, one in self.members.items():
            one.rescue((*path, name), lost)


def place(source: Source, kind: T.DataType, shapes: Shapes, depth: int = 0) -> Place:
    """The place of a column of a type; `depth` is the number of arrays and maps around it."""
    if isinstance(kind, T.StructType):
        return struct(source, kind, shapes, depth)
    name = f"x{depth}"
    if isinstance(kind, T.ArrayType):
        element = place(Source(name), kind.elementType, shapes.element(), depth + 1)
        return Holder(source, kind, shapes, element, name)
    if isinstance(kind, T.MapType):
        element = place(Source(name), kind.valueType, shapes.entry(), depth + 1)
        return Holder(source, kind, shapes, element, name)
    return Scalar(source, kind, shapes)


def struct(source: Source, kind: T.StructType, shapes: Shapes, depth: int = 0) -> Struct:
    """The place of objects."""
    members = {
        one.name: place(source.at(one.name), one.dataType, shapes.member(one.name), depth)
        for one in kind.fields
    }
    return Struct(source, kind, shapes, members)
