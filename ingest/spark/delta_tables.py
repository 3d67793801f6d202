"""Delta tables of bronze and ops: made with their layout, appended to exactly once."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from ingest.spark.sql import quoted, sql_type, text_literal
from ingest.storage import delta_log, delta_writes
from ingest.storage.layout import LOG, Lake, is_table, storage_at
from ingest.type_walk import has_local_times

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# The registry of tables that ingest made: dbt reads it to know which exist.
REGISTRY_DDL = "table_name string, stream string, kind string, created_at timestamp"


# Seconds that a process may need between a table's folder and its first commit.
_TO_COMMIT = 2.0
# The layer of what ingest makes in bronze; dbt's models get theirs from `tblproperties_clause`.
LAYER = {"quality": "bronze"}
# Streams commit every second or two; Delta's own interval is 10 commits.
_PROPERTIES = {"delta.checkpointInterval": "50", **LAYER}


def create_table(path: str, schema: T.StructType) -> None:
    """Make an empty Delta table at `path` unless there is one."""
    _remove_remains(path)
    delta_writes.create(path, schema.json(), _PROPERTIES)


def create_clustered_table(
    spark: SparkSession, path: str, schema: T.StructType, cluster_by: tuple[str, ...]
) -> None:
    """The same, clustered by columns: only Spark can."""
    _remove_remains(path)
    spark.sql(
        f"create table if not exists delta.`{path}` ({_columns(schema)}) using delta "
        f"cluster by ({', '.join(map(quoted, cluster_by))}) {properties_clause(_PROPERTIES)}"
    )


def _columns(schema: T.StructType) -> str:
    return ", ".join(
        f"{quoted(member.name)} {sql_type(member.dataType)}"
        + (
            f" comment {text_literal(str(comment))}"
            if (comment := member.metadata.get("comment"))
            else ""
        )
        for member in schema.fields
    )


def properties_clause(properties: Mapping[str, str]) -> str:
    """Properties of a table, as a statement that creates it has them."""
    pairs = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    return f"tblproperties ({pairs})"


def _remove_remains(path: str) -> None:
    """Remove what a process has left that was killed before a table's first commit.

    Delta takes the folder for a table, and would make none.
    """
    storage = storage_at(path)
    if storage.exists(LOG) and not is_table(path):
        # Another process may be about to commit.
        time.sleep(_TO_COMMIT)
        if not is_table(path):
            storage.delete_tree(LOG)


def append(rows: DataFrame, path: str, user_metadata: str) -> None:
    """Append to the Delta table at `path`, and let it grow. Repeated, it appends again.

    The commit has `user_metadata`, as the table's history shows it.
    """
    if has_local_times(rows.schema) and not delta_log.has_local_times(path):
        # Delta takes such columns into a table that was made without only where this is allowed.
        rows.sparkSession.sql(
            f"alter table delta.`{path}` "
            "set tblproperties ('delta.feature.timestampNtz' = 'supported')"
        )
    (
        rows.write.format("delta")
        .mode("append")
        .option("mergeSchema", "true")
        .option("userMetadata", user_metadata)
        .save(path)
    )


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
    """Put rows, and their columns, in the place of all that the table at `path` has, in bronze.

    `application` notes `version` as `append_once` does. What it has written stands no rewriting
    in the way: the same version may have other columns.
    """
    if not is_table(path):
        # A writer of rows sets no property that is not Delta's own.
        rows.sparkSession.sql(
            f"create table if not exists delta.`{path}` ({_columns(rows.schema)}) using delta "
            + properties_clause(LAYER)
        )
    writer = rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    if delta_log.last_version(path, application) < version:
        writer = writer.option("txnAppId", application).option("txnVersion", version)
    writer.save(path)


def register(lake: Lake, tables: Sequence[tuple[str, str, str]]) -> None:
    """List tables of bronze, as (table, stream, kind), in `ops.stream_tables`, each once."""
    path = lake.ops("stream_tables")
    if not lake.is_table(path):
        ensure_table(path, REGISTRY_DDL)
    listed = set(delta_log.rows(path, ["table_name"])["table_name"].to_pylist())
    now = datetime.now(UTC)
    rows = [(*table, now) for table in tables if table[0] not in listed]
    if rows:
        delta_writes.append_rows(path, rows)


def ensure_table(path: str, ddl: str) -> None:
    """Make an empty Delta table unless there is one; two processes may try at once."""
    _remove_remains(path)
    delta_writes.create(path, T.StructType.fromDDL(ddl).json(), {})


def table_schema(spark: SparkSession, path: str) -> T.StructType:
    """The columns of the Delta table at `path`."""
    return spark.read.format("delta").load(path).schema


def unclustered_files(spark: SparkSession, path: str) -> int:
    """How many files of the clustered Delta table at `path` have never been clustered."""
    jvm: Any = spark._jvm
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
    snapshot = log.unsafeVolatileSnapshot()
    return int(snapshot.allFiles().where("clusteringProvider is null").count())


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
