"""The shapes of events' payloads, many at once, by their outlines.

Where an outline is ambiguous, Python reads that document itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from ingest.event_types.outlines import (
    WIDE_FRACTIONS,
    WIDE_WHOLES,
    kinds_of_fraction,
    outlined,
    shape_of_outline,
    widened,
    width_of,
)
from ingest.event_types.variations import KnownShapes
from ingest.parse.json_columns import asking
from ingest.parse.json_exact import Inexact, Number, Refused, loaded
from ingest.parse.json_shapes import number_kind
from ingest.schemas.conversion import type_at
from ingest.schemas.shape import (
    ARRAY,
    BOOLEAN,
    DOUBLE,
    EMPTY,
    OBJECT,
    STRING,
    VOID,
    WIDE,
    Shape,
    merged,
)
from ingest.schemas.texts import kind_of_text

if TYPE_CHECKING:
    Mask = np.ndarray[Any, np.dtype[np.bool_]]

Path = tuple[str, ...]

_EXTRACTED = Template(
    """
    select
        json_extract_string(text, '$event_type') as event_type,
        cast(json_extract(text, '$payload') as varchar) as payload
    from (select case when json_valid(text) then text end as text from texts)
    """
)

_OUTLINED = Template(
    """
    select json(text) as text, json_extract_string(text, '$event_type') as event_type
    from (select case when json_valid(text) then text end as text from texts)
    """
)


@dataclass(frozen=True, slots=True)
class Events:
    """Texts of records by the types and structures of their events, which are few.

    `pairs` are (type, shape); `of` has the pair of each text, and -1 where an event has no type.
    The first pairs, `outlined` of them, have shapes of outlines: the same object each time.
    """

    pairs: Sequence[tuple[str, Shape]]
    of: np.ndarray[Any, np.dtype[np.int64]]
    outlined: int


NO_EVENTS = Events([], np.zeros(0, dtype=np.int64), 0)


@dataclass(frozen=True, slots=True)
class Places:
    """Where an event's type and its payload stand in a record."""

    event_type: Path
    payload: Path

    def events(self, texts: pa.StringArray) -> Events:
        """The types and structures of texts; what is no JSON has no type."""
        if not len(texts):
            return NO_EVENTS
        query = _EXTRACTED.substitute(
            event_type=_pointer(self.event_type), payload=_pointer(self.payload)
        )
        with asking(texts) as database:
            found = database.sql(query).to_arrow_table().combine_chunks()
        return self._events(texts, *(found[name].combine_chunks() for name in found.column_names))

    def events_read(
        self, texts: pa.StringArray, record: pa.StructArray, kind: T.StructType
    ) -> Events:
        """The same, of texts whose columns have been read, as `json_columns.records` has them."""
        is_text = type_at(kind, self.event_type) == T.StringType()
        if not (is_text and type_at(kind, self.payload) == T.VariantType()):
            return self.events(texts)
        there = (pc.struct_field(record, list(path)) for path in (self.event_type, self.payload))
        return self._events(texts, *there)

    def _events(
        self, texts: pa.StringArray, types: pa.StringArray, payloads: pa.StringArray
    ) -> Events:
        found = outlined(payloads)
        types, outlines = types.dictionary_encode(), found.texts.dictionary_encode()
        type_codes, wide = _codes(types), len(outlines.dictionary) * _WIDTHS
        is_event = type_codes >= 0
        distinct, of = np.unique(
            (type_codes * wide + _codes(outlines) * _WIDTHS + found.widths)[is_event],
            return_inverse=True,
        )
        names = types.dictionary.to_pylist()
        outline = outlines.dictionary.to_pylist()
        typed_shapes = [
            (names[code // wide], shape_of_outline(outline[code % wide // _WIDTHS], code % _WIDTHS))
            for code in distinct.tolist()
        ]
        count = len(typed_shapes)
        pairs = np.full(len(texts), -1, dtype=np.int64)
        pairs[is_event] = of
        is_unknown = np.array([*(shape is None for _, shape in typed_shapes), False])[pairs]
        for row in np.flatnonzero(is_event & (found.are_long | is_unknown)):
            typed_shapes.append(
                (typed_shapes[pairs[row]][0], self._looked_at(texts[int(row)].as_py()))
            )
            pairs[row] = len(typed_shapes) - 1
        return Events([(name, shape or EMPTY) for name, shape in typed_shapes], pairs, count)

    def firsts(self, texts: pa.StringArray) -> Mask:
        """Which texts are the first of their outline and their event's type.

        So are all that are no JSON, or hold numbers of which an outline does not have all digits.
        """
        query = _OUTLINED.substitute(event_type=_pointer(self.event_type))
        with asking(texts) as database:
            table = database.sql(query).to_arrow_table()
        minified, types = (table[name].combine_chunks() for name in table.column_names)
        outlined_texts = outlined(minified)
        types, outlines = types.dictionary_encode(), outlined_texts.texts.dictionary_encode()
        found: Mask = outlined_texts.are_long | minified.is_null().to_numpy(zero_copy_only=False)
        kinds = _codes(types) * len(outlines.dictionary) + _codes(outlines)
        kinds = kinds * _WIDTHS + outlined_texts.widths
        typed_shapes = np.flatnonzero(~found)
        found[typed_shapes[np.unique(kinds[typed_shapes], return_index=True)[1]]] = True
        return found

    def payload_of(self, text: str) -> Any:
        """An event's payload, as `json_exact` reads it; None where it has none."""
        value = loaded(text)
        for name in self.payload:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def _looked_at(self, text: str) -> Shape:
        try:
            return shape_of(self.payload_of(text))
        except Refused:
            # It is going to quarantine.
            return EMPTY


# How many values a width has.
_WIDTHS = WIDE_FRACTIONS + WIDE_WHOLES + 1
# Judgements that are kept.
_MOST_JUDGED = 10_000


@dataclass(frozen=True, slots=True)
class ShapeMonitor:
    """Tells what is new about events, from what is known."""

    places: Places
    known: KnownShapes
    # By type and a shape's identity, with that shape.
    _judged: dict[tuple[str, int], tuple[Shape, tuple[int, bool]]] = field(
        default_factory=dict, init=False, repr=False
    )

    def judged(
        self, texts: pa.StringArray, record: pa.StructArray, kind: T.StructType
    ) -> tuple[pa.StringArray, Mask]:
        """Each event's variation, in hexadecimal, and whether nothing about it is new.

        What has no type has no variation, and so nothing new.
        """
        events = self.places.events_read(texts, record, kind)
        judged = [self._judgement(*pair) for pair in events.pairs[: events.outlined]]
        judged += [self.known.judged(*pair) for pair in events.pairs[events.outlined :]]
        variations = pa.array([*(hexadecimal(number) for number, _ in judged), None], pa.string())
        known = np.array([*(is_known for _, is_known in judged), True], dtype=bool)
        of = np.where(events.of < 0, len(judged), events.of)
        return variations.take(pa.array(of)), known[of]

    def _judgement(self, event_type: str, shape: Shape) -> tuple[int, bool]:
        """See KnownShapes.judged; of the shape of an outline, which comes again and again."""
        key = event_type, id(shape)
        before = self._judged.get(key)
        if before and before[0] is shape:
            return before[1]
        if len(self._judged) >= _MOST_JUDGED:
            self._judged.clear()
        found = self.known.judged(event_type, shape)
        self._judged[key] = shape, found
        return found


def hexadecimal(number: int) -> str:
    """A variation as text."""
    return f"{number & (1 << 64) - 1:016x}"


def shape_of(value: Any) -> Shape:
    """The shape of a value of `json_exact`: of an element of an array it is not said what a
    text says."""
    return widened(_shape_of(value, is_member=False), _width_of(value))


def _width_of(value: Any) -> int:
    if isinstance(value, dict | list):
        inside = value.values() if isinstance(value, dict) else value
        return reduce(or_, map(_width_of, inside), 0)
    return width_of(value) if isinstance(value, Number | Inexact) else 0


def _shape_of(value: Any, *, is_member: bool) -> Shape:
    if isinstance(value, dict):
        fields = {name: _shape_of(one, is_member=True) for name, one in value.items()}
        return Shape(frozenset({OBJECT}), fields)
    if isinstance(value, list):
        element = merged(_shape_of(one, is_member=False) for one in value)
        return Shape(frozenset({ARRAY}), element=element)
    if isinstance(value, Inexact):
        return Shape(frozenset({DOUBLE, WIDE}))
    if isinstance(value, Number) and number_kind(value) == DOUBLE:
        return Shape(kinds_of_fraction(value))
    return Shape(frozenset({_scalar(value, is_member)}))


def _scalar(value: Any, is_member: bool) -> str:
    if value is None:
        return VOID
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, Number):
        return number_kind(value)
    return kind_of_text(value) if is_member else STRING


def _pointer(path: Path) -> str:
    """A path as a JSON pointer (RFC 6901), in a SQL text."""
    names = (name.replace("~", "~0").replace("/", "~1").replace("'", "''") for name in path)
    return "".join(f"/{name}" for name in names)


def _codes(column: pa.DictionaryArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    codes: np.ndarray[Any, np.dtype[np.int64]] = column.indices.fill_null(-1).to_numpy()
    return codes.astype(np.int64)
