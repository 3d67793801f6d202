"""Rows that are read more than once, kept as they are now.

What Spark has cached of a query it throws away, and plans the query anew, whenever anybody writes
one of its tables: the memory and the table that changes are applied to, and bronze, which goes on
landing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def kept(frame: DataFrame) -> DataFrame:
    """The rows of a query; on disk, so that many need no more memory than few."""
    from pyspark import StorageLevel

    return frame.localCheckpoint(False, StorageLevel.DISK_ONLY)


def release(rows: DataFrame) -> None:
    """Let go of rows that were kept. Spark would, when Java next looks for what nobody holds."""
    plan: Any = rows._jdf.queryExecution().logical()
    plan.rdd().unpersist(False)
