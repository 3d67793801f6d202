"""Which rows of bronze belong together, as `ingest fuzz` finds them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from ingest.trials.related import Related, values_of

ROWS = {
    "orders": [
        '{"id": 1, "customer_id": 17, "status": "paid"}',
        '{"id": 2, "customer_id": 18, "status": "paid"}',
        '{"id": 3, "customer_id": 17, "status": "paid"}',
    ],
    "customers": ['{"id": 17, "name": "A"}', '{"id": 18, "name": "B"}', '{"id": 9, "name": "C"}'],
    "events": [
        '{"payload": {"customer_id": 17, "page": 3}}',
        '{"payload": {"customer_id": 3, "page": 17}}',
    ],
}


def related(table: str, place: int) -> list[Mapping[str, Sequence[int]]]:
    """What is drawn in many draws, each once."""
    values = {one: [values_of(row) for row in rows] for one, rows in ROWS.items()}
    draws = [Related(values).to(table, place, random.Random(seed)) for seed in range(40)]
    return [one for number, one in enumerate(draws) if one not in draws[:number]]


def test_texts_and_whole_numbers_are_values_at_any_depth() -> None:
    row = '{"a": {"b": 1, "c": [{"d": "x"}, {"d": "y"}]}, "e": 1.5, "f": true, "g": null}'
    assert values_of(row) == {("b", "1"), ("d", "x"), ("d", "y")}


def test_rows_are_related_by_column_or_by_value_where_a_table_lacks_the_column() -> None:
    # `customer_id` of orders and events; customers have no such column, but 17 as their `id`.
    assert {"orders": [0, 2], "customers": [0], "events": [0]} in related("orders", 0)


@pytest.mark.parametrize(("table", "place"), [("orders", 1), ("events", 1)])
def test_a_row_is_among_those_related_to_it(table: str, place: int) -> None:
    found = related(table, place)
    assert found
    assert all(place in one[table] for one in found)


def test_a_row_that_shares_nothing_stands_alone() -> None:
    assert related("customers", 2) == [{"customers": [2]}]
