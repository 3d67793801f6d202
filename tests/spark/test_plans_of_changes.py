"""How Spark joins changes with what a table has."""

from __future__ import annotations

import re
from typing import Any

from pyspark.sql import SparkSession

from ingest.cdc.apply import ChangeApplication, Target
from ingest.cdc.rules import Rules
from tests.spark.oracle import Change
from tests.spark.test_changes import PARTIAL, RULES, application, offer


def test_other_rows_of_partial_changes_are_not_kept_in_state(spark: SparkSession) -> None:
    """Spark guesses from files how large rows are, which may be compressed to a hundredth."""
    offer(spark, "some", [Change(case=0, key=1, sequence=1, operation="U", name="Ada")])
    application(spark, "beside", **PARTIAL)("some")
    begins = "create or replace temporary view __beside__rows as"
    plans: list[str] = []

    def explain(statement: str) -> None:
        if statement.strip().startswith(begins):
            told = spark.sql("explain " + statement.strip().removeprefix(begins))
            plans.append(str(told.collect()[0]["plan"]))

    target = Target(table="default.beside", state="default.beside__memory", view="__beside")
    offer(spark, "some", [Change(case=0, key=1, sequence=2, operation="U", city="Gent")])
    rules: dict[str, Any] = RULES | PARTIAL
    ChangeApplication(spark, target, Rules(**rules), explain)("some")
    (plan,) = plans
    joins = re.findall(r"(\w+Join) .*, (LeftOuter|LeftSemi)", plan)
    assert sorted(joins) == [
        *[("BroadcastHashJoin", "LeftSemi")] * 2,
        *[("SortMergeJoin", "LeftOuter")] * 2,
    ]
