"""Files to bronze, against the fastest plain Spark for the same files.

By hand: the schema is known beforehand, nothing is inferred, rescued, quarantined or
deduplicated, and a broken line is lost. Same files, columns, codec, clustering, session and
warm-up; the ways take turns, and medians count.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from bench.report import Ratio
from demo.marketplace.day import generate
from demo.marketplace.plan import Plan
from ingest.declarations.project import declared_streams
from ingest.declarations.stream import Stream
from ingest.lake import Lake
from ingest.run.progress import ProgressLog
from ingest.run.query import StreamQuery, Trigger
from ingest.tables import columns, delta

_STREAM = "market.app_events"


def measure(spark: SparkSession, work: Path, events: int, rounds: int) -> list[Ratio]:
    """Median seconds of each way, by hand first."""
    landing = work / f"landing-{events}"
    if not landing.exists():
        generate(Plan(seed=11, events=events), landing, work / f"truth-{events}")
    files = landing / "app_events"
    declared = next(one for one in declared_streams() if one.name == _STREAM)
    stream = replace(declared, files=replace(declared.files, path=str(files), dated_folders=None))
    once = replace(stream, identity=replace(stream.identity, deduplicate_within=None))
    schema = columns.record_schema(_landed_schema(spark, work, once))
    ways: dict[str, Callable[[], object]] = {
        "by hand": lambda: _by_hand(spark, files, schema, work / "by-hand"),
        "ingest, without deduplication": lambda: _ingest(spark, once, work / "once"),
        "ingest": lambda: _ingest(spark, stream, work / "deduplicated"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - began)
    by_hand = statistics.median(seconds["by hand"])
    return [
        Ratio(f"{events:,} events to bronze: {name}", statistics.median(taken), by_hand, least)
        for (name, taken), least in zip(seconds.items(), (None, 0.75, 0.5), strict=True)
    ]


def _landed_schema(spark: SparkSession, work: Path, stream: Stream) -> T.StructType:
    """What ingest makes of the files: the schema that is known beforehand by hand."""
    return _ingest(spark, stream, work / "warm-up")


def _ingest(spark: SparkSession, stream: Stream, lake_folder: Path) -> T.StructType:
    shutil.rmtree(lake_folder, ignore_errors=True)
    lake = Lake(str(lake_folder))
    query = StreamQuery(spark, lake, stream, ProgressLog(spark, lake), lambda: datetime.now(UTC))
    query.discover()
    query.start(Trigger.AVAILABLE_NOW)
    query.wait()
    if query.error:
        raise query.error
    return spark.read.format("delta").load(lake.bronze(stream.table)).schema


def _by_hand(spark: SparkSession, files: Path, schema: T.StructType, table: Path) -> None:
    shutil.rmtree(table, ignore_errors=True)
    full = T.StructType([*columns.INGEST.fields, *schema.fields])
    delta.create_table(spark, str(table), full, ("_event_date", "_event_type"))
    rows = (
        spark.read.schema(schema)
        .json(str(files))
        .select(
            F.current_timestamp().alias("_ingested_at"),
            F.lit(0).cast("bigint").alias("_batch_id"),
            F.col("_metadata.file_path").alias("_source"),
            F.to_date("timestamp").alias("_event_date"),
            F.col("jsonPayload.event_type").alias("_event_type"),
            *schema.fieldNames(),
        )
    )
    rows.write.format("delta").mode("append").save(str(table))
