"""Statements of an application of changes, with what they keep kept as it is.

Spark drops what it cached of a query, and plans the query again, at each write to one of its
tables: the state table, the table that changes are applied to, and bronze. A local checkpoint
stays.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

# The exact statements of macros/apply_changes and macros/merge; dbt puts a comment in front. On a
# server, which does not run them through this class, Spark caches the view.
_KEEP = re.compile(
    r"^\s*cache lazy table (?P<view>\S+) options \('storageLevel' = 'DISK_ONLY'\)\s*\Z",
    re.MULTILINE,
)
_DROP = re.compile(r"^\s*drop view if exists (?P<view>\S+)\s*\Z", re.MULTILINE)


class CheckpointCache:
    """Runs statements; rows of a view that they cache are checkpointed until they drop it."""

    def __init__(self) -> None:
        self._kept: dict[str, DataFrame] = {}

    def run(self, sql: Callable[[str], DataFrame], statement: str) -> DataFrame:
        """What a statement gives; `sql` runs one."""
        if found := _KEEP.search(statement):
            view = found["view"]
            rows = kept(sql(f"table {view}"))
            rows.createOrReplaceTempView(view)
            self._let_go(view)
            self._kept[view] = rows
            # dbt fetches what a statement gives: here it must be nothing.
            return rows.limit(0)
        if found := _DROP.search(statement):
            self._let_go(found["view"])
        return sql(statement)

    def _let_go(self, view: str) -> None:
        if view in self._kept:
            release(self._kept.pop(view))


def kept(frame: DataFrame) -> DataFrame:
    """The rows of a query; on disk, so that many need no more memory than few."""
    from pyspark import StorageLevel

    return frame.localCheckpoint(False, StorageLevel.DISK_ONLY)


def release(rows: DataFrame) -> None:
    """Let go of rows that were kept. Spark would, when Java next looks for what nobody holds."""
    plan: Any = rows._jdf.queryExecution().logical()
    plan.rdd().unpersist(False)
