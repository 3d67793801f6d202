"""Events of 300 types that drift, to bronze with their schemas and a view for each.

By hand: plain Spark with one fixed schema, of the envelope and the attributes that all types
share, on the same bytes; whatever else an event holds is lost. Same codec, clustering, session
and warm-up; the ways take turns, and medians count.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from bench.landing import landed
from bench.report import Ratio
from demo.games import Games
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.events.registry import registered
from ingest.lake import Lake
from ingest.tables import columns, delta

_FILES, _TYPES = 20, 300
_SHARED = (
    "specversion string, id string, source string, type string, time timestamp, "
    "data struct<player_id: bigint, session: string, platform: string, level: bigint, "
    "sent_at: timestamp, is_online: boolean, device: struct<os: string, memory_mb: bigint>>"
)


def measure(spark: SparkSession, work: Path, events: int, rounds: int) -> list[Ratio]:
    """Median seconds of each way, by hand first."""
    games = Games(seed=events, types=_TYPES, known=_TYPES // 2, events=events)
    landing, small = work / f"games-{events}", work / f"games-{events}-warm-up"
    again = work / f"games-{events}-again"
    if not landing.exists():
        games.write(landing, _FILES)
        small.mkdir()
        shutil.copy(landing / "00000.jsonl", small)
        shutil.copytree(landing, again)
    table = work / "by-hand-types"
    ways: dict[str, Callable[[], object]] = {
        "by hand, one fixed schema": lambda: _by_hand(spark, landing, table),
        "ingest, schemas and views": lambda: landed(spark, _stream(landing), work / "types"),
        "ingest, nothing new": lambda: landed(spark, _stream(again), work / "types-known"),
    }
    landed(spark, _stream(small), work / "types-warm-up")
    landed(spark, _stream(landing), work / "types-before")
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name in ("by-hand-types", "types", "types-known"):
            shutil.rmtree(work / name, ignore_errors=True)
        shutil.copytree(work / "types-before", work / "types-known")
        for name, land in ways.items():
            began = time.perf_counter()
            land()
            seconds[name].append(time.perf_counter() - began)
    found = registered(Lake(str(work / "types")))
    if len(found) != _TYPES or sum(one.events for one in found) != events:
        raise RuntimeError(f"{len(found)} types, {sum(one.events for one in found)} events")
    by_hand = statistics.median(seconds["by hand, one fixed schema"])
    return [
        Ratio(
            f"{events:,} events of {_TYPES} types: {name}",
            statistics.median(times),
            by_hand,
            None if name.startswith("by hand") else 0.6,
        )
        for name, times in seconds.items()
    ]


def _stream(folder: Path) -> Stream:
    declared = {
        "from": "files",
        "path": str(folder),
        "format": "json",
        "envelope": "cloudevents",
    }
    return read_stream(
        {
            "unique_id": "source.headwater.games.events",
            "original_file_path": "bench/types.py",
            "source_name": "games",
            "name": "events",
            "identifier": "games__events",
            "schema": "bronze",
            "config": {"meta": {"ingest": declared}},
            "columns": {},
        }
    )


def _by_hand(spark: SparkSession, files: Path, table: Path) -> None:
    schema = T.StructType.fromDDL(_SHARED)
    full = T.StructType([*columns.INGEST.fields, *schema.fields])
    delta.create_table(spark, str(table), full, ("_event_date", "_event_type"))
    rows = (
        spark.read.text(str(files))
        .select(F.from_json("value", schema).alias("row"), F.col("_metadata.file_path").alias("p"))
        .select(
            F.current_timestamp().alias("_ingested_at"),
            F.lit(0).cast("bigint").alias("_batch_id"),
            F.col("p").alias("_source"),
            F.to_date("row.time").alias("_event_date"),
            F.col("row.type").alias("_event_type"),
            "row.*",
        )
    )
    rows.write.format("delta").mode("append").save(str(table))
