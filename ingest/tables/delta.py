"""Delta tables of bronze and ops: made with their layout, appended to exactly once."""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from ingest.lake import Lake, is_table
from ingest.shapes.conversion import quoted, text_literal
from ingest.tables import table_log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# The registry of tables that ingest made: dbt reads it to know which exist.
REGISTRY_DDL = "table_name string, stream string, kind string, created_at timestamp"


# Seconds that a process may need between a table's folder and its first commit.
_TO_COMMIT = 2.0


def create_table(
    spark: SparkSession, path: str, schema: T.StructType, cluster_by: tuple[str, ...] = ()
) -> None:
    """Make an empty Delta table at `path` unless there is one."""
    columns = ", ".join(
        f"{quoted(member.name)} {member.dataType.simpleString()}"
        + (
            f" comment {text_literal(str(comment))}"
            if (comment := member.metadata.get("comment"))
            else ""
        )
        for member in schema.fields
    )
    layout = f" cluster by ({', '.join(map(quoted, cluster_by))})" if cluster_by else ""
    # Streams commit every second or two; Delta's own interval is 10 commits.
    properties = "tblproperties ('delta.checkpointInterval' = '50')"
    _create(spark, path, f"({columns}) using delta{layout} {properties}")


def _create(spark: SparkSession, path: str, definition: str) -> None:
    log = Path(path, "_delta_log")
    if log.is_dir() and not is_table(path):
        # What a process left that was killed before the first commit: Delta takes the folder for
        # a table, and would make none. Another process may be about to commit.
        time.sleep(_TO_COMMIT)
        if not is_table(path):
            shutil.rmtree(log, ignore_errors=True)
    spark.sql(f"create table if not exists delta.`{path}` {definition}")


def append(rows: DataFrame, path: str) -> None:
    """Append to the Delta table at `path`, and let it grow. Repeated, it appends again."""
    rows.write.format("delta").mode("append").option("mergeSchema", "true").save(path)


def append_once(
    rows: DataFrame, path: str, *, application: str, version: int, grow: bool = False
) -> None:
    """Append to the Delta table at `path` unless `application` has already written `version`.

    Delta skips a version at or below the last one of an application without a word: give a
    new application whenever versions restart.
    """
    (
        rows.write.format("delta")
        .mode("append")
        .option("txnAppId", application)
        .option("txnVersion", version)
        .option("mergeSchema", str(grow).lower())
        .save(path)
    )


def replace_once(rows: DataFrame, path: str, *, application: str, version: int) -> None:
    """Put rows, and their columns, in the place of all that the Delta table at `path` has.

    `application` notes `version` as `append_once` does. What it has written stands no rewriting
    in the way: the same version may have other columns.
    """
    writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    if not is_table(path) or table_log.last_version(path, application) < version:
        writer = writer.option("txnAppId", application).option("txnVersion", version)
    writer.save(path)


def register(spark: SparkSession, lake: Lake, tables: Sequence[tuple[str, str, str]]) -> None:
    """List tables of bronze, as (table, stream, kind), in `ops.stream_tables`, each once."""
    path = lake.ops("stream_tables")
    if not lake.is_table(path):
        ensure_table(spark, path, REGISTRY_DDL)
    listed = set(table_log.rows(path, ["table_name"])["table_name"].to_pylist())
    now = datetime.now(UTC)
    rows = [(*table, now) for table in tables if table[0] not in listed]
    if rows:
        table_log.append_rows(path, rows)


def ensure_table(spark: SparkSession, path: str, ddl: str, tries: int = 5) -> None:
    """Make an empty Delta table unless there is one; two processes may try at once."""
    for attempt in range(tries):
        try:
            _create(spark, path, f"({ddl}) using delta")
            return
        except Exception as error:
            if attempt == tries - 1 or "Concurrent" not in f"{type(error).__name__} {error}":
                raise
            time.sleep(0.2 * 2**attempt)


def table_schema(spark: SparkSession, path: str) -> T.StructType:
    """The columns of the Delta table at `path`."""
    return spark.read.format("delta").load(path).schema


@functools.cache
def code_version() -> str:
    """Headwater's own version, as quarantined rows record it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("headwater")
    except PackageNotFoundError:
        return "unknown"


def only_row(rows: DataFrame) -> Row:
    """The row of a query that always has one, such as an aggregate without groups."""
    row = rows.first()
    if row is None:
        raise RuntimeError("a query that always has a row has none")
    return row
