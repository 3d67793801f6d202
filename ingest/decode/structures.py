"""The shapes of events' payloads, many at once.

DuckDB tells a document's structure several times as fast as Python does, but not all of it:
where it says only "JSON" (several types in one array), where a number may be past 64 bits, and
where a name is one of our own marks, Python looks at that document for itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ingest.decode.arrow_json import connection
from ingest.decode.exact_json import Inexact, Number, Refused, loaded
from ingest.decode.json_shapes import number_kind
from ingest.events.variations import Known
from ingest.shapes.shape import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    DOUBLE,
    EMPTY,
    OBJECT,
    STRING,
    VOID,
    Shape,
    merged,
)
from ingest.shapes.texts import SAYING_TEXT, kind_of_text

if TYPE_CHECKING:
    Mask = np.ndarray[Any, np.dtype[np.bool_]]

Path = tuple[str, ...]

# Begins the name of a mark, in whose place a text stood that says something else.
_MARK = "\x01"
_KINDS = {
    "UBIGINT": BIGINT,
    "BIGINT": BIGINT,
    "DOUBLE": DOUBLE,
    "BOOLEAN": BOOLEAN,
    "VARCHAR": STRING,
    "NULL": VOID,
}
_ODD = r"[0-9]{19}|\\u0001"


def _said(payload: str) -> str:
    """SQL: a payload in which members that are texts of something else stand in marks.

    A mark is an object of the name _MARK, after which a timestamp has its separator; it holds a
    list, in which a number or a boolean stands.
    """
    form = f'(:\\s*)"{SAYING_TEXT}"'
    said = f"regexp_replace({payload}, '{form}', '\\1{{\"\\\\u0001\\3\":[\\2]}}', 'g')"
    # An object without members is as nothing; and in a text it may well be gone.
    without = f"regexp_replace({said}, '([:,\\[]\\s*)\\{{\\s*\\}}', '\\1null', 'g')"
    return f"case when contains({payload}, '{{}}') then {without} else {said} end"


_QUERY = Template(
    """
    with

    there as (select case when json_valid(text) then text end as text from texts),

    events as (
        select
            json_extract_string(text, '$event_type') as event_type,
            cast(json_extract(text, '$payload') as varchar) as payload,
            regexp_matches(text, '$odd') as is_odd
        from there
    ),

    found as (
        select
            event_type,
            is_odd,
            coalesce(cast(json_structure($said) as varchar), '"NULL"') as structure
        from events
    )

    select
        event_type,
        case when not is_odd and not contains(structure, '"JSON"') then structure end as structure
    from found
    """
)


@dataclass(frozen=True, slots=True)
class Events:
    """Texts of records by the types and structures of their events: each distinct pair once.

    `pairs` are (type, shape); `of` has the pair of each text, and -1 where an event has no type.
    """

    pairs: Sequence[tuple[str, Shape]]
    of: np.ndarray[Any, np.dtype[np.int64]]


NO_EVENTS = Events([], np.zeros(0, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Places:
    """Where an event's type and its payload stand in a record."""

    event_type: Path
    payload: Path

    def events(self, texts: pa.StringArray) -> Events:
        """The types and structures of texts; what is no JSON has no type."""
        if not len(texts):
            return NO_EVENTS
        database = connection()
        database.register("texts", pa.table({"text": texts}))
        query = _QUERY.substitute(
            event_type=_pointer(self.event_type),
            payload=_pointer(self.payload),
            odd=_ODD,
            said=_said("payload"),
        )
        found = database.sql(query).to_arrow_table().combine_chunks()
        types, structures = (_encoded(found[name]) for name in ("event_type", "structure"))
        # Of a type none is less than 0; of a structure it is 0, and Python looks.
        type_codes, wide = _codes(types), len(structures.dictionary) + 1
        codes = np.where(type_codes < 0, -1, type_codes * wide + _codes(structures) + 1)
        distinct, of = np.unique(codes[codes >= 0], return_inverse=True)
        told = [
            (types.dictionary[code // wide].as_py(), _told(structures, code % wide - 1))
            for code in distinct
        ]
        pairs = np.full(len(codes), -1, dtype=np.int64)
        pairs[codes >= 0] = of
        for row in np.flatnonzero((codes >= 0) & (codes % wide == 0)):
            told.append((told[pairs[row]][0], self._looked_at(texts[int(row)].as_py())))
            pairs[row] = len(told) - 1
        return Events(told, pairs)

    def payload_of(self, text: str) -> Any:
        """An event's payload, as `exact_json` reads it; None where it has none."""
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


@dataclass(frozen=True, slots=True)
class Watch:
    """Tells what is new about events, from what is known."""

    places: Places
    known: Known

    def judged(self, texts: pa.StringArray) -> tuple[pa.StringArray, Mask]:
        """Each event's variation, in hexadecimal, and whether nothing about it is new.

        What has no type has no variation, and so nothing new.
        """
        events = self.places.events(texts)
        judged = [self.known.judged(name, shape) for name, shape in events.pairs]
        variations = pa.array([*(hexadecimal(number) for number, _ in judged), None], pa.string())
        known = np.array([*(is_known for _, is_known in judged), True], dtype=bool)
        of = np.where(events.of < 0, len(judged), events.of)
        return variations.take(pa.array(of)), known[of]


def hexadecimal(number: int) -> str:
    """A variation as text."""
    return f"{number & (1 << 64) - 1:016x}"


def shape_of(value: Any) -> Shape:
    """The shape of a value of `exact_json`: of an element of an array it is not said what a
    text says."""
    return _shape_of(value, is_member=False)


def _shape_of(value: Any, *, is_member: bool) -> Shape:
    if isinstance(value, dict):
        fields = {name: _shape_of(one, is_member=True) for name, one in value.items()}
        return Shape(frozenset({OBJECT}), fields) if fields else _NOTHING
    if isinstance(value, list):
        element = merged(_shape_of(one, is_member=False) for one in value)
        return Shape(frozenset({ARRAY}), element=element)
    return Shape(frozenset({_scalar(value, is_member)}))


def _scalar(value: Any, is_member: bool) -> str:
    if value is None:
        return VOID
    if isinstance(value, bool):
        return BOOLEAN
    if isinstance(value, Number):
        return number_kind(value)
    if isinstance(value, Inexact):
        return DOUBLE
    return kind_of_text(value) if is_member else STRING


_NOTHING = Shape(frozenset({VOID}))


def _told(structures: pa.DictionaryArray, code: int) -> Shape:
    """The shape that one of DuckDB's structures tells; EMPTY for none."""
    return _told_by(json.loads(structures.dictionary[code].as_py())) if code >= 0 else EMPTY


def _told_by(value: Any) -> Shape:
    if isinstance(value, list):
        return Shape(frozenset({ARRAY}), element=_told_by(value[0]))
    if isinstance(value, str):
        return Shape(frozenset({_KINDS.get(value, STRING)}))
    for name, said in value.items():
        if name[:1] == _MARK:
            return Shape(frozenset({_said_by(name, said[0])}))
    return Shape(frozenset({OBJECT}), {name: _told_by(one) for name, one in value.items()})


def _said_by(mark: str, said: str) -> str:
    if mark != _MARK:
        return "TEXT_TIMESTAMP"
    return "TEXT_DATE" if said == "NULL" else f"TEXT_{_KINDS[said]}"


def _pointer(path: Path) -> str:
    """A path as a JSON pointer (RFC 6901), in a SQL text."""
    names = (name.replace("~", "~0").replace("/", "~1").replace("'", "''") for name in path)
    return "".join(f"/{name}" for name in names)


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    return column.combine_chunks().dictionary_encode()


def _codes(column: pa.DictionaryArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    codes: np.ndarray[Any, np.dtype[np.int64]] = column.indices.fill_null(-1).to_numpy()
    return codes.astype(np.int64)
