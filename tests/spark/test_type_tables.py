"""Tables of single types: what the view of a type shows, written down group by group."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame

from ingest.event_types.catalog import TypeTable
from ingest.event_types.event_type import Change
from ingest.landing import type_tables
from ingest.landing.type_tables import Staged, TypeTables
from ingest.runtime import requests
from ingest.runtime.requests import Request
from ingest.runtime.type_table_fill import group_states
from ingest.storage import delta_log
from tests.spark.test_event_types import events, types_of
from tests.spark.workshop import Workshop

DECLARED = {"event_type": "type", "payload": "data", "per_type": "tables"}
COLUMNS = {"id": "bigint", "type": "string"}


def written(workshop: Workshop, stream: str, event_type: str) -> DataFrame:
    """A type's own table."""
    one = types_of(workshop, stream)[event_type]
    path = workshop.lake.table(one.table_schema, one.table_name)
    return workshop.spark.read.format("delta").load(path)


def texts(rows: DataFrame) -> list[str]:
    """Rows as JSON with their columns in one order, sorted."""
    columns = sorted(column for column in rows.columns if column != "_payload")
    kinds = [f"{name} {rows.schema[name].dataType.simpleString()}" for name in columns]
    return [
        *kinds,
        *sorted(row[0] for row in rows.select(*columns).selectExpr("to_json(struct(*))").collect()),
    ]


def assert_is_its_view(workshop: Workshop, stream: str, *event_types: str) -> None:
    """A type's table has the columns and rows of its view."""
    for event_type in event_types:
        shown = texts(workshop.type_table(event_type, stream))
        assert texts(written(workshop, stream, event_type)) == shown
        assert shown[-1].startswith("{")


def versions(workshop: Workshop, stream: str, event_type: str) -> int:
    """How many commits a type's table has."""
    one = types_of(workshop, stream)[event_type]
    path = workshop.lake.table(one.table_schema, one.table_name)
    return len(workshop.spark.sql(f"describe history delta.`{path}`").collect())


def layer(workshop: Workshop, stream: str, event_type: str) -> str | None:
    """The property of a type's table that names its layer."""
    one = types_of(workshop, stream)[event_type]
    path = workshop.lake.table(one.table_schema, one.table_name)
    return DeltaTable(path).metadata().configuration.get("quality")


@pytest.fixture
def ranges(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The ranges of batches that are read out of bronze from now on."""
    found: list[tuple[int, int]] = []
    staged = TypeTables.staged

    @contextlib.contextmanager
    def noted(
        self: TypeTables, tables: Sequence[TypeTable], after: int, up_to: int
    ) -> Iterator[Mapping[str, Staged]]:
        found.append((after, up_to))
        with staged(self, tables, after, up_to) as events:
            yield events

    monkeypatch.setattr(TypeTables, "staged", noted)
    return found


def test_a_table_has_what_its_view_shows_and_reads_only_what_is_new(
    workshop: Workshop, ranges: list[tuple[int, int]]
) -> None:
    workshop.stream("tabled", COLUMNS, **DECLARED)
    first = {"n": 1, "at": "2026-11-01T10:00:00Z", "in": {"x": 1}, "l": [{"s": "a"}], "m": {"7": 1}}
    workshop.drop(
        "tabled", "1.jsonl", events("t", [first, {"n": None}]) + events("u", [{"a": 1}], 2)
    )
    workshop.land("tabled")
    assert workshop.fill("tabled") == []
    assert_is_its_view(workshop, "tabled", "t", "u")

    # Fields come, also inside; a type comes; one has nothing new.
    grown = {"n": 2, "new": True, "in": {"x": 2, "y": "z"}, "l": [{"s": "b", "k": 1}]}
    workshop.drop("tabled", "2.jsonl", events("t", [grown], 3) + events("w", [{"b": 1.5}], 4))
    workshop.land("tabled")
    assert workshop.fill("tabled") == []
    assert_is_its_view(workshop, "tabled", "t", "u", "w")
    # The first one creates the table, with its layer.
    assert [versions(workshop, "tabled", name) for name in "tuw"] == [3, 2, 2]

    # Fractions make a table anew; a second look writes nothing.
    workshop.drop("tabled", "3.jsonl", events("t", [{"n": 2.5, "in": {"x": "many"}}], 5))
    workshop.land("tabled")
    assert workshop.fill("tabled") == []
    assert workshop.fill("tabled") == []
    assert_is_its_view(workshop, "tabled", "t", "u", "w")
    assert dict(written(workshop, "tabled", "t").dtypes)["n"] == "double"
    assert [versions(workshop, "tabled", name) for name in "tuw"] == [4, 2, 2]
    assert [layer(workshop, "tabled", name) for name in "tuw"] == ["bronze"] * 3

    # What has not been written yet is read out of bronze.
    workshop.drop("tabled", "4.jsonl", events("u", [{"a": 2}], 6))
    workshop.land("tabled")
    assert written(workshop, "tabled", "u").count() == 1
    one = types_of(workshop, "tabled")["u"]
    folder = workshop.lake.table(one.table_schema, one.table_name)
    workshop.table("tabled").createOrReplaceTempView("b")
    query = one.newest(folder).replace(f"from {one.bronze_table}\n", "from b\n")
    assert sorted(row.a for row in workshop.spark.sql(query).collect()) == [1, 2]
    first_read, *later = ranges
    assert first_read[0] == -1
    assert [after for after, _ in later] == [first_read[1], later[0][1]]


@pytest.mark.long
def test_a_group_waits_for_a_decision_and_no_other_does(workshop: Workshop) -> None:
    groups = [
        {"name": "strict", "event_types": ["pay.*"], "on_incompatible_change": "fail_group"},
        {"name": "loose", "event_types": ["seen"], "per_type": "views"},
    ]
    workshop.stream("grouped", COLUMNS, event_groups=groups, **DECLARED)
    types = ["pay.a", "pay.b", "seen", "other"]
    workshop.drop("grouped", "1.jsonl", [e for name in types for e in events(name, [{"a": 1}])])
    workshop.land("grouped")
    assert workshop.fill("grouped") == []
    found = types_of(workshop, "grouped")
    assert {name: (one.event_group, one.table_columns is None) for name, one in found.items()} == {
        "pay.a": ("strict", False),
        "pay.b": ("strict", False),
        "seen": ("loose", True),
        "other": ("default_1", False),
    }

    new = [e for name in types for e in events(name, [{"a": {"b": 1}}, {"a": 2}], 1)]
    workshop.drop("grouped", "2.jsonl", [one for one in new if one["type"] != "pay.b"])
    workshop.drop("grouped", "3.jsonl", events("pay.b", [{"a": 3}], 1))
    workshop.land("grouped")
    errors = workshop.fill("grouped")
    assert [str(one).split("; see")[0] for one in errors] == [
        "test.grouped: group strict waits: an incompatible change of 'pay.a'"
    ]
    assert types_of(workshop, "grouped")["pay.a"].pending == "a: number, and now object"
    assert written(workshop, "grouped", "pay.b").count() == 1
    assert_is_its_view(workshop, "grouped", "other")
    states = group_states(workshop.lake, "test__grouped")
    assert [(one.group, one.state, one.types) for one in states] == [
        ("default_1", "filled", 1),
        ("strict", "waiting", 2),
    ]

    request = Request.made("test.grouped", "pay.a", Change.ACCEPTED, None)
    requests.leave(workshop.lake, request)
    workshop.land("grouped")
    assert workshop.fill("grouped") == []
    assert_is_its_view(workshop, "grouped", "pay.a", "pay.b")
    # Its columns have a variant now, which not everybody can write.
    assert dict(written(workshop, "grouped", "pay.a").dtypes)["a"] == "variant"
    workshop.drop("grouped", "4.jsonl", events("pay.a", [{"a": "text"}], 9))
    workshop.land("grouped")
    assert workshop.fill("grouped") == []
    assert_is_its_view(workshop, "grouped", "pay.a")


@pytest.mark.long
def test_rows_that_are_written_show_what_is_learnt_about_them_later(workshop: Workshop) -> None:
    """Columns are not the whole of it: a decision, or a second value, tells what values meant."""
    workshop.stream("mended", COLUMNS, **DECLARED)
    # What a first write leaves that was killed.
    Path(workshop.lake.table("bronze_test", "m"), "_delta_log", "_staged_commits").mkdir(
        parents=True
    )
    beside = {"_type": "doc", "actor": {"n": 1}}
    first = {"a": "text", "l": [], "s": {"x": 1}}
    records = events("m", [first]) + events("o", [{"a": 1}], 1)
    workshop.drop("mended", "1.jsonl", [one | beside for one in records])
    workshop.land("mended")
    assert workshop.fill("mended") == []
    assert_is_its_view(workshop, "mended", "m", "o")
    assert [row._type for row in written(workshop, "mended", "m").collect()] == ["doc"]

    second = {"a": 5, "l": [1], "s": {"X": 2}}
    beside = {"_type": "doc", "actor": {"n": 1, "v": 2}}
    workshop.drop("mended", "2.jsonl", [one | beside for one in events("m", [second], 2)])
    workshop.land("mended")
    assert workshop.fill("mended") == []
    assert_is_its_view(workshop, "mended", "m", "o")

    request = Request.made("test.mended", "m", Change.ACCEPTED, None)
    requests.leave(workshop.lake, request)
    workshop.land("mended")
    assert workshop.fill("mended") == []
    assert_is_its_view(workshop, "mended", "m", "o")
    rows = written(workshop, "mended", "m").orderBy("id").collect()
    assert [(row.a, row.l, row._rescued) for row in rows] == [
        ("text", [], None),
        # A name that is another only by case has no column, here as in the view.
        ("5", [1], '{"data.s.X":"2"}'),
    ]


@pytest.mark.long
@pytest.mark.parametrize("step", ["after_staging", "after_table"])
def test_an_interrupted_turn_repeats_and_loses_nothing(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    name = f"broken_{step}"
    workshop.stream(name, COLUMNS, **DECLARED)
    for file in ("1.jsonl", "2.jsonl"):
        kept = events("k", [{"a": 1}]) + events("l", [{"a": {"b": 1}}])
        workshop.drop(name, file, kept if file == "1.jsonl" else kept + events("k", [{"a": 1.5}]))
        workshop.land(name)

        def fail(here: str) -> None:
            if here == step:
                raise RuntimeError(step)

        monkeypatch.setattr(type_tables, "failpoint", fail)
        assert step in str(workshop.fill(name)[0])
        monkeypatch.undo()
        assert workshop.fill(name) == []
        assert_is_its_view(workshop, name, "k", "l")


@pytest.mark.long
def test_tables_are_filled_from_the_beginning_when_they_are_declared_or_lost(
    workshop: Workshop,
) -> None:
    columns = {**COLUMNS, "data": "variant"}
    workshop.stream("later", columns, **{**DECLARED, "per_type": "none"})
    workshop.drop("later", "1.jsonl", events("s", [{"a": 1}]))
    workshop.land("later")
    workshop.stream("later", columns, **{**DECLARED, "per_type": "views"})
    workshop.drop("later", "2.jsonl", events("s", [{"a": 2}], 1))
    workshop.land("later")
    workshop.stream("later", columns, **DECLARED)
    assert workshop.fill("later") == []
    assert_is_its_view(workshop, "later", "s")
    one = types_of(workshop, "later")["s"]
    path = workshop.lake.table(one.table_schema, one.table_name)
    shutil.rmtree(path)
    assert workshop.fill("later") == []
    assert_is_its_view(workshop, "later", "s")
    assert delta_log.last_version(
        path, delta_log.table_id(workshop.lake.bronze("test__later"))
    ) == (max(row[0] for row in workshop.rows("later", "_batch_id")))


def test_one_table_that_cannot_be_written_stops_no_other(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.stream("halting", COLUMNS, **DECLARED)
    workshop.drop("halting", "1.jsonl", events("bad", [{"a": 1}]) + events("good", [{"a": 1}], 1))
    workshop.land("halting")
    append = TypeTables.append

    def refuse(self: TypeTables, one: TypeTable, staged: Staged | None, up_to: int) -> Any:
        if one.event_type == "bad":
            raise OSError("No space left on device")
        return append(self, one, staged, up_to)

    monkeypatch.setattr(TypeTables, "append", refuse)
    errors = workshop.fill("halting")
    assert len(errors) == 1
    assert str(errors[0]).startswith("test.halting: group default_1: bad: the lake cannot be")
    assert_is_its_view(workshop, "halting", "good")
    assert types_of(workshop, "halting")["bad"].table_columns is None
    monkeypatch.undo()
    assert workshop.fill("halting") == []
    assert_is_its_view(workshop, "halting", "bad", "good")
