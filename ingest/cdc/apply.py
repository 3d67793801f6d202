"""Apply changes to a table: read, count, write state and rows, as dbt's materialization does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingest.cdc.macros import rendered, statements
from ingest.cdc.rules import Rules
from ingest.errors import InputError
from ingest.spark.checkpointed import CheckpointCache
from ingest.spark.delta_tables import properties_clause
from ingest.storage import delta_log
from ingest.storage.layout import is_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Seconds between two expiries of tombstones; one costs a tenth of an application.
_EXPIRE_EVERY = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an application did, in rows."""

    upserted: int = 0
    deleted: int = 0
    closed: int = 0
    late: int = 0
    tied: int = 0
    quarantined: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A table that changes are applied to, and its state table: their names in SQL.

    `view` begins the names of temporary views; `path` is the folder of the table, if it is known;
    the table is created with `properties`.
    """

    table: str
    state: str
    view: str
    path: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


class ChangeApplication:
    """Applies the rows of a view to a table. Repeating it changes nothing."""

    def __init__(
        self,
        spark: SparkSession,
        target: Target,
        rules: Rules,
        before_statement: Callable[[str], None] = lambda _: None,
        on_refused: Callable[[DataFrame], None] = lambda _: None,
    ) -> None:
        self._spark = spark
        self._target = target
        self._rules = rules
        self._before_statement = before_statement
        self._on_refused = on_refused
        self._keeper = CheckpointCache()
        self._expired_at = -_EXPIRE_EVERY

    def __call__(self, view: str) -> Outcome:
        """Apply the changes that a temporary view holds."""
        plan = self._plan(view)
        try:
            self._run("evolve_columns", plan)
            self._run("prepare_changes", plan)
            plan.update(self._row(rendered("profile_changes", plan)))
            self._count_effects(plan)
            if plan["level"]:
                self._count_effects(plan)
            if plan["quarantined"]:
                self._on_refused(self._spark.sql(rendered("quarantined_changes", plan)))
            plan["needs_state"] = bool(rendered("needs_state", plan))
            self._run("write_state", plan)
            self._write(plan)
            self._run("save_newest_extract", plan)
        finally:
            for statement in statements("drop_temp_views", plan):
                self._keeper.run(self._spark.sql, statement)
        return Outcome(**{name: plan[name] for name in Outcome.__dataclass_fields__})

    def _plan(self, view: str) -> dict[str, Any]:
        target = self._columns(self._target.table)
        state = self._columns(self._target.state)
        plan = self._rules.as_plan() | {
            "input": view,
            "target": self._target.table,
            "state_table": self._target.state,
            "view": self._target.view,
            "adds_columns": True,
            "input_columns": self._columns(view),
            "target_columns": target,
            "target_bytes": self._bytes(),
            "has_state": bool(state and target),
            "is_state_stale": bool(state and not target),
            "is_expiry_due": time.monotonic() - self._expired_at >= _EXPIRE_EVERY,
        }
        rendered("plan_changes", plan)
        problem = rendered("plan_problems", plan)
        if problem:
            raise InputError(f"{self._target.table}: {problem}")
        return plan

    def _bytes(self) -> int | None:
        path = self._target.path
        return sum(delta_log.sizes_of_files(path)) if path and is_table(path) else None

    def _count_effects(self, plan: dict[str, Any]) -> None:
        *before, last = statements("count_effects", plan)
        for statement in before:
            self._execute(statement)
        plan.update(self._row(last))

    def _write(self, plan: dict[str, Any]) -> None:
        if plan["target_columns"]:
            self._run("write_changes", plan)
            if plan["is_expiry_due"] and plan["needs_state"] and plan["has_state"]:
                self._expired_at = time.monotonic()
        else:
            query = rendered("first_rows", plan)
            properties = {"delta.enableDeletionVectors": "true", **self._target.properties}
            self._execute(
                f"create or replace table {plan['target']} using delta "
                f"{properties_clause(properties)} as {query}"
            )

    def _run(self, macro: str, plan: dict[str, Any]) -> None:
        for statement in statements(macro, plan):
            self._execute(statement)

    def _row(self, query: str) -> dict[str, Any]:
        row: dict[str, Any] = self._execute(query).collect()[0].asDict()
        return row

    def _execute(self, statement: str) -> Any:
        self._before_statement(statement)
        return self._keeper.run(self._spark.sql, statement)

    def _columns(self, relation: str) -> dict[str, str]:
        from pyspark.errors import AnalysisException

        try:
            schema = self._spark.table(relation).schema
        except AnalysisException:
            return {}
        return {field.name: field.dataType.simpleString() for field in schema}
