"""Keep the files of a table few, and clustered as they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.tables import table_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Files below this are small: fewer than this many of them are not worth a commit.
FEW_FILES = 16


def compacted(spark: SparkSession, path: str, least: int = FEW_FILES) -> bool:
    """Compact and cluster the Delta table at `path` where it has `least` files or more.

    The caller owns the table. Meanwhile it may append, but not read what it appends by: the files
    that are replaced are gone for that commit.
    """
    if table_log.number_of_files(path) < least:
        return False
    spark.sql(f"optimize delta.`{path}`")
    return True
