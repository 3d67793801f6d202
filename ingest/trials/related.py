"""Rows that belong together because they share a value: an order, its delivery, its positions."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from random import Random

# A value that rows share, with the name of the column that holds it, at any depth.
Value = tuple[str, str]

# A row has many values that others have, too: what its kind has in common, and its keys. Keys are
# among the rarest.
_RAREST = 3


def values_of(row: str) -> frozenset[Value]:
    """Texts and whole numbers of a row of JSON, each with the name of its column."""
    return frozenset(_leaves("", json.loads(row)))


def _leaves(name: str, value: object) -> Iterator[Value]:
    match value:
        case dict():
            for inner, one in value.items():
                yield from _leaves(inner, one)
        case list():
            for one in value:
                yield from _leaves(name, one)
        case str() | int() if not isinstance(value, bool):
            yield name, str(value)


class Related:
    """Which rows of tables share values. Rows are named by their places."""

    def __init__(self, tables: Mapping[str, Sequence[frozenset[Value]]]) -> None:
        """Take the values of each row of each table."""
        self._rows = tables
        self._places: dict[str, dict[Value, list[int]]] = {}
        self._of_any_column: dict[str, dict[str, set[int]]] = {}
        for table, rows in tables.items():
            places, of_any = defaultdict(list), defaultdict(set)
            for place, values in enumerate(rows):
                for value in values:
                    places[value].append(place)
                    of_any[value[1]].add(place)
            self._places[table], self._of_any_column[table] = places, of_any
        self._columns = {one: {name for name, _ in places} for one, places in self._places.items()}

    def to(self, table: str, place: int, draw: Random) -> Mapping[str, Sequence[int]]:
        """Rows of each table that share a value with a row, that row among them.

        The value is one of the rarest that another row has, too.
        """
        of_row = sorted(self._rows[table][place])
        found = [{one: self._having(one, value) for one in self._places} for value in of_row]
        shared = [one for one in found if sum(map(len, one.values())) > 1]
        shared.sort(key=lambda one: sum(map(len, one.values())))
        return draw.choice(shared[:_RAREST]) if shared else {table: [place]}

    def _having(self, table: str, value: Value) -> Sequence[int]:
        """Rows with a value in the column of its name; without such a column, in any.

        `customer_id` of orders is `id` of customers.
        """
        name, text = value
        if name in self._columns[table]:
            return self._places[table].get(value, ())
        return sorted(self._of_any_column[table].get(text, ()))
