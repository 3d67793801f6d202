"""Parts of a stream's query: its source, its tables, and what knows of its messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, assert_never

from ingest.client_properties import schema_registry_properties
from ingest.declarations.stream import FileSource, KafkaSource, Stream
from ingest.decoders.writer_schemas import WriterSchemas
from ingest.quarantine.requeue import Requeue
from ingest.registry.client import SchemaRegistry
from ingest.schemas import ingest_columns
from ingest.schemas.stream_schema import StreamSchema
from ingest.sources.file_source import FileStreamSource
from ingest.sources.kafka_source import KafkaStreamSource
from ingest.sources.stream_source import StreamSource
from ingest.spark import delta_tables
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def writers_of(spark: SparkSession, lake: Lake, stream: Stream) -> WriterSchemas | None:
    """What knows the schemas of a stream's messages, where they name them."""
    if not stream.has_writer_schemas:
        return None
    registry = SchemaRegistry(schema_registry_properties(lake))
    if not stream.is_plain_avro:
        return WriterSchemas(spark, registry, are_columns=False)
    return WriterSchemas(
        spark,
        registry,
        are_columns=True,
        subject=stream.subject,
        declared=stream.avro.schema,
    )


def parked_of(
    spark: SparkSession,
    lake: Lake,
    stream: Stream,
    schema: StreamSchema,
    writers: WriterSchemas | None,
) -> Requeue | None:
    """Messages in quarantine that may land; where values are masked, their bytes are not kept."""
    if not stream.has_messages or stream.masks:
        return None
    path, asked = lake.bronze(stream.quarantine_table), lake.released(stream.table)
    return Requeue(spark, path, lake.storage, asked, schema, writers)


def source_of(
    spark: SparkSession, lake: Lake, stream: Stream, clock: Callable[[], datetime]
) -> StreamSource:
    """The source of a stream."""
    match source := stream.source:
        case KafkaSource():
            return KafkaStreamSource(spark, lake, stream, source)
        case FileSource():
            return FileStreamSource(spark, lake, stream, source, clock)
        case _:
            assert_never(source)


def make_tables(spark: SparkSession, lake: Lake, stream: Stream) -> None:
    """Bronze and quarantine of a stream, where they are not there."""
    from pyspark.sql.types import StructType

    from ingest.schemas.evolution import declared_schema

    bronze, quarantine = lake.bronze(stream.table), lake.bronze(stream.quarantine_table)
    if not lake.is_table(bronze):
        declared = declared_schema(stream.columns)
        full = StructType([*ingest_columns.INGEST.fields, *declared.fields])
        delta_tables.create_clustered_table(spark, bronze, full, ("_event_date", "_event_type"))
    if not lake.is_table(quarantine):
        delta_tables.create_table(quarantine, ingest_columns.QUARANTINE)
