"""Changes in any order, cut in any way, killed anywhere, applied to SCD 1 and SCD 2 tables."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from functools import cache
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ingest.cdc.apply import ChangeApplication, Outcome, Target
from ingest.cdc.rules import Rules
from ingest.errors import InputError
from tests.spark import oracle
from tests.spark.oracle import UNAVAILABLE, Change

CASES = 60
KEYS = 20
SLICES = 2
COLUMNS = "case int, key int, sequence int, operation string, name string, city string"
RULES = {
    "keys": ("case", "key"),
    "sequence_by": ("sequence",),
    "apply_as_deletes": "operation = 'D'",
    "except_column_list": ("operation",),
}
PARTIAL: dict[str, Any] = {"ignore_null_updates": True, "unavailable_value": UNAVAILABLE}
WAYS: dict[str, dict[str, Any]] = {
    "scd 1": {},
    "scd 1, sequence not shown": {"except_column_list": ("operation", "sequence")},
    "scd 1, partial updates": PARTIAL,
    "scd 2": {"scd_type": 2},
    "scd 2, city not tracked": {"scd_type": 2, "track_history_except_column_list": ("city",)},
    "scd 2, partial updates": {"scd_type": 2, **PARTIAL},
}
# What the others add, the documented example shows on fewer rows.
SHORT = ("scd 1", "scd 2")


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

    target = Target(table=f"default.{name}", state=f"default.{name}__memory", view=f"__{name}")
    return ChangeApplication(spark, target, Rules(**(RULES | rules)), before_statement)


def rows(spark: SparkSession, name: str, *columns: str) -> set[tuple[Any, ...]]:
    """Rows of a table; the set is as large as the table."""
    found = spark.table(f"default.{name}")
    chosen = found.select(*columns) if columns else found
    collected = [tuple(row) for row in chosen.collect()]
    assert len(set(collected)) == len(collected)
    return set(collected)


@pytest.fixture(scope="module", autouse=True)
def planned_once(spark: SparkSession) -> Iterator[None]:
    """Plan a query once, not after each of its stages: here that is most of the work."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    yield
    spark.conf.unset("spark.sql.adaptive.enabled")


@pytest.fixture(scope="module")
def changes() -> list[Change]:
    return arrivals(random.Random(4))


@pytest.fixture(scope="module")
def in_slices(spark: SparkSession, changes: list[Change]) -> Callable[[str], str]:
    """The table of a way, made of slices, with killed builds and a replay."""
    slices = [changes[number::SLICES] for number in range(SLICES)]
    offer(spark, "slice_0", slices[0])
    offer(spark, "slice_1_and_0_again", slices[1] + slices[0])

    @cache
    def table(way: str) -> str:
        rules, place = WAYS[way], list(WAYS).index(way)
        sliced = f"sliced_{place}"
        for number, view in enumerate(("slice_0", "slice_1_and_0_again")):
            # A build is killed after its memory, or its first statement, and repeated.
            if number or not place:
                with pytest.raises(Killed):
                    application(spark, sliced, kill_at=1, **rules)(view)
            application(spark, sliced, **rules)(view)
        return sliced

    return table


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_neither_order_nor_slices_nor_kills_nor_replays_change_the_result(
    spark: SparkSession, in_slices: Callable[[str], str], changes: list[Change], way: str
) -> None:
    offer(spark, "everything", changes)
    whole = f"whole_{list(WAYS).index(way)}"
    outcome = application(spark, whole, **WAYS[way])("everything")
    assert outcome.quarantined == 2
    assert rows(spark, in_slices(way)) == rows(spark, whole)


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if way in SHORT else pytest.mark.long) for way in WAYS]
)
def test_the_result_is_that_of_the_oracle(
    spark: SparkSession, in_slices: Callable[[str], str], changes: list[Change], way: str
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
    found = {row for row in rows(spark, in_slices(way), *columns) if row[0] % 2 == 0}
    assert found == expected


def test_current_rows_are_the_open_versions(
    spark: SparkSession, in_slices: Callable[[str], str]
) -> None:
    columns = ("case", "key", "name", "city", "sequence")
    versions = rows(spark, in_slices("scd 2"), *columns, "__END_AT")
    newest = {version[:-1] for version in versions if version[-1] is None}
    assert rows(spark, in_slices("scd 1"), *columns) == newest


EXAMPLE = """
    values (124, 'Raul', 'Oaxaca', 'INSERT', 1), (123, 'Isabel', 'Monterrey', 'INSERT', 1),
    (125, 'Mercedes', 'Tijuana', 'INSERT', 2), (126, 'Lily', 'Cancun', 'INSERT', 2),
    (123, null, null, 'DELETE', 6), (125, 'Mercedes', 'Guadalajara', 'UPDATE', 6),
    (125, 'Mercedes', 'Mexicali', 'UPDATE', 5), (123, 'Isabel', 'Chihuahua', 'UPDATE', 5)
"""
EXAMPLE_RULES: dict[str, Any] = {
    "keys": ("userId",),
    "sequence_by": ("sequenceNum",),
    "apply_as_deletes": "operation = 'DELETE'",
    "except_column_list": ("operation", "sequenceNum"),
}
EXAMPLE_TABLES: dict[str, tuple[dict[str, Any], str, set[tuple[Any, ...]]]] = {
    "scd 1": (
        {},
        "",
        {(124, "Raul", "Oaxaca"), (125, "Mercedes", "Guadalajara"), (126, "Lily", "Cancun")},
    ),
    "scd 1, truncated": (
        {"apply_as_truncates": "operation = 'TRUNCATE'"},
        ", (null, null, null, 'TRUNCATE', 3)",
        {(125, "Mercedes", "Guadalajara")},
    ),
    "scd 2": (
        {"scd_type": 2},
        "",
        {
            (123, "Isabel", "Monterrey", 1, 5),
            (123, "Isabel", "Chihuahua", 5, 6),
            (124, "Raul", "Oaxaca", 1, None),
            (125, "Mercedes", "Tijuana", 2, 5),
            (125, "Mercedes", "Mexicali", 5, 6),
            (125, "Mercedes", "Guadalajara", 6, None),
            (126, "Lily", "Cancun", 2, None),
        },
    ),
    "scd 2, city not tracked": (
        {"scd_type": 2, "track_history_except_column_list": ("city",)},
        "",
        {
            (123, "Isabel", "Chihuahua", 1, 6),
            (124, "Raul", "Oaxaca", 1, None),
            (125, "Mercedes", "Guadalajara", 2, None),
            (126, "Lily", "Cancun", 2, None),
        },
    ),
}


@pytest.mark.parametrize("way", EXAMPLE_TABLES)
def test_the_documented_example_comes_out_exactly(spark: SparkSession, way: str) -> None:
    rules, more, expected = EXAMPLE_TABLES[way]
    name = f"example_{list(EXAMPLE_TABLES).index(way)}"
    names = "userId, name, city, operation, sequenceNum"
    query = f"select * from ({EXAMPLE}{more}) as example ({names})"
    spark.sql(f"create or replace temporary view {name} as {query}")
    application(spark, name, **EXAMPLE_RULES, **rules)(name)
    assert rows(spark, name) == expected


def apply_rows(spark: SparkSession, name: str, query: str, **rules: Any) -> None:
    """Apply the rows of a query, keyed by `id` and ordered by `at`."""
    spark.sql(f"create or replace temporary view {name}_input as {query}")
    defaults = {"keys": ("id",), "sequence_by": ("at",), "apply_as_deletes": ""}
    application(spark, name, **(defaults | {"except_column_list": ()} | rules))(f"{name}_input")


@pytest.mark.parametrize("scd_type", [1, 2])
def test_new_columns_are_added_and_types_widened(spark: SparkSession, scd_type: int) -> None:
    name = f"evolving_{scd_type}"
    first = "select 1 as id, 1 as at, 5 as size, cast(0.5 as float) as part, 1.25BD as price"
    apply_rows(spark, name, first, scd_type=scd_type)
    second = (
        "select 1 as id, 2 as at, 5000000000 as size, 0.25D as part, "
        "cast(12345.125 as decimal(12, 3)) as price, 'new' as colour"
    )
    apply_rows(spark, name, second, scd_type=scd_type)
    types = dict(spark.table(f"default.{name}").dtypes)
    assert [types[column] for column in ("size", "part", "price", "colour")] == [
        *("bigint", "double", "decimal(12,3)", "string")
    ]
    found = rows(spark, name, "at", "size", "colour")
    assert (2, 5_000_000_000, "new") in found
    assert len(found) == scd_type


def test_microseconds_of_timestamps_in_maps_make_versions(spark: SparkSession) -> None:
    parts = ((1, 1), (2, 1), (2, 2))
    changes = [
        f"select 1 as id, {at} as at, map('a', struct(timestamp'2026-03-01 12:00:00.00000{zoned}' "
        f"as zoned, timestamp_ntz'2026-03-01 12:00:00.00000{local}' as local)) as times"
        for at, (zoned, local) in enumerate(parts)
    ]
    apply_rows(spark, "times", " union all ".join(changes), scd_type=2)
    found = spark.table("default.times").selectExpr("at", "times.a.zoned", "times.a.local")
    ends = {(at, zoned.microsecond, local.microsecond) for at, zoned, local in found.collect()}
    assert ends == {(at, *one) for at, one in enumerate(parts)}


def test_the_order_of_changes_may_take_several_columns(spark: SparkSession) -> None:
    query = "select * from values (1, 2, 'x', 'late'), (1, 2, 'y', 'last'), (1, 1, 'z', 'first')"
    rules = {"sequence_by": ("at", "part"), "scd_type": 2, "except_column_list": ("at", "part")}
    apply_rows(spark, "wide", f"{query} as t (id, at, part, name)", **rules)
    ends = rows(spark, "wide", "name", "__START_AT.at", "__START_AT.part", "__END_AT.part")
    assert ends == {("first", 1, "z", "x"), ("late", 2, "x", "y"), ("last", 2, "y", None)}


def test_the_source_decides_ties_before_deletes_and_content(spark: SparkSession) -> None:
    query = "select * from values (1, 1, 7, 'U', 'a'), (1, 1, 8, 'U', 'b'), (2, 1, 1, 'D', 'c'), "
    query += "(2, 1, 1, 'U', 'd') as t (id, at, place, operation, name)"
    rules = {
        "source_position": ("place",),
        "apply_as_deletes": "operation = 'D'",
        "except_column_list": ("operation",),
    }
    apply_rows(spark, "ties_deleted", query, **rules)
    apply_rows(spark, "ties_kept", query, **rules, deletes_win_ties=False)
    assert rows(spark, "ties_deleted", "id", "name") == {(1, "b")}
    assert rows(spark, "ties_kept", "id", "name") == {(1, "b"), (2, "d")}


@pytest.mark.long
def test_a_change_may_say_which_columns_it_sets(spark: SparkSession) -> None:
    newest = "select 1 as id, 3 as at, 'c' as name, 'z' as city, array('name') as changed"
    older = "select 1 as id, 2 as at, 'b' as name, null as city, array('city') as changed"
    oldest = (
        "select 1 as id, 1 as at, 'a' as name, 'x' as city, cast(null as array<string>) as changed"
    )
    for scd_type in (1, 2):
        rules = {
            "columns_to_update": "changed",
            "except_column_list": ("changed",),
            "scd_type": scd_type,
        }
        for query in (newest, oldest, older):
            apply_rows(spark, f"chosen_{scd_type}", query, **rules)
    assert rows(spark, "chosen_1") == {(1, 3, "c", None)}
    assert rows(spark, "chosen_2", "name", "city", "__START_AT") == {
        *(("a", "x", 1), ("a", None, 2), ("c", None, 3))
    }


def test_tombstones_expire(spark: SparkSession) -> None:
    delete = "select 1 as id, 9 as at, 'D' as operation"
    insert = "select 1 as id, 5 as at, 'U' as operation"
    rules = {"apply_as_deletes": "operation = 'D'", "tombstone_retention": "0 seconds"}
    apply_rows(spark, "forgetful", "select 2 as id, 1 as at, 'U' as operation", **rules)
    for _ in range(2):
        apply_rows(spark, "forgetful", delete, **rules)
    apply_rows(spark, "forgetful", insert, **rules)
    assert rows(spark, "forgetful", "id", "at") == {(1, 5), (2, 1)}


def test_each_kind_of_build_is_counted_and_a_replay_writes_nothing(spark: SparkSession) -> None:
    """A merge has only the clauses that its build needs; so one build of each kind."""
    builds: list[tuple[str, Outcome]] = [
        ("(1, 1, 'U', 'a'), (2, 1, 'U', 'b'), (3, 1, 'U', 'c')", Outcome(upserted=3)),
        ("(1, 2, 'U', 'd'), (2, 2, 'D', 'e')", Outcome(upserted=1, deleted=1)),
        ("(4, 1, 'U', 'f'), (5, 1, 'D', 'g')", Outcome(upserted=1)),
        ("(1, 3, 'U', 'h'), (5, 2, 'U', 'i'), (3, 0, 'U', 'late')", Outcome(upserted=2, late=1)),
        ("(3, 1, 'U', 'c'), (2, 1, 'U', 'late'), (6, 1, 'U', 'j')", Outcome(upserted=1, late=1)),
        ("(3, 1, 'D', 'k')", Outcome(deleted=1, tied=1)),
        ("(1, 3, 'U', 'h'), (3, 1, 'D', 'k'), (4, 0, 'U', 'late')", Outcome(late=1)),
    ]
    tables = ("default.counted", "default.counted__memory")
    rules: dict[str, Any] = {"keys": ("id",), "sequence_by": ("at",)}
    versions = []
    for values, expected in builds:
        query = f"select * from values {values} as t (id, at, operation, name)"
        spark.sql(f"create or replace temporary view counted_input as {query}")
        assert application(spark, "counted", **rules)("counted_input") == expected
        found = [table for table in tables if spark.catalog.tableExists(table)]
        versions.append([len(spark.sql(f"describe history {one}").collect()) for one in found])
    assert rows(spark, "counted", "id", "at", "name") == {
        *((1, 3, "h"), (4, 1, "f"), (5, 2, "i"), (6, 1, "j"))
    }
    assert versions[-1] == versions[-2]


@pytest.mark.parametrize("scd_type", [pytest.param(1, marks=pytest.mark.long), 2])
def test_many_changes_into_a_large_table_use_a_key_bitmap(
    spark: SparkSession, scd_type: int
) -> None:
    name = f"marked_{scd_type}"
    row = "select id, concat('k', id % 7) as part, {} as at, {} as operation from range({}, {}, {})"
    rules = {"keys": ("id", "part"), "apply_as_deletes": "operation = 'D'", "scd_type": scd_type}
    apply_rows(spark, name, row.format(1, "'U'", 0, 40_000, 2), **rules)
    # Of 12,000 keys every other one is new, and one in ten is deleted.
    apply_rows(spark, name, row.format(2, "if(id % 10 = 0, 'D', 'U')", 20_000, 32_000, 1), **rules)
    table = spark.table(f"default.{name}").where("true" if scd_type == 1 else "__END_AT is null")
    found = table.selectExpr("count(*)", "sum(id)", "count_if(at = 2)").first()
    changed = range(20_000, 32_000)
    living = [key for key in range(40_000) if (key % 10 if key in changed else key % 2 == 0)]
    assert found == (len(living), sum(living), 12_000 * 9 // 10)


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"keys": ()}, "needs keys in config"),
        ({"sequence_by": ("when",)}, "sequence_by: the input has no column when"),
        ({"scd_type": 2, "keep_deleted": True}, "keep_deleted needs stored_as_scd_type 1"),
        ({"track_history_column_list": ("at",)}, "tracked columns need stored_as_scd_type 2"),
        ({"column_list": ("id",), "except_column_list": ("at",)}, "not both"),
    ],
)
def test_rules_that_cannot_be_followed_are_refused(
    spark: SparkSession, rules: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        apply_rows(spark, "refused", "select 1 as id, 1 as at", **rules)


@pytest.mark.parametrize("scd_type", [pytest.param(1, marks=pytest.mark.long), 2])
def test_full_extracts_are_compared_into_changes(spark: SparkSession, scd_type: int) -> None:
    def extracts(values: str) -> str:
        return f"select * from values {values} as t (id, day, name)"

    name = f"extracts_{scd_type}"
    rules = {"snapshot_by": "day", "sequence_by": (), "scd_type": scd_type}
    rules["except_column_list"] = ("day",)
    apply_rows(spark, name, extracts("(1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c')"), **rules)
    # A history of extracts at once: 1 changes, 2 goes and comes again, 3 goes, 4 is new.
    later = extracts("(1, 2, 'a'), (4, 2, 'd'), (1, 3, 'x'), (2, 3, 'b'), (4, 3, 'd')")
    apply_rows(spark, name, later, **rules)
    expected = {
        1: {(1, "x"), (2, "b"), (4, "d")},
        2: {
            *((1, "a", 1, 3), (1, "x", 3, None), (2, "b", 1, 2), (2, "b", 3, None)),
            *((3, "c", 1, 2), (4, "d", 2, None)),
        },
    }
    assert rows(spark, name) == expected[scd_type]
    for again in (later, extracts("(1, 2, 'old'), (7, 2, 'old')")):
        apply_rows(spark, name, again, **rules)
        assert rows(spark, name) == expected[scd_type]
