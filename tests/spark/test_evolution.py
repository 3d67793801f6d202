"""How a table follows its records, as declared."""

from __future__ import annotations

import pytest

from ingest.errors import NewColumnsRefused
from tests.spark.workshop import Workshop


def names(workshop: Workshop, stream: str) -> list[str]:
    """Columns of a bronze table without those of ingest."""
    return [name for name in workshop.table(stream).columns if not name.startswith("_")]


def test_rescue_adds_no_column_and_loses_nothing(workshop: Workshop) -> None:
    workshop.stream("rescue", {"id": "bigint"}, schema_evolution="rescue")
    workshop.drop("rescue", "1.jsonl", [{"id": 1}, {"id": 2, "new": {"deep": [1, "x"]}}])
    workshop.land("rescue")
    assert names(workshop, "rescue") == ["id"]
    rows = [tuple(row) for row in workshop.rows("rescue", "id", "_rescued")]
    assert rows == [(1, None), (2, '{"new":{"deep":[1,"x"]}}')]


def test_none_ignores_new_fields_and_keeps_misfits_null(workshop: Workshop) -> None:
    workshop.stream("ignored", {"id": "bigint"}, schema_evolution="none")
    workshop.drop("ignored", "1.jsonl", [{"id": 1, "new": 1}, {"id": "two", "new": 2}])
    workshop.land("ignored")
    assert names(workshop, "ignored") == ["id"]
    assert [row.id for row in workshop.rows("ignored", "id")] == [1, None]


def test_new_columns_stop_a_stream_that_says_so_and_nothing_is_lost(workshop: Workshop) -> None:
    fails = {"schema_evolution": "fail_on_new_columns"}
    workshop.stream("strict", {"id": "bigint"}, **fails)
    workshop.drop("strict", "1.jsonl", [{"id": 1}])
    workshop.land("strict")
    workshop.drop("strict", "2.jsonl", [{"id": 2}, {"id": 3, "new": "x"}])
    for _ in range(2):
        with pytest.raises(NewColumnsRefused, match=r"new columns new string; declare them"):
            workshop.land("strict")
    workshop.stream("strict", {"id": "bigint", "new": "string"}, **fails)
    workshop.land("strict")
    rows = [tuple(row) for row in workshop.rows("strict", "id", "new")]
    assert rows == [(1, None), (2, None), (3, "x")]


@pytest.mark.parametrize("is_large", [True, False])
def test_what_is_new_in_a_large_batch_is_learnt_before_it_is_read(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    name = f"many_{is_large}".lower()
    workshop.stream(name, {"id": "bigint"})
    workshop.drop(name, "1.jsonl", [{"id": 1}])
    workshop.land(name)
    monkeypatch.setattr("ingest.decoders.file_input._MANY", 0 if is_large else 1 << 28)
    workshop.drop(name, "2.jsonl", [{"id": 2}, {"id": 3, "new": "x"}])
    workshop.land(name)
    rows = [tuple(row) for row in workshop.rows(name, "id", "new", "_batch_id")]
    # What was held back comes in the second commit of its batch.
    assert rows == [(1, None, 0), (2, None, 2), (3, "x", 2 if is_large else 3)]


@pytest.mark.parametrize("are_alike", [True, False])
def test_of_a_large_batch_more_is_looked_at_where_a_few_records_are_ever_new(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, are_alike: bool
) -> None:
    name = f"few_{are_alike}".lower()
    workshop.stream(name, {"id": "bigint"})
    workshop.drop(name, "1.jsonl", [{"id": 1}])
    workshop.land(name)
    monkeypatch.setattr("ingest.decoders.file_input._MANY", 0)
    monkeypatch.setattr("ingest.decoders.json._FEW", 2)
    second = {"id": 3, "new" if are_alike else "other": "x"}
    workshop.drop(name, "2.jsonl", [{"id": 2, "new": "x"}, second, {"id": 4, "rare": "x"}])
    workshop.land(name)
    assert workshop.values(name, "_batch_id") == [0, 2, 2, 3 if are_alike else 2]


def test_past_the_cap_fields_are_rescued(workshop: Workshop) -> None:
    workshop.stream("capped", {"id": "bigint"}, max_columns=2, infer_column_types=False)
    workshop.drop("capped", "1.jsonl", [{"id": 1, "b": 2, "c": 3}])
    workshop.land("capped")
    assert [tuple(row) for row in workshop.rows("capped", "id", "b", "_rescued")] == [
        (1, "2", '{"c":"3"}')
    ]


def test_values_of_maps_are_looked_at_one_by_one(workshop: Workshop) -> None:
    workshop.stream("maps")
    first = {"id": 1, "m": {str(i): i for i in range(5)}}
    same_name = {"b": {"labels": {str(i): "x" for i in range(3)}}, "c": {"labels": {"p": 1}}}
    workshop.drop("maps", "1.jsonl", [first, {"id": 2, **same_name}])
    workshop.land("maps")
    types = dict(workshop.table("maps").dtypes)
    assert types["m"] == "map<string,bigint>"
    assert types["b"] == "struct<labels:map<string,string>>"
    workshop.drop(
        "maps",
        "2.jsonl",
        [
            {"id": 3, "m": {"9": 9, "8": "text"}},
            {"id": 4, "m": "no map"},
            {"id": 5, "m": {"7": {"x": 1}}},
            {"id": 6, **same_name, "c": {"labels": {"p": 1, "q": 2}}},
            {"id": 7, "b": {"labels": {"a b": 1e300}}, "c": {"labels": {"p": "text"}}},
        ],
    )
    workshop.land("maps")
    rescued = {row.id: row._rescued for row in workshop.rows("maps", "id", "_rescued")}
    assert rescued == {
        1: None,
        2: None,
        3: '{"m.8":"text"}',
        4: '{"m":"no map"}',
        5: '{"m.7":{"x":1}}',
        6: None,
        7: '{"c.labels.p":"text"}',
    }
    assert {row.nine for row in workshop.rows("maps", "m['9'] as nine")} == {9, None}
