"""Messages of Kafka without a broker, and what lands them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from ingest.arrow_files.writer import ArrowWriter
from ingest.event_types.catalog import EventTypes
from ingest.landing.batch import BatchProcessor
from ingest.landing.writers import Writers
from ingest.schemas import ingest_columns
from ingest.schemas.column_comments import Comments
from ingest.schemas.evolution import declared_schema
from ingest.schemas.stream_schema import StreamSchema
from ingest.spark import delta_tables
from tests.spark.workshop import Workshop, node

NOW = datetime(2026, 3, 1, 23, 59, 59, 123456, UTC)
SENT = "timestamp'2026-03-01T10:00:00.000456Z'"
KINDS = {
    "id": "bigint",
    "name": "string",
    "at": "timestamp",
    "small": "smallint",
    "day": "date",
    "amount": "decimal(12,2)",
    "size": "double",
    "is_new": "boolean",
    "numbers": "array<int>",
    "inner": "struct<when: timestamp, deep: struct<count: int>>",
    "by_name": "map<string, decimal(4,1)>",
    "any": "variant",
    "many": "array<variant>",
}


def writers_of(
    spark: SparkSession, path: str, stream: str, stream_run: str, *, by_spark: bool = False
) -> Writers:
    """The writers of a table: with the arrow writer, or Spark's alone, whatever the setting."""
    writers = Writers.of(spark, path, stream, stream_run)
    return replace(writers, quicker=[] if by_spark else [ArrowWriter(spark, writers.commits)])


def landing_of(
    workshop: Workshop, name: str, *, by_spark: bool = False, **ingest: Any
) -> BatchProcessor:
    """What lands messages of a stream."""
    declared = {"from": "kafka", "topic": name, "format": "json", "key": ["id"], **ingest}
    stream = workshop.declare(name, node(f"test.{name}", declared, KINDS))
    lake, spark = workshop.lake, workshop.spark
    bronze = T.StructType([*ingest_columns.INGEST.fields, *declared_schema(stream.columns).fields])
    clusters = ("_event_date", "_event_type")
    delta_tables.create_clustered_table(spark, lake.bronze(stream.table), bronze, clusters)
    delta_tables.create_table(lake.bronze(stream.quarantine_table), ingest_columns.QUARANTINE)
    schema = StreamSchema(spark, lake, stream, name)
    writers = writers_of(spark, lake.bronze(stream.table), stream.name, name, by_spark=by_spark)
    landing = BatchProcessor(
        spark=spark,
        lake=lake,
        stream=stream,
        schema=schema,
        comments=Comments(lake.bronze(stream.table), stream),
        writers=writers,
        types=EventTypes(spark, lake, stream, name),
        writer_schemas=None,
        requeue=None,
        stream_run=name,
        first_batch_id=0,
        clock=lambda: NOW,
    )
    schema.load(2**62)
    landing.types.load(2**62, schema.columns)
    return landing


def messages(workshop: Workshop, values: Sequence[Any], start: int = 0) -> DataFrame:
    """Messages of Kafka, in two partitions."""
    rows = [
        (number % 2, start + number, None if one is None else json.dumps(one))
        for number, one in enumerate(values)
    ]
    sent = workshop.spark.createDataFrame(rows, "_partition int, _offset long, value string")
    return sent.repartition(2, "_partition").selectExpr(
        "'a.topic' as _source",
        "_partition",
        "_offset",
        "cast(concat('key', _offset) as binary) as _key",
        "if(_offset % 3 = 0, array(struct('h' as key, cast('v' as binary) as value)), null) "
        "as _headers",
        f"{SENT} as _timestamp",
        "cast(value as binary) as value",
    )
