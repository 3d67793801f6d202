"""Any CSV or Parquet file lands as an independent reader has it, with other files."""

from __future__ import annotations

import csv
import json
import math
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.fuzzing import cases, seed
from tests.spark.accounts import path_below
from tests.spark.drawn_columns import BAD_NAMES, GOOD_NAMES, Drawn, drawn_column
from tests.spark.workshop import Workshop

_ROWS = 4
# Names of columns that are no columns: they belong to ingest.
_RESERVED = ("_metadata", "_source", "_raw", "_record", "_corrupt_record", "_ref", "_rescued")

pytestmark = pytest.mark.long


def landed(workshop: Workshop, name: str) -> dict[int, dict[str, Any]]:
    """Rows by their id, as Python's own reader of Delta has them."""
    table = DeltaTable(workshop.lake.bronze(f"test__{name}")).to_pyarrow_table()
    return {row["id"]: row for row in table.to_pylist()}


def is_same(expected: Any, found: Any) -> bool:
    """Whether two values are one, be they nested or no numbers."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            is_same(expected.get(name), found.get(name)) for name in expected.keys() | found.keys()
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(found, list | tuple)
            and len(expected) == len(found)
            and all(map(is_same, expected, found))
        )
    if isinstance(expected, float) and math.isnan(expected):
        return isinstance(found, float) and math.isnan(found)
    return bool(expected == found)


def drawn_file(draw: random.Random, number: int) -> tuple[pa.Table, list[dict[str, Drawn]]]:
    """A Parquet file, and what should come of each of its rows, by column."""
    rows: list[dict[str, Drawn]] = [
        {"id": Drawn(_ROWS * number + row, _ROWS * number + row)} for row in range(_ROWS)
    ]
    columns: dict[str, pa.Array] = {}
    for place in range(3):
        kind = drawn_column(draw)
        odd = draw.choice([*GOOD_NAMES, *BAD_NAMES, *_RESERVED, *"cccccc"])
        # A name to itself, but for what makes it odd.
        name = odd if odd in _RESERVED else f"{odd}{number}_{place}"
        is_column = kind.is_column and not name.startswith("_") and not set(name) & set(" ,={}")
        for row in rows:
            one = kind.drawn(draw)
            is_lost = one.is_rescued or (not is_column and one.given is not None)
            row[name] = Drawn(one.given, one.expected if is_column else None, is_lost)
        columns[name] = pa.array([row[name].given for row in rows], kind.arrow)
    ids = pa.array([row["id"].given for row in rows])
    return pa.table({"id": ids, **columns}), rows


def test_a_parquet_file_of_any_types_lands_with_a_good_one(apart: Workshop) -> None:
    draw = random.Random(seed())
    apart.stream("any", {"id": "bigint"}, format="parquet", max_columns=10_000)
    folder = apart.folder("any")
    pq.write_table(pa.table({"id": [-1]}), folder / "good.parquet")
    expected: list[dict[str, Drawn]] = []
    for number in range(cases(40)):
        table, rows = drawn_file(draw, number)
        pq.write_table(table, folder / f"{number}.parquet")
        expected += rows
    apart.land("any")
    found = landed(apart, "any")
    assert sorted(found) == [-1, *range(len(expected))]
    assert apart.rejects("any") == []
    for number, row in enumerate(expected):
        rescued = json.loads(found[number]["_rescued"] or "{}")
        for name, one in row.items():
            there = None if name in _RESERVED else found[number].get(name)
            assert is_same(one.expected, there), (name, one, there)
            own = path_below("", name)
            is_rescued = any(path == own or path.startswith(f"{own}.") for path in rescued)
            assert is_rescued == one.is_rescued, (name, one, rescued)


def test_a_csv_file_of_any_texts_lands_with_a_good_one(apart: Workshop) -> None:
    draw = random.Random(seed())
    apart.stream("texts", {"id": "bigint"}, format="csv", multi_line=True, infer_column_types=False)
    apart.drop("texts", "good.csv", "id\n-1\n")
    expected: dict[int, dict[str, str]] = {}
    for number in range(cases(20)):
        odd = draw.choice([*GOOD_NAMES, *BAD_NAMES, *_RESERVED])
        name = odd if odd in _RESERVED else f"{odd}{number}"
        end = draw.choice(["\n", "\r\n"])
        path = apart.drop("texts", f"{number}.csv", "")
        with path.open("w", newline="", encoding=draw.choice(["utf-8", "utf-8-sig"])) as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator=end)
            writer.writerow(["id", name])
            for row in range(_ROWS):
                text = "".join(draw.choices('a",\n\r\\\u00fc ', k=draw.randrange(1, 6)))
                writer.writerow([_ROWS * number + row, text])
        with path.open(newline="", encoding="utf-8-sig") as file:
            for line in csv.DictReader(file):
                expected[int(line.pop("id"))] = line
    apart.land("texts")
    found = landed(apart, "texts")
    assert found.keys() == {-1, *expected}
    for key, texts in expected.items():
        rescued = json.loads(found[key]["_rescued"] or "{}")
        for name, text in texts.items():
            column = None if name in _RESERVED else found[key].get(name)
            assert rescued.get(name, column) == text
