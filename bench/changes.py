"""Changes into large tables: `apply_changes` beside merges written by hand.

By hand, guarded: rank the changes, merge with a guard on the sequence, literal bounds, deletion
vectors; a late change behind a delete would bring the row back. Stock: what dbt-spark writes,
on a table with default properties, where a late change overwrites a newer one. The ways take
turns, and medians count.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from bench.report import Ratio
from ingest.cdc.apply import ChangeApplication, Target
from ingest.cdc.rules import Rules

_OLD, _NEW = (
    ", ".join(f"concat('{word} ', (id * {n}) % 9973) as column_{n}" for n in range(1, 7))
    for word in ("value", "changed value")
)
_RULES = {"keys": ("id",), "sequence_by": ("at",), "apply_as_deletes": "operation = 'D'"}
_DELETION_VECTORS = "tblproperties ('delta.enableDeletionVectors' = 'true')"


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to bring a table up to date; `prepare` makes the table and is not measured."""

    name: str
    prepare: Callable[[], object]
    apply: Callable[[], object]


def measure(spark: SparkSession, rows: int, changes: int, rounds: int) -> list[Ratio]:
    """Median seconds of each way: scattered changes, then recent keys in growing tables."""
    scattered = f"cast(floor(rand(7) * {rows}) as bigint)"
    _changes(spark, "scattered", scattered, changes)
    small, large = rows // 5, rows * 2
    for size in (small, large):
        key = f"cast({size - 40_000} + floor(rand(7) * 40000) as bigint)"
        _changes(spark, f"recent_{size}", key, 20_000)
    seconds = _medians(
        [
            _by_hand(spark, rows),
            _stock(spark, rows),
            _applied(spark, "current", rows, "scattered", 1),
            _applied(spark, "history", rows, "scattered", 2),
            _applied(spark, "recent_into_small", small, f"recent_{small}", 1),
            _applied(spark, "recent_into_large", large, f"recent_{large}", 1),
        ],
        rounds,
    )
    what = f"{changes:,} changes over {rows:,} rows"
    guarded, stock = seconds["by_hand"], seconds["stock"]
    current, history = seconds["current"], seconds["history"]
    return [
        Ratio(f"{what}: SCD 1 beside the guarded merge", current, guarded, 1 / 1.15),
        Ratio(f"{what}: SCD 1 beside dbt-spark's merge", current, stock, 1 / 0.4),
        Ratio(f"{what}: SCD 2 beside SCD 1", history, current, 1 / 2.0),
        Ratio(
            f"20,000 recent changes: {large:,} rows beside {small:,}",
            seconds["recent_into_large"],
            seconds["recent_into_small"],
            1 / 1.5,
        ),
    ]


def _medians(ways: list[_Way], rounds: int) -> dict[str, float]:
    """The ways take turns; a round before the first one warms up and does not count."""
    seconds: dict[str, list[float]] = {way.name: [] for way in ways}
    for number in range(rounds + 1):
        for way in ways:
            way.prepare()
            began = time.perf_counter()
            way.apply()
            if number > 0:
                seconds[way.name].append(time.perf_counter() - began)
    return {name: statistics.median(found) for name, found in seconds.items()}


def _changes(spark: SparkSession, view: str, key: str, number: int) -> None:
    """Changes, of which one key in fifty is deleted; kept, so that all ways see the same."""
    spark.sql(f"drop table if exists default.{view}")
    spark.sql(
        f"create table default.{view} using delta as "
        f"select *, {_NEW} from (select {key} as id, id + 10 as at, "
        f"if(id % 50 = 0, 'D', 'U') as operation from range({number}))"
    )


def _table(spark: SparkSession, name: str, rows: int, properties: str, more: str = "") -> None:
    spark.sql(
        f"create or replace table default.{name} using delta cluster by (id) {properties} as "
        f"select id, 1L as at, 'I' as operation, {_OLD}{more} from range({rows})"
    )


def _by_hand(spark: SparkSession, rows: int) -> _Way:
    def merge() -> None:
        bounds = spark.sql(
            "select min(id) as least, max(id) as most from default.scattered"
        ).first()
        assert bounds is not None
        spark.sql(
            "merge into default.by_hand as old using (select * except (place) from (select *, "
            "row_number() over (partition by id order by at desc) as place from default.scattered) "
            "where place = 1) as new on new.id = old.id "
            f"and old.id between {bounds['least']}L and {bounds['most']}L "
            "when matched and new.at > old.at and new.operation = 'D' then delete "
            "when matched and new.at > old.at then update set * "
            "when not matched and new.operation <> 'D' then insert *"
        )

    return _Way("by_hand", lambda: _table(spark, "by_hand", rows, _DELETION_VECTORS), merge)


def _stock(spark: SparkSession, rows: int) -> _Way:
    return _Way(
        "stock",
        lambda: _table(spark, "stock", rows, ""),
        lambda: spark.sql(
            "merge into default.stock as old using (select * except (place) from (select *, "
            "row_number() over (partition by id order by at desc) as place from default.scattered) "
            "where place = 1) as new on new.id = old.id "
            "when matched then update set * when not matched then insert *"
        ),
    )


def _applied(spark: SparkSession, name: str, rows: int, changes: str, scd_type: int) -> _Way:
    more = ", 1L as __START_AT, cast(null as bigint) as __END_AT" if scd_type == 2 else ""
    target = Target(table=f"default.{name}", state=f"default.{name}__memory", view=f"__{name}")
    rules = Rules(**_RULES, scd_type=scd_type)  # type: ignore[arg-type]

    def prepare() -> None:
        spark.sql(f"drop table if exists {target.state}")
        _table(spark, name, rows, _DELETION_VECTORS, more)

    application = ChangeApplication(spark, target, rules)
    return _Way(name, prepare, lambda: application(f"default.{changes}"))
