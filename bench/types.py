"""Events of 300 types that drift, to bronze with their schemas and a view for each.

By hand: plain Spark with one fixed schema, of the envelope and the attributes that all types
share, on the same bytes; whatever else an event holds is lost. Beside it, by hand with what an
event holds kept whole: its data as VARIANT, or a column for each attribute that any type has, as
Spark infers them beforehand. Same codec, clustering, session and warm-up; the ways take turns,
and medians count.
"""

from __future__ import annotations

import json
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from urllib.parse import urlparse
from urllib.request import url2pathname

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from bench.landing import landed, landing_query
from bench.report import Cost, Ratio, Read
from demo.games import Games
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.event_types.ops_table import registered
from ingest.runtime.progress import ProgressLog, read_totals
from ingest.runtime.stream_query import StreamQuery, Trigger
from ingest.schemas import ingest_columns
from ingest.spark import delta_tables
from ingest.storage.layout import Lake

_FILES, _TYPES = 20, 300
_ENVELOPE = "specversion string, id string, source string, type string, time timestamp, data "
_SHARED = (
    "struct<player_id: bigint, session: string, platform: string, level: bigint, "
    "sent_at: timestamp, is_online: boolean, device: struct<os: string, memory_mb: bigint>>"
)
_BY_HAND = "by hand, one fixed schema"
# Takes so long that it is done once, when nothing else is measured any more.
_EVERY = "by hand, a column for every attribute"


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
    every = spark.read.json(str(landing)).schema["data"].dataType.simpleString()
    ways: dict[str, Callable[[], object]] = {
        _BY_HAND: lambda: _by_hand(spark, landing, table, _SHARED),
        "by hand, data as VARIANT": lambda: _by_hand(spark, landing, table, "variant"),
        "ingest, schemas and views": lambda: landed(spark, _stream(landing), work / "types"),
        "ingest, nothing new": lambda: landed(spark, _stream(again), work / "types-known"),
    }
    for data in (_SHARED, "variant"):
        _by_hand(spark, small, table, data)
        shutil.rmtree(table)
    landed(spark, _stream(small), work / "types-warm-up")
    landed(spark, _stream(landing), work / "types-before")
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name in ("types", "types-known"):
            shutil.rmtree(work / name, ignore_errors=True)
        shutil.copytree(work / "types-before", work / "types-known")
        for name, land in ways.items():
            shutil.rmtree(table, ignore_errors=True)
            seconds[name].append(_seconds(land))
    seconds[_EVERY] = [_seconds(lambda: _by_hand(spark, landing, table, every))]
    found = registered(Lake(str(work / "types")))
    if len(found) != _TYPES or sum(one.events for one in found) != events:
        raise RuntimeError(f"{len(found)} types, {sum(one.events for one in found)} events")
    by_hand = statistics.median(seconds[_BY_HAND])
    return [
        Ratio(
            f"{events:,} events of {_TYPES} types: {name}",
            statistics.median(times),
            by_hand,
            None if name.startswith("by hand") else 0.6,
        )
        for name, times in seconds.items()
    ]


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def reads(spark: SparkSession, work: Path) -> list[Read]:
    """What a question to one type's view reads, once bronze is compacted into 32 files."""
    lake = Lake(str(work / "types"))
    bronze = lake.bronze("games__events")
    size = sum(file.stat().st_size for file in Path(bronze).glob("*.parquet"))
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", size // 32)
    spark.sql(f"optimize delta.`{bronze}` full")
    everything = spark.read.format("delta").load(bronze)
    everything.createOrReplaceTempView("everything")
    sizes = {
        file: Path(url2pathname(urlparse(file).path)).stat().st_size
        for file in everything.inputFiles()
    }
    found = []
    for one in registered(lake)[:: _TYPES // 3]:
        view = spark.sql(one.query.replace(f"from {one.bronze_table}", "from everything"))
        files = view.inputFiles()
        found.append(
            Read(
                f"the view of {one.event_type}, {one.events:,} events",
                len(files),
                len(sizes),
                sum(sizes[file] for file in files) / 1e6,
                sum(sizes.values()) / 1e6,
            )
        )
    return found


def variations(spark: SparkSession, work: Path, rounds: int) -> list[Cost]:
    """Median seconds of a batch that brings nothing new, by how many variations are known.

    Of a stream that runs, so that what was known at its start is not read again.
    """
    few, many = 10, 10_000
    seconds: dict[int, list[float]] = {few: [], many: []}
    again = "".join(_variations(few, 5_000))
    for known, times in seconds.items():
        stream = _Running.of(spark, work, known)
        times += [stream.land(f"{number}.jsonl", again) for number in range(rounds + 2)]
        stream.query.stop()
    # The first batch makes ready what later ones use.
    return [
        Cost(
            f"a batch of 50,000 known events, {known:,} variations known",
            statistics.median(times[2:]),
            at_most=None if known == few else 1.2 * statistics.median(seconds[few][2:]),
        )
        for known, times in seconds.items()
    ]


@dataclass(frozen=True, slots=True)
class _Running:
    """A stream that runs, and where its files are put."""

    query: StreamQuery
    folder: Path
    lake: Lake

    @staticmethod
    def of(spark: SparkSession, work: Path, known: int) -> _Running:
        """One that knows so many variations."""
        folder, lake = work / f"variations-{known}", Lake(str(work / f"known-{known}"))
        folder.mkdir()
        (folder / "known.jsonl").write_text("".join(_variations(known)), encoding="utf-8")
        stream = _stream(folder)
        landed(spark, stream, Path(lake.root))
        log = ProgressLog(lake)
        query = StreamQuery(spark, lake, stream, log, lambda: datetime.now(UTC))
        query.start(Trigger.CONTINUOUS)
        return _Running(query, folder, lake)

    def land(self, file: str, events: str) -> float:
        """Seconds from a file's arrival until its batch is done."""
        before = self._batches()
        (self.folder / file).write_text(events, encoding="utf-8")
        began = time.perf_counter()
        self.query.discover()
        while self._batches() == before:
            time.sleep(0.01)
        return time.perf_counter() - began

    def _batches(self) -> int:
        stream = self.query.stream
        return read_totals(self.lake, stream.name, stream.table).batches


def _variations(count: int, times: int = 1) -> Iterator[str]:
    """Events of 20 types with so many sets of attributes in all, each so many times."""
    for number in range(count):
        names = [f"a{bit}" for bit in range(10) if number // 20 + 1 & 1 << bit]
        event = {
            "specversion": "1.0",
            "id": str(number),
            "source": "bench",
            "type": f"varied.{number % 20}",
            "time": "2026-11-01T12:00:00Z",
            "data": dict.fromkeys(names, number),
        }
        yield from [json.dumps(event) + "\n"] * times


def tables(spark: SparkSession, work: Path, events: int) -> list[Cost]:
    """Seconds to fill the tables of types with what a turn finds, in a warm process.

    By number of types and of events: a turn is a write of each type that has some, and a share
    of the events.
    """
    found = []
    for types in (_TYPES // 10, _TYPES):
        games = Games(seed=types, types=types, known=types, events=6 * events)
        folder, lake = work / f"tables-{types}", work / f"tables-{types}-lake"
        folder.mkdir()
        first = 0
        for turn, new in enumerate((events, events, 4 * events)):
            lines = games.lines(first, first + new)
            (folder / f"{turn}.jsonl").write_text("".join(lines), encoding="utf-8")
            stream = _stream(folder, per_type="tables")
            query = landing_query(spark, stream, str(lake))
            first += new
            began = time.perf_counter()
            errors = query.fill_tables(threading.Event())
            seconds = time.perf_counter() - began
            if errors:
                raise errors[0]
            # The first turn makes the tables, and warms up.
            if turn:
                found.append(Cost(f"a turn of {types} tables, {new:,} new events", seconds))
    return found


def _stream(folder: Path, **told: str) -> Stream:
    declared = {
        "from": "files",
        "path": str(folder),
        "format": "json",
        "envelope": "cloudevents",
        **told,
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


def _by_hand(spark: SparkSession, files: Path, table: Path, data: str) -> None:
    schema = cast(T.StructType, T.StructType.fromDDL(_ENVELOPE + data))
    full = T.StructType([*ingest_columns.INGEST.fields, *schema.fields])
    delta_tables.create_clustered_table(spark, str(table), full, ("_event_date", "_event_type"))
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
