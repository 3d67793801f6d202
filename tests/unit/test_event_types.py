"""Variations, columns and names of types of events, without Spark."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as T

from ingest.event_types import variations
from ingest.event_types.columns import columns_of, kept_with, type_of
from ingest.event_types.event_type import Change, EventType
from ingest.event_types.inference import Places, ShapeMonitor, shape_of
from ingest.event_types.names import TableNames, table_name
from ingest.event_types.variations import KnownShapes, canonical, variation
from ingest.parse.json_columns import legible, records
from ingest.parse.json_exact import loaded
from ingest.schemas.evolution import leaves
from ingest.schemas.shape import EMPTY, Shape, parse_shape, written_shape
from ingest.schemas.texts import kind_of_text

PLACES = Places(("type",), ("data",))
KIND = T.StructType([T.StructField("type", T.StringType()), T.StructField("data", T.VariantType())])
GIVEN: dict[str, Any] = {
    "payload": "data",
    "reserved": ["id"],
    "hints": {},
    "max_columns": 3,
}
NAMES = ["a", "b c", "d.e", "2026-11-01", "7", "ü", "", "\x01", "\x01t", 'q"', "\\"]
SCALARS: list[Any] = [
    *(None, True, 0, -7, 1.5, 10**18, 10**25, "", "text", "12", "-0.5", "007", "true", "1e5"),
    *("2026-11-01", "2026-02-30", "2026-11-01T10:00:00Z", "2026-11-01 10:00:00.123456+01:00"),
    *(0.8444218515250481, 1e-7, -1e300, 10**15, 9007199254740993, 123456789012.12345),
    *("2026-11-01T10:00:00", '"', ": {}", "\\", "9" * 38, "9" * 39, "\n", '{"x": "1"}'),
]


def shape(value: Any) -> Shape:
    """The canonical shape of a payload."""
    return canonical(shape_of(loaded(json.dumps(value))))


def kept(*payloads: Any) -> Shape:
    """What is kept of payloads that came one after the other."""
    known = EventType("t", "t", 0)
    for one in payloads:
        known = known.landing(0, shape(one), None)  # type: ignore[arg-type]
    return known.kept


def columns(found: Shape) -> dict[str, str]:
    """Columns by name."""
    made = columns_of(found, T.StructType(), **GIVEN | {"max_columns": 99})
    return {one.name: one.dataType.simpleString() for one in made.fields}


def read(texts: pa.StringArray) -> pa.StructArray:
    """The columns of KIND."""
    return records(texts, KIND, overflow_matters=True).columns


def made_up(draw: random.Random, depth: int) -> Any:
    """Any document."""
    kind = draw.random()
    if depth and kind < 0.35:
        return {draw.choice(NAMES): made_up(draw, depth - 1) for _ in range(draw.randrange(4))}
    if depth and kind < 0.5:
        return [made_up(draw, depth - 1) for _ in range(draw.randrange(4))]
    return draw.choice(SCALARS)


def test_outlines_give_the_shapes_that_python_finds() -> None:
    draw = random.Random(5)
    made = [{"type": draw.choice("xyz"), "data": made_up(draw, 4)} for _ in range(3000)]
    for indent in (None, 1):
        texts = pa.array([json.dumps(one, indent=indent) for one in made])
        for found in (PLACES.events(texts), PLACES.events_read(texts, read(texts), KIND)):
            for row, record in enumerate(made):
                name, told = found.pairs[found.of[row]]
                assert name == record["type"]
                assert canonical(told) == shape(record["data"]), record


@pytest.mark.parametrize("payload", ["[" * 3000 + "]" * 3000, "[-NaN]", "[Inf]"])
def test_what_is_going_to_quarantine_has_a_type_and_no_shape(payload: str) -> None:
    found = PLACES.events(pa.array([f'{{"type": "x", "data": {payload}}}'] * 2))
    assert [found.pairs[of] for of in found.of] == [("x", EMPTY)] * 2


def test_what_has_no_type_is_no_event() -> None:
    texts = [
        '{"data": {}}',
        '{"type": null}',
        "broken",
        "[1]",
        '{"type": "x"}',
        '{"type": 5}',
        None,
    ]
    told = pa.array(texts, pa.string())
    for found in (PLACES.events(told), PLACES.events_read(told, read(told), KIND)):
        assert [found.pairs[of][0] if of >= 0 else None for of in found.of] == [
            *(None, None, None, None, "x", "5", None)
        ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 2.5}),
        ({"a": "x"}, {"a": "2026-11-01"}),
        ({"a": 1}, {"a": 1, "b": None}),
        ({"a": 1, "b": {"c": 1}}, {"b": {"c": 7}, "a": 1}),
        ({"a": {"2026-11-01": 1}}, {"a": {"2026-11-02": 1, "2026-11-03": 2}}),
        ({"a": [1]}, {"a": [1, 2, 3]}),
    ],
)
def test_one_variation(one: Any, other: Any) -> None:
    assert variation("t", shape(one)) == variation("t", shape(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({"a": {"b": 1}}, {"a.b": 1}),
        ({"a": [1]}, {"a": 1}),
        ({"a": [{"b": 1}]}, {"a": {"b": 1}}),
    ],
)
def test_two_variations(one: Any, other: Any) -> None:
    assert variation("t", shape(one)) != variation("t", shape(other))


def test_only_what_is_new_is_not_known() -> None:
    payloads = [{"a": 1, "b": "2026-11-01"}, {"a": 1, "b": "text"}, {"a": 1.5, "b": "7"}, {"b": ""}]
    texts = pa.array([json.dumps({"type": "t", "data": one}) for one in payloads])
    known = EventType("t", "t", 0)
    for count in range(len(payloads) + 1):
        watch = ShapeMonitor(PLACES, KnownShapes({"t": known.seen}, frozenset(known.landed)))
        numbers, mask = watch.judged(texts, read(texts), KIND)
        assert list(mask[:count]) == [True] * count
        assert not mask[count:].any()
        if count < len(payloads):
            new = shape(payloads[count])
            known = known.landing(variation("t", new), new, None)  # type: ignore[arg-type]
    assert len(set(numbers.to_pylist())) == 2


def test_columns_hold_all_that_came() -> None:
    found = kept(
        {"n": 1, "s": "7", "o": {"x": 1}, "l": [1], "at": "2026-11-01T00:00:00Z", "m": {"1": "x"}},
        {"n": 2.5, "s": "x", "o": {"y": "z"}, "l": [0.5], "e": {}, "z": None, "m": {"2": "y"}},
    )
    assert columns(found) == {
        "at": "timestamp",
        "l": "array<double>",
        "m": "map<string,string>",
        "n": "double",
        "o": "struct<x:bigint,y:string>",
        "s": "string",
    }


def test_a_conflict_changes_nothing_and_names_both_types() -> None:
    before = kept({"a": 1, "o": {"b": "x"}, "l": [1]})
    after, conflicts = kept_with(before, shape({"a": {"c": 1}, "o": {"b": 2}, "l": ["x"], "n": 1}))
    assert columns(after) == columns(before) | {"n": "bigint"}
    assert [str(one) for one in conflicts] == [
        "a: number, and now object",
        "o.b: string, and now number",
        "l.[]: number, and now string",
    ]


def test_a_conflict_is_one_line() -> None:
    _, conflicts = kept_with(kept({"a\nb": {"é": 1}}), shape({"a\nb": {"é": "x"}}))
    assert [str(one) for one in conflicts] == ["a\\nb.é: number, and now string"]


def test_what_disagrees_from_the_first_takes_all() -> None:
    found = kept({"mixed": [1, "x"], "deep": [{"a": 1}, {"a": {"b": 1}}]})
    assert columns(found) == {"deep": "array<struct<a:variant>>", "mixed": "array<string>"}
    assert kept_with(found, shape({"mixed": [True]}))[1] == []


def test_empty_value_has_no_type() -> None:
    found = kept({"o": {}, "l": [], "n": [None], "m": {}}, {"o": "x", "l": 1, "n": [1], "m": [2]})
    assert columns(found) == {
        "l": "bigint",
        "m": "array<bigint>",
        "n": "array<bigint>",
        "o": "string",
    }
    _, conflicts = kept_with(found, shape({"o": {}, "n": [], "l": None}))
    assert [str(one) for one in conflicts] == ["o: string, and now object"]


def test_a_column_stays_where_there_is_no_room_to_grow() -> None:
    first = columns_of(kept({"a": {"x": 1}, "b": 1}), T.StructType(), **GIVEN)
    wide = kept({"a": {"x": 1}, "b": 1}, {"a": {"w": 1, "x": 1, "y": 1, "z": 1}})
    after = columns_of(wide, first, **GIVEN)
    assert after == first


@pytest.mark.parametrize(
    ("number", "is_wide"),
    [
        *[("0.1234567890123", False), ("123456789012.5", False), ("123456789012345", False)],
        *[("0.8444218515250481", True), ("12345678.12345678", True), ("1e-9", True)],
        *[("1234567890123456", True), ("-0.1234567890123456789", True), ("1E-7", True)],
    ],
)
def test_numbers_that_may_have_more_digits_than_a_double(number: str, is_wide: bool) -> None:
    texts = pa.array([f'{{"type": "t", "data": {{"a": {number}, "b": "1e5 0.8444218515250481"}}}}'])
    ((_, found),) = PLACES.events(texts).pairs[-1:]
    assert ("WIDE" in found.fields["a"].kinds) == is_wide
    assert "WIDE" not in found.fields["b"].kinds


def test_columns_stay_where_they_are_and_new_ones_come_last() -> None:
    first = columns_of(kept({"b": 1, "A": 1}), T.StructType(), **GIVEN)
    after = columns_of(kept({"b": 1, "A": 1}, {"a": 1, "0": 1, "c": 1}), first, **GIVEN)
    # Three is the most.
    assert after.fieldNames() == ["A", "b", "data_0"]


def test_names_that_are_taken_or_begin_with_an_underscore_have_the_payload_in_front() -> None:
    found = kept({"id": 1, "_x": 1, "a.b": 1, "a b": 1, "A_B": 1})
    assert list(columns(found)) == ["A_B", "data__x", "a_b_2", "a_b_3", "data_id"]


def test_a_map_comes_of_names_that_are_many_and_ever_others() -> None:
    others = [{"m": {f"name{number}": number}} for number in range(150)]
    assert columns(kept(*others)) == {"m": "map<string,bigint>"}
    wide = {f"name{number}": 1 for number in range(150)}
    found = type_of(kept({"o": wide}, {"o": wide}))
    assert found
    assert (leaves(found), "map" in found.simpleString()) == (150, False)


def test_types_and_variations_past_the_most_are_no_news(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = shape({"a": 1, "b": 1})
    known = KnownShapes({"t": seen}, frozenset(), frozenset({"t"}))
    assert known.judged("t", shape({"b": 1}))[1]
    assert not known.judged("t", shape({"c": 1}))[1]
    assert not known.judged("u", shape({"c": 1}))[1]
    monkeypatch.setattr(variations, "MOST_TYPES", 1)
    assert known.judged("u", shape({"c": 1}))[1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12", "TEXT_BIGINT"),
        ("-1.50", "TEXT_DOUBLE"),
        ("012", "STRING"),
        ("1e5", "STRING"),
        ("9" * 19, "TEXT_LARGE"),
        ("9" * 39, "STRING"),
        ("true", "TEXT_BOOLEAN"),
        ("True", "STRING"),
        ("2026-11-31", "STRING"),
        ("2024-02-29", "TEXT_DATE"),
        ("2000-02-29", "TEXT_DATE"),
        ("2026-02-29", "STRING"),
        ("1900-02-29", "STRING"),
        ("2026-11-01T25:00:00Z", "STRING"),
        ("2026-11-01T10:00:00", "STRING"),
        ("2026-11-01T10:00:00.1234567Z", "STRING"),
        ("2026-11-01T10:00:00-05:00", "TEXT_TIMESTAMP"),
    ],
)
def test_text_conversions(text: str, kind: str) -> None:
    assert kind_of_text(text) == kind


def test_a_shape_is_read_as_it_was_written() -> None:
    draw = random.Random(6)
    for _ in range(500):
        one = kept(*(made_up(draw, 4) for _ in range(3)))
        assert canonical(parse_shape(written_shape(one))) == canonical(one)


def test_decisions() -> None:
    one = EventType("t", "t", 0)
    for number, payload in enumerate([{"a": 1}, {"a": 1, "b": 1}, {"a": "x"}]):
        one = one.landing(number, shape(payload), None)  # type: ignore[arg-type]
        one = one.in_version(number + 1, one.kept)
    assert list(one.rescued) == [("a",)]
    accepted = one.decided(Change.ACCEPTED, one.accepted())
    assert accepted.rescued == frozenset()
    assert columns(one.accepted()) == {"a": "string", "b": "bigint"}
    pinned = one.decided(Change.PINNED, one.versions[1])
    assert (pinned.is_pinned, list(pinned.rescued)) == (True, [("a",)])
    reverted = one.decided(Change.REVERTED, one.versions[1])
    # What does not go with the version is judged again when it comes again.
    assert set(reverted.landed) == {0, 1}


def test_names_of_tables() -> None:
    taken: set[str] = set()
    for event_type in (
        "com.a.B",
        "com_a_b",
        "com a b",
        "",
        "123",
        "table",
        "x" * 300,
        "../..",
        "ü",
        # Of other streams of the source.
        "com.a.B",
        "com.a.B",
    ):
        name = table_name(event_type, taken)
        assert name not in taken
        assert name.replace("_", "a").isalnum()
        assert name.isascii()
        assert len(name) < 120
        taken.add(name)
    assert "com_a_b" in taken
    names = TableNames({"com.a.B": "com_a_b"}, {"com_a_b", "c"})
    found = [names.of(one) for one in ("com.a.B", "com_a_b", "C", "c", "d")]
    assert (found[0], found[4], len(set(found))) == ("com_a_b", "d", 5)
    assert "c" not in found


def test_streams_of_one_process_see_their_own_texts_only() -> None:
    def types_of(name: str) -> set[str]:
        texts = pa.array([json.dumps({"type": name, "data": {name: 1}})] * 50)
        return {found for _ in range(100) for found, _ in PLACES.events(texts).pairs}

    names = ["one", "two"]
    with ThreadPoolExecutor(2) as at_once:
        assert list(at_once.map(types_of, names)) == [{name} for name in names]


def test_of_events_that_are_alike_one_is_worth_a_look() -> None:
    records = [
        b'{"type": "a", "data": {"n": 1, "t": "x"}}',
        b'{"type": "a", "data": {"n": 22, "t": "yy"}}',
        # A type, a kind, a name, and what stands beside the payload, that are others.
        b'{"type": "b", "data": {"n": 1, "t": "x"}}',
        b'{"type": "a", "data": {"n": 1.5, "t": "x"}}',
        b'{"type": "a", "data": {"m": 1, "t": "x"}}',
        b'{"type": "a", "data": {"n": 1, "t": "x"}, "more": 1}',
        b'{ "type":"b", "data": {"n": 3,"t": ""} }',
        # Of these no outline tells all, and they stand for no other.
        *[b'{"type": "a", "data": {"n": 1234567890123456789, "t": "x"}}'] * 2,
        *[b"{", b"{"],
        *[b'{"type": "\xff"}'] * 2,
        b'{"type": "c", "data": {"n": 9223372036854775808}}',
        b'{"type": "c", "data": {"n": 1}}',
    ]
    found = PLACES.firsts(legible(pa.array(records, pa.binary())))
    assert found.tolist() == [True, False, True, True, True, True, False, *[True] * 8]
