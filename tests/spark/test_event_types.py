"""Types of events: each has a typed table from the batch in which it first comes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from ingest.errors import TransientError
from ingest.event_types.event_type import Change
from ingest.event_types.ops_table import Registered, registered
from ingest.landing import batch
from ingest.quarantine import release
from ingest.runtime import request_answers, requests
from ingest.runtime.progress import read_totals
from ingest.runtime.requests import Request
from tests.spark.workshop import Workshop

DECLARED = {"event_type": "type", "payload": "data"}
COLUMNS = {"id": "bigint", "type": "string"}


def events(name: str, payloads: Iterable[Any], first: int = 0) -> list[dict[str, Any]]:
    """Events of a type."""
    return [{"id": first + n, "type": name, "data": one} for n, one in enumerate(payloads)]


def types_of(workshop: Workshop, stream: str) -> Mapping[str, Registered]:
    """What is registered of a stream's types."""
    found = registered(workshop.lake)
    return {one.event_type: one for one in found if one.stream == f"test.{stream}"}


def columns(workshop: Workshop, event_type: str) -> dict[str, str]:
    """Columns of a type's table that are its own."""
    beside = {"id", "type"}
    found = workshop.type_table(event_type).dtypes
    return {name: kind for name, kind in found if name[0] != "_" and name not in beside}


def shown(workshop: Workshop, event_type: str, *names: str) -> list[tuple[Any, ...]]:
    """Columns of a type's table, by the event's id."""
    rows = workshop.type_table(event_type).orderBy("id").selectExpr(*names).collect()
    return [tuple(row) for row in rows]


def decide(workshop: Workshop, stream: str, name: str, change: Change, version: int | None) -> str:
    """Ask for a decision, and let the stream answer and land what that brings."""
    request = Request.made(f"test.{stream}", name, change, version)
    requests.leave(workshop.lake, request)
    workshop.land(stream)
    answer = requests.awaited(workshop.lake, request, 0.0)
    assert answer
    return answer.text


def test_each_type_is_flat_and_typed_by_what_its_values_say(workshop: Workshop) -> None:
    workshop.stream("typed", COLUMNS, **DECLARED)
    payload = {
        "count": 1,
        "price": 2,
        "at": "2026-11-01T10:00:00.5+01:00",
        "day": "2026-11-01",
        "said": "12",
        "yes": "true",
        "code": "007",
        "where": {"city": "Graz", "lat": 1},
        "tags": ["a"],
        "lines": [{"sku": "x", "n": 1}],
        "by_day": {"2026-11-01": 1, "2026-11-02": 2},
        "nothing": None,
        "empty": {},
    }
    other = {"price": 2.5, "said": "13.5", "where": {"lat": 47.1}, "lines": []}
    workshop.drop("typed", "1.jsonl", events("a.b", [payload, other]) + events("c", [{"x": "y"}]))
    workshop.land("typed")
    assert columns(workshop, "c") == {"x": "string"}
    assert columns(workshop, "a.b") == {
        "at": "timestamp",
        "by_day": "map<string,bigint>",
        "code": "string",
        "count": "bigint",
        "day": "date",
        "lines": "array<struct<n:bigint,sku:string>>",
        "price": "double",
        "said": "double",
        "tags": "array<string>",
        "where": "struct<city:string,lat:double>",
        "yes": "boolean",
    }
    wanted = ("price", "said", "cast(at as string)", "yes", "where.lat", "by_day['2026-11-02']")
    assert shown(workshop, "a.b", *wanted) == [
        (2.0, 12.0, "2026-11-01 09:00:00.5", True, 1.0, 2),
        (2.5, 13.5, None, None, 47.1, None),
    ]
    found = types_of(workshop, "typed")
    assert {name: (one.name, one.events) for name, one in found.items()} == {
        "a.b": ("bronze_test.a_b", 2),
        "c": ("bronze_test.c", 1),
    }
    assert {row[0] for row in workshop.rows("typed", "_schema_id")} == {
        each["variation"] for one in found.values() for each in one.variations
    }


def test_an_event_that_is_refused_takes_no_other_with_it(workshop: Workshop) -> None:
    """The payloads of many events are parsed together."""
    workshop.stream("beside", COLUMNS, **DECLARED)
    workshop.drop("beside", "1.jsonl", events("e", [{"a": 0}]))
    workshop.land("beside")
    good = [json.dumps(one) for one in events("e", [{"a": n} for n in range(200)], first=1)]
    twice = '{"id": 500, "type": "e", "data": {"a": 1, "a": 2}}'
    workshop.drop("beside", "2.jsonl", "\n".join([*good[:50], twice, *good[50:]]))
    workshop.land("beside")
    assert shown(workshop, "e", "id", "a") == [(0, 0), *((n + 1, n) for n in range(200))]
    assert [one["_reason_code"] for one in workshop.rejects("beside")] == ["DUPLICATE_KEY"]
    totals = read_totals(workshop.lake, "test.beside", "test__beside")
    assert (totals.records, totals.landed, totals.quarantined) == (202, 201, 1)


def test_names_that_would_break_sql_or_paths_do_not(workshop: Workshop) -> None:
    workshop.stream("hostile", COLUMNS, **DECLARED)
    types = ["a'b", "A.B", "a b", "../../x", "", "table", "x`; drop table y", 'q"\\', "ü", "7"]
    names = [
        "a.b",
        "a b",
        "A B",
        "it's",
        "both\"'",
        "select",
        "_batch_id",
        "id",
        "ü",
        "",
        "`",
        "\\",
    ]
    payload = {name: {"n": number} for number, name in enumerate(names)}
    records = [{"id": number, "type": kind, "data": payload} for number, kind in enumerate(types)]
    workshop.drop("hostile", "1.jsonl", records)
    workshop.land("hostile")
    found = types_of(workshop, "hostile")
    assert set(found) == set(types)
    assert len({one.table_name for one in found.values()}) == len(types)
    for number, kind in enumerate(types):
        table = workshop.type_table(kind)
        own = [
            name
            for name in table.columns
            if table.schema[name].dataType.simpleString() == "struct<n:bigint>"
        ]
        assert len(own) == len(names)
        row = table.selectExpr("id", *(f"`{name}`.n" for name in own)).collect()
        assert [tuple(one) for one in row] == [(number, *row[0][1:])]
        assert sorted(row[0][1:]) == list(range(len(names)))


def test_a_type_grows_and_shows_what_landed_before(workshop: Workshop) -> None:
    workshop.stream("growing", COLUMNS, **DECLARED)
    workshop.drop("growing", "1.jsonl", events("g", [{"a": 1, "t": "2026-11-01T10:00:00Z"}]))
    workshop.land("growing")
    workshop.drop("growing", "2.jsonl", events("g", [{"b": True}, {"a": 1.5, "t": "later"}], 1))
    workshop.land("growing")
    assert columns(workshop, "g") == {"a": "double", "t": "string", "b": "boolean"}
    assert shown(workshop, "g", "a", "b", "t", "_rescued") == [
        (1.0, None, "2026-11-01T10:00:00Z", None),
        (None, True, None, None),
        (1.5, None, "later", None),
    ]
    known = types_of(workshop, "growing")["g"]
    assert (known.version, known.events, len(known.variations)) == (2, 3, 2)
    # Nothing new: nothing is learnt.
    workshop.drop("growing", "3.jsonl", events("g", [{"t": "x", "a": 7}], 3))
    workshop.land("growing")
    again = types_of(workshop, "growing")["g"]
    assert (again.version, again.events, again.changed_at) == (2, 4, known.changed_at)


def test_a_value_of_another_json_type_is_rescued_and_only_its_type_notices(
    workshop: Workshop,
) -> None:
    workshop.stream("rescuing", COLUMNS, **DECLARED)
    old = events("r", [{"a": 1, "deep": {"x": "s"}}]) + events("other", [{"a": 1}], 1)
    workshop.drop("rescuing", "1.jsonl", old)
    workshop.land("rescuing")
    new = events("r", [{"a": "one", "deep": {"x": {"y": 1}}}, {"a": {"b": 2}}, {"a": 3}], 2)
    workshop.drop("rescuing", "2.jsonl", new)
    workshop.land("rescuing")
    assert columns(workshop, "r") == {"a": "bigint", "deep": "struct<x:string>"}
    assert shown(workshop, "r", "id", "a", "_rescued") == [
        (0, 1, None),
        (2, None, '{"data.a":"one","data.deep.x":"{\\"y\\":1}"}'),
        (3, None, '{"data.a":"{\\"b\\":2}"}'),
        (4, 3, None),
    ]
    known = types_of(workshop, "rescuing")
    assert known["other"].rescued == []
    assert known["other"].pending is None
    assert known["r"].pending == ("a: number, and now object; deep.x: string, and now object")
    text = decide(workshop, "rescuing", "r", Change.ACCEPTED, None)
    assert text == "r: version 3 (accepted)"
    assert columns(workshop, "r") == {"a": "variant", "deep": "struct<x:variant>"}
    assert shown(workshop, "r", "cast(a as string)", "_rescued")[1] == ("one", None)
    decide(workshop, "rescuing", "r", Change.REVERTED, 1)
    assert columns(workshop, "r") == {"a": "bigint", "deep": "struct<x:string>"}


@pytest.mark.parametrize(
    "change", [Change.ACCEPTED, pytest.param(Change.PINNED, marks=pytest.mark.long)]
)
def test_refused_events_wait_in_quarantine_and_land_once(
    workshop: Workshop, change: Change
) -> None:
    name = f"refusing_{change.value}"
    workshop.stream(name, COLUMNS, on_incompatible_change="quarantine", **DECLARED)
    workshop.drop(name, "1.jsonl", events("q", [{"a": 1}]) + events("other", [{"a": 1}], 1))
    workshop.land(name)
    new = events("q", [{"a": "one"}, {"a": 2}], 2) + events("other", [{"a": 2, "b": 1}], 4)
    for file in ("2.jsonl", "3.jsonl"):
        workshop.drop(name, file, new)
        workshop.land(name)
    assert workshop.values(name, "id") == [0, 1, 3, 3, 4, 4]
    codes = workshop.rows(f"{name}__quarantine", "_reason_code", "_reason", "_rule")
    reason = "q (version 1): a: number, and now string"
    assert [tuple(row) for row in codes] == [
        ("INCOMPATIBLE_CHANGE", reason, "on_incompatible_change: q")
    ] * 2
    assert types_of(workshop, name)["q"].pending == "a: number, and now string"
    text = decide(workshop, name, "q", change, None)
    assert text.endswith("2 events leave quarantine and land with the next batch")
    assert workshop.values(name, "id") == [0, 1, 2, 2, 3, 3, 4, 4]
    assert workshop.rejects(name) == []
    kind = "string" if change is Change.ACCEPTED else "bigint"
    assert columns(workshop, "q") == {"a": kind}
    rescued = [row[0] for row in shown(workshop, "q", "_rescued") if row[0]]
    assert rescued == ([] if change is Change.ACCEPTED else ['{"data.a":"one"}'] * 2)
    # Of its kind there may come more.
    workshop.drop(name, "4.jsonl", events("q", [{"a": "two"}], 5))
    workshop.land(name)
    assert workshop.rejects(name) == []


def test_request_for_unknown_type_is_answered(workshop: Workshop) -> None:
    workshop.stream("asked", COLUMNS, **DECLARED)
    workshop.drop("asked", "1.jsonl", events("known", [{"a": 1}]))
    workshop.land("asked")
    assert decide(workshop, "asked", "unknown", Change.PINNED, None) == (
        "test.asked has no type 'unknown'"
    )
    assert decide(workshop, "asked", "known", Change.REVERTED, 7) == (
        "known has no version 7, but 1"
    )
    assert decide(workshop, "asked", "known", Change.ACCEPTED, None) == (
        "known: nothing waits for a decision"
    )


def test_declared_types_of_attributes_hold(workshop: Workshop) -> None:
    hints = {**COLUMNS, "data.price": "decimal(12,2)", "data.zip": "string", "data.later": "date"}
    workshop.stream("hinted", hints, per_type="views", **DECLARED)
    workshop.drop("hinted", "1.jsonl", events("h", [{"price": 1.25, "zip": "8010"}]))
    workshop.land("hinted")
    assert columns(workshop, "h") == {"price": "decimal(12,2)", "zip": "string", "later": "date"}
    assert [str(row[0]) for row in shown(workshop, "h", "price")] == ["1.25"]
    assert dict(workshop.table("hinted").dtypes)["data"] == "variant"


def test_names_that_are_one_for_spark_have_a_column_or_are_rescued(workshop: Workshop) -> None:
    workshop.stream("folded", COLUMNS, **DECLARED)
    inside = {
        "a.b": 1,
        "a b": 2,
        "A": 3,
        "a": 4,
        "ı": 5,
        "i": 6,
        "e": [],
        "n": None,
        "": 7,
        "x .`y": 8,
    }
    payload = {"o": inside, "l": [inside], "m": {"2026-11-01": inside}, "7": {}, "e": [None]}
    workshop.drop("folded", "1.jsonl", events("f", [payload]))
    workshop.land("folded")
    ((o, found),) = shown(workshop, "f", "o", "_rescued")
    rescued = json.loads(found)
    assert o.asDict() == {"A": 3, "a.b": 1, "i": 6}
    # What stands among others has no path: all of them are rescued.
    assert json.loads(rescued.pop("data.l")) == [inside]
    assert json.loads(rescued.pop("data.m")) == {"2026-11-01": inside}
    assert rescued == {
        "data.o.a b": "2",
        "data.o.a": "4",
        "data.o.ı": "5",
        "data.o.e": "[]",
        "data.o.``": "7",
        "data.o.`x .``y`": "8",
        "data.7": "{}",
        "data.e": "[null]",
    }


def test_nested_values_are_shown_only_where_they_are_of_the_type(workshop: Workshop) -> None:
    hints = {**COLUMNS, "data.o.price": "decimal(12,2)", "data.o.n": "int", "data.d": "date"}
    workshop.stream("exact", hints, per_type="views", **DECLARED)
    good = {"o": {"at": "2026-11-28T10:15:00Z", "ok": True, "price": 1.5, "n": 1, "x": 1.5}}
    workshop.drop("exact", "1.jsonl", events("x", [good | {"d": "2026-11-28", "l": [1]}]))
    workshop.land("exact")
    other = {"o": {"at": 170000, "ok": "yes", "price": 1.255, "n": 2.5, "x": 0.1234567890123456789}}
    lines = [json.dumps(one) for one in events("x", [other | {"d": 20261128, "l": [1, "2"]}], 1)]
    digits = lines[0].replace("0.12345678901234568", "0.1234567890123456789")
    workshop.drop("exact", "2.jsonl", digits)
    workshop.land("exact")
    first, second = shown(workshop, "x", "o.at", "o.ok", "o.price", "o.n", "o.x", "d", "l")
    assert None not in first
    assert second == (None, None, None, None, None, None, [1, None])
    assert json.loads(shown(workshop, "x", "_rescued")[1][0]) == {
        "data.o.at": "170000",
        "data.o.ok": "yes",
        "data.o.price": "1.255",
        "data.o.n": "2.5",
        "data.o.x": "0.1234567890123456789",
        "data.d": "20261128",
        "data.l": '[1,"2"]',
    }


def test_events_older_than_their_types_are_shown_or_rescued(workshop: Workshop) -> None:
    columns_then = {**COLUMNS, "data": "variant"}
    workshop.stream("older", columns_then, **{**DECLARED, "per_type": "none"})
    workshop.drop("older", "1.jsonl", events("o", [{"a": "x", "b": {"c": 1}}]))
    workshop.land("older")
    workshop.stream("older", columns_then, **{**DECLARED, "per_type": "views"})
    workshop.drop("older", "2.jsonl", events("o", [{"a": 1}], 1))
    workshop.land("older")
    assert shown(workshop, "o", "a", "_rescued") == [
        (None, '{"data.a":"x","data.b":"{\\"c\\":1}"}'),
        (1, None),
    ]


def stop_at(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Fail at a step, as if the process ended there."""

    def fail(here: str) -> None:
        if here == step:
            # As a kill, which no file is to blame for.
            raise TransientError(step)

    for module in (batch, release, request_answers):
        monkeypatch.setattr(module, "failpoint", fail)


# test_checkpoints has the other steps.
@pytest.mark.parametrize("step", ["after_first_write", "after_second_write"])
def test_an_interrupted_batch_is_finished_before_a_decision_counts(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    name = f"paused_{step}"
    workshop.stream(name, COLUMNS, on_incompatible_change="quarantine", **DECLARED)
    workshop.drop(name, "1.jsonl", events("k", [{"a": 1}]))
    workshop.land(name)
    mixed = events("k", [{"a": 2}, {"a": "x"}], 1) + events("new", [{"b": 1}], 3)
    workshop.drop(name, "2.jsonl", mixed)
    stop_at(monkeypatch, step)
    assert workshop.run(name)
    monkeypatch.undo()
    request = Request.made(f"test.{name}", "k", Change.ACCEPTED, None)
    requests.leave(workshop.lake, request)
    workshop.land(name)
    assert workshop.values(name, "id") == [0, 1, 3]
    assert [row._reason_code for row in workshop.rejects(name)] == ["INCOMPATIBLE_CHANGE"]
    assert requests.awaited(workshop.lake, request, 0.0) is None
    workshop.land(name)
    answer = requests.awaited(workshop.lake, request, 0.0)
    assert answer
    assert answer.text.startswith("k: version 2 (accepted); 1 events leave quarantine")
    assert workshop.values(name, "id") == [0, 1, 2, 3]
    assert workshop.rejects(name) == []
    assert {key: one.events for key, one in types_of(workshop, name).items()} == {"k": 3, "new": 1}


@pytest.mark.parametrize("step", ["after_decision", "after_release_is_written"])
def test_an_interrupted_decision_is_carried_out_once(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    name = f"decided_{step}"
    workshop.stream(name, COLUMNS, on_incompatible_change="quarantine", **DECLARED)
    workshop.drop(name, "1.jsonl", events("k", [{"a": 1}]))
    workshop.land(name)
    workshop.drop(name, "2.jsonl", events("k", [{"a": "x"}, {"a": "y"}], 1))
    workshop.land(name)
    request = Request.made(f"test.{name}", "k", Change.ACCEPTED, None)
    requests.leave(workshop.lake, request)
    stop_at(monkeypatch, step)
    with pytest.raises(TransientError, match=step):
        workshop.run(name)
    monkeypatch.undo()
    workshop.land(name)
    answer = requests.awaited(workshop.lake, request, 0.0)
    assert answer
    assert (
        answer.text
        == "k: version 2 (accepted); 2 events leave quarantine and land with the next batch"
    )
    assert workshop.values(name, "id") == [0, 1, 2]
    assert workshop.rejects(name) == []
    assert types_of(workshop, name)["k"].version == 2
