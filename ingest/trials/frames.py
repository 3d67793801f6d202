"""Tables of a trial, and what of their rows is compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ingest.spark.sql import quoted, text_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Validity of versions, where a model does not name these columns.
_OF_VERSIONS = ("__START_AT", "__END_AT")
# Without formats, Spark writes milliseconds.
_JSON = {
    "ignoreNullFields": "false",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def read(spark: SparkSession, path: str) -> DataFrame:
    """A table."""
    return spark.read.format("delta").load(path)


def write(rows: DataFrame, path: str, *, is_new: bool) -> None:
    """Append to a table, or replace it."""
    writer = rows.coalesce(1).write.format("delta")
    if is_new:
        writer.mode("overwrite").option("overwriteSchema", "true").save(path)
    else:
        writer.mode("append").save(path)


def shown_columns(frame: DataFrame) -> list[str]:
    """Columns but for those that count batches and builds, whose names begin with `_`."""
    return [one for one in frame.columns if not one.startswith("_") or one in _OF_VERSIONS]


def as_json(frame: DataFrame) -> DataFrame:
    """Each row as a text of JSON, in the column `row`."""
    return frame.selectExpr(f"{json_of(map(quoted, shown_columns(frame)))} as row")


def json_of(columns: Iterable[str]) -> str:
    """SQL of columns as a text of JSON, with all that a type holds."""
    options = ", ".join(text_literal(one) for pair in _JSON.items() for one in pair)
    return f"to_json(struct({', '.join(columns)}), map({options}))"
