"""Files to bronze, against the fastest plain Spark for the same files.

By hand: the schema is known beforehand, nothing is inferred, rescued, quarantined or
deduplicated, and a broken line is lost. Same files, columns, codec, clustering, session and
warm-up; both write to a table that is there, which of `ingest` has landed a hundredth of such
a day; the ways take turns, and medians count. What a stream's very first batch costs, which
makes the tables, is told beside it.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from bench.report import Memory, Ratio
from demo.marketplace.day import generate
from demo.marketplace.plan import Plan
from ingest.declarations.project import declared_streams
from ingest.declarations.stream import FileSource, Stream
from ingest.runtime.progress import ProgressLog
from ingest.runtime.stream_query import StreamQuery, Trigger
from ingest.schemas import ingest_columns
from ingest.spark import delta_tables
from ingest.storage.layout import Lake

_STREAM = "market.app_events"


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to land the files; `prepare` is not measured. `least` is the promised speed."""

    name: str
    prepare: Callable[[], object]
    land: Callable[[], object]
    least: float | None = None


def measure(spark: SparkSession, work: Path, events: int, rounds: int) -> list[Ratio]:
    """Median seconds of each way, by hand first."""
    stream, small = stream_of_day(work, events), stream_of_day(work, events // 100)
    once, small_once = without_deduplication(stream), without_deduplication(small)
    schema = ingest_columns.record_schema(landed(spark, once, work / "warm-up"))
    before, before_once = work / "before", work / "before-once"
    for folder, first in ((before, small), (before_once, small_once)):
        _removed(folder)
        landed(spark, first, folder)
    files, table = _files(work, events), work / "by-hand"
    ways = [
        _Way(
            "by hand",
            lambda: _make_table(spark, schema, _removed(table)),
            lambda: _by_hand(spark, files, schema, table),
        ),
        _Way(
            "ingest, without deduplication",
            lambda: shutil.copytree(before_once, _removed(work / "once")),
            lambda: landed(spark, once, work / "once"),
            0.75,
        ),
        _Way(
            "ingest",
            lambda: shutil.copytree(before, _removed(work / "deduplicated")),
            lambda: landed(spark, stream, work / "deduplicated"),
            0.5,
        ),
        _Way(
            "ingest, into a new lake",
            lambda: _removed(work / "new"),
            lambda: landed(spark, stream, work / "new"),
        ),
    ]
    seconds: dict[str, list[float]] = {way.name: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            way.prepare()
            began = time.perf_counter()
            way.land()
            seconds[way.name].append(time.perf_counter() - began)
    by_hand = statistics.median(seconds["by hand"])
    return [
        Ratio(
            f"{events:,} events to bronze: {way.name}",
            statistics.median(seconds[way.name]),
            by_hand,
            way.least,
        )
        for way in ways
    ]


def memory(spark: SparkSession, work: Path, events: int) -> list[Memory]:
    """The driver's live heap after a tenth of the events has landed, and after all of them."""
    found = []
    for count in (events // 10, events):
        landed(spark, stream_of_day(work, count), _removed(work / "memory"))
        jvm: Any = spark._jvm
        runtime = jvm.java.lang.Runtime.getRuntime()
        # Spark gives back what broadcasts and caches held some time after a collection.
        for _ in range(3):
            runtime.gc()
            time.sleep(2)
        runtime.gc()
        live = (runtime.totalMemory() - runtime.freeMemory()) / 2**20
        found.append(Memory(f"driver's heap after {count:,} events", live))
    return found


def stream_of_day(work: Path, events: int) -> Stream:
    """The declared stream, on the files of a day of so many events."""
    landing = work / f"landing-{events}"
    if not landing.exists():
        generate(Plan(seed=events, events=events), landing, work / f"truth-{events}")
    declared = next(one for one in declared_streams() if one.name == _STREAM)
    return replace(declared, source=FileSource(path=str(_files(work, events))))


def _files(work: Path, events: int) -> Path:
    return work / f"landing-{events}" / "app_events"


def without_deduplication(stream: Stream) -> Stream:
    """The stream as one that lands each event as often as it comes."""
    return replace(stream, identity=replace(stream.identity, deduplicate_within=None))


def _removed(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def landed(spark: SparkSession, stream: Stream, folder: Path) -> T.StructType:
    """Land what is new; the columns of the table, as it is then."""
    landing_query(spark, stream, str(folder))
    return delta_tables.table_schema(spark, Lake(str(folder)).bronze(stream.table))


def landing_query(spark: SparkSession, stream: Stream, root: str) -> StreamQuery:
    """Land what is new in the lake at `root`; the query that did."""
    lake = Lake(root)
    query = StreamQuery(spark, lake, stream, ProgressLog(lake), lambda: datetime.now(UTC))
    query.discover()
    query.start(Trigger.AVAILABLE_NOW)
    query.wait()
    if query.error:
        raise query.error
    return query


def _make_table(spark: SparkSession, schema: T.StructType, table: Path) -> None:
    full = T.StructType([*ingest_columns.INGEST.fields, *schema.fields])
    delta_tables.create_clustered_table(spark, str(table), full, ("_event_date", "_event_type"))


def _by_hand(spark: SparkSession, files: Path, schema: T.StructType, table: Path) -> None:
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
