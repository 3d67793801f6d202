"""Changes in any order, cut in any way, killed anywhere, applied to SCD 1 and SCD 2 tables."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ingest.changes.application import ChangeApplication, Outcome, Target
from ingest.changes.plan import Rules
from tests.spark import oracle
from tests.spark.oracle import UNAVAILABLE, Change

CASES = 200
KEYS = 20
SLICES = 3
COLUMNS = "case int, key int, sequence int, operation string, name string, city string"
RULES = {
    "keys": ("case", "key"),
    "sequence_by": ("sequence",),
    "apply_as_deletes": "operation = 'D'",
    "except_column_list": ("operation",),
}
PARTIAL = {"ignore_null_updates": True, "unavailable_value": UNAVAILABLE}
WAYS: dict[str, dict[str, Any]] = {
    "scd 1": {},
    "scd 1, sequence not shown": {"except_column_list": ("operation", "sequence")},
    "scd 1, partial updates": PARTIAL,
    "scd 2": {"scd_type": 2},
    "scd 2, city not tracked": {"scd_type": 2, "track_history_except_column_list": ("city",)},
    "scd 2, partial updates": {"scd_type": 2, **PARTIAL},
}


class Killed(Exception):
    """Stands for a process that is gone."""


def arrivals(draw: random.Random) -> list[Change]:
    """Changes of all cases. Even cases have no two upserts of one sequence that differ."""
    found = []
    for case in range(CASES):
        for key in range(KEYS):
            upserts: set[int] = set()
            for _ in range(draw.randrange(1, 7)):
                sequence = draw.randrange(8)
                operation = draw.choice("UUUD")
                if operation == "U" and case % 2 == 0 and sequence in upserts:
                    continue
                if operation == "U":
                    upserts.add(sequence)
                name = draw.choice(["Ada", "Bo", None])
                city = draw.choice(["Gent", "Köln", None, UNAVAILABLE])
                change = Change(
                    case=case, key=key, sequence=sequence, operation=operation, name=name, city=city
                )
                found += [change] * draw.choice([1, 1, 1, 2])
    found += [
        Change(case=0, key=None, sequence=1, operation="U", name="no key"),
        Change(case=0, key=1, sequence=None, operation="U", name="no sequence"),
    ]
    draw.shuffle(found)
    return found


def offer(spark: SparkSession, view: str, changes: Sequence[Change]) -> None:
    """Make a view of changes."""
    rows = [astuple(change) for change in changes]
    spark.createDataFrame(rows, COLUMNS).coalesce(2).createOrReplaceTempView(view)


def application(spark: SparkSession, name: str, kill_at: int = -1, **rules: Any) -> Any:
    """An application to `default.<name>`, killed before its n-th statement that writes."""
    writes = 0

    def before_statement(statement: str) -> None:
        nonlocal writes
        if statement.startswith(("merge", "create table", "create or replace table", "delete")):
            if writes == kill_at:
                raise Killed
            writes += 1

    target = Target(table=f"default.{name}", memory=f"default.{name}__memory", view=f"__{name}")
    return ChangeApplication(spark, target, Rules(**(RULES | rules)), before_statement)


def rows(spark: SparkSession, name: str, *columns: str) -> set[tuple[Any, ...]]:
    """Rows of a table; the set is as large as the table."""
    found = spark.table(f"default.{name}")
    chosen = found.select(*columns) if columns else found
    collected = [tuple(row) for row in chosen.collect()]
    assert len(set(collected)) == len(collected)
    return set(collected)


@pytest.fixture(scope="module")
def changes() -> list[Change]:
    return arrivals(random.Random(4))


@pytest.fixture(scope="module")
def tables(spark: SparkSession, changes: list[Change]) -> dict[str, tuple[str, str]]:
    """For each way two tables: of slices, with killed builds and a replay, and of one build."""
    # Compiling the many plans costs more than running them on so few rows.
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    offer(spark, "everything", changes)
    for number in range(SLICES):
        offer(spark, f"slice_{number}", changes[number::SLICES])
    made = {}
    for place, (way, rules) in enumerate(WAYS.items()):
        sliced, whole = f"sliced_{place}", f"whole_{place}"
        for number in range(SLICES):
            # Before the memory, between memory and table, after: a killed build is repeated.
            with pytest.raises(Killed):
                application(spark, sliced, kill_at=1 if number else 0, **rules)(f"slice_{number}")
            application(spark, sliced, **rules)(f"slice_{number}")
        before = rows(spark, sliced)
        application(spark, sliced, **rules)("slice_1")
        assert rows(spark, sliced) == before, "a replay changes nothing"
        outcome = application(spark, whole, **rules)("everything")
        assert outcome.quarantined == 2
        made[way] = (sliced, whole)
    return made


@pytest.mark.parametrize("way", WAYS)
def test_neither_order_nor_slices_nor_kills_nor_replays_change_the_result(
    spark: SparkSession, tables: dict[str, tuple[str, str]], way: str
) -> None:
    sliced, whole = tables[way]
    assert rows(spark, sliced) == rows(spark, whole)


@pytest.mark.parametrize("way", WAYS)
def test_the_result_is_that_of_the_oracle(
    spark: SparkSession, tables: dict[str, tuple[str, str]], changes: list[Change], way: str
) -> None:
    certain = [change for change in changes if change.case % 2 == 0]
    partial = "partial" in way
    if way.startswith("scd 2"):
        tracked = (0,) if "not tracked" in way else (0, 1)
        expected = oracle.history(certain, partial=partial, tracked=tracked)
        columns = ["case", "key", "name", "city", "__START_AT", "__END_AT"]
    else:
        expected = oracle.current(certain, partial=partial)
        columns = ["case", "key", "name", "city", "sequence"]
        if "not shown" in way:
            expected = {row[:-1] for row in expected}
            columns.remove("sequence")
    found = {row for row in rows(spark, tables[way][0], *columns) if row[0] % 2 == 0}
    assert found == expected


def test_current_rows_are_the_open_versions(
    spark: SparkSession, tables: dict[str, tuple[str, str]]
) -> None:
    columns = ("case", "key", "name", "city", "sequence")
    for kind in ("", ", partial updates"):
        versions = rows(spark, tables[f"scd 2{kind}"][0], *columns, "__END_AT")
        newest = {version[:-1] for version in versions if version[-1] is None}
        assert rows(spark, tables[f"scd 1{kind}"][0], *columns) == newest
