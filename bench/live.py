"""Events of topics to bronze at a steady rate: how old they are when they land.

By hand: a streaming query for each topic, `from_json` or `from_avro` with the schemas known
beforehand, appended to Delta back to back. Each way has a broker, a registry and a marketplace of
its own, and one process with the same settings of Spark; what is made while Java warms up does
not count, and the ways follow each other.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from bench.report import Age
from ingest.decode.messages import FROM_KAFKA
from ingest.lake import Lake
from ingest.session import session
from ingest.stack.addresses import kafka_properties, schema_registry_properties
from ingest.stack.stack import Stack
from live.events import TOPICS, Applications, avro_schemas
from live.latency import latencies

_STREAMS = [name.replace(".", "__") for name in TOPICS]
_WAYS: Mapping[str, Sequence[str]] = {
    "by hand": ("-m", "bench.live"),
    "ingest": ("-m", "ingest", "stream", *(f"--select=source:{name}" for name in TOPICS)),
}
_JSON = {
    "live.page_views": "view_id string, page string, duration_ms bigint, viewed_at timestamp",
    "live.positions": "truck_id string, latitude double, longitude double, recorded_at timestamp",
}
# Seconds of p95 that are promised.
_PROMISED = 5.0
# Seconds in which what was made last lands.
_TO_CATCH_UP = 180.0


def measure(work: Path, rate: float, warm_up: float, seconds: float) -> list[Age]:
    """Median, p95 and greatest age of events of each stream when they land, by hand first."""
    found = []
    for way in _WAYS:
        lake = Lake(str(work / f"live-{way.replace(' ', '-')}"))
        stack = Stack(lake)
        stack.up(lambda _: None, only=["kafka", "postgres", "registry"])
        try:
            since = _worked(lake, stack.address("kafka"), way, rate, warm_up, seconds)
        finally:
            stack.down(lambda _: None)
        found += [
            Age(f"{one.what}, {way}", one.median, one.p95, one.most, _PROMISED)
            for one in latencies(Path(lake.root), since)
        ]
    return found


def _worked(
    lake: Lake, broker: str, way: str, rate: float, warm_up: float, seconds: float
) -> float:
    """Let the marketplace work, and wait until all has landed; since when it counts."""
    registry = schema_registry_properties(lake)
    applications = Applications(broker, registry, rate, random.Random(7))
    applications.open()
    closing = threading.Event()
    worker = threading.Thread(target=applications.work, args=(closing,), daemon=True)
    with _landing(lake, way) as process:
        worker.start()
        since = time.time() + warm_up
        closing.wait(warm_up + seconds)
        closing.set()
        worker.join()
        made = applications.acknowledged.total()
        until = time.monotonic() + _TO_CATCH_UP
        while (landed := _landed(lake)) < made:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{way}: {landed:,} of {made:,} events have landed")
            time.sleep(1.0)
    return since


@contextmanager
def _landing(lake: Lake, way: str) -> Iterator[subprocess.Popen[bytes]]:
    environ = {**os.environ, "HEADWATER_LAKE": lake.root, "HEADWATER_LIVE": "true"}
    command = [sys.executable, *_WAYS[way]]
    # What is there to tell is in the result; Spark's own log is in the lake.
    process = subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _landed(lake: Lake) -> int:
    paths = [lake.bronze(name) for name in _STREAMS]
    return sum(DeltaTable(path).count() for path in paths if lake.is_table(path))


def _by_hand(lake: Lake) -> None:
    """Land the topics until the process is ended."""
    spark = session("bench", lake.root)
    for topic in TOPICS:
        messages = (
            spark.readStream.format("kafka")
            .options(**{f"kafka.{name}": value for name, value in kafka_properties(lake).items()})
            .option("subscribe", topic)
            .option("startingOffsets", "earliest")
            .option("includeHeaders", "true")
            .load()
            .selectExpr(*FROM_KAFKA)
        )
        rows = _of_avro(messages) if topic not in _JSON else _of_json(messages, _JSON[topic])
        name = topic.replace(".", "__")
        path = lake.bronze(name)

        def append(batch: DataFrame, number: int, path: str = path) -> None:
            numbered = batch.withColumn("_batch_id", F.lit(number).cast("bigint"))
            # In front, where Delta keeps statistics: by them it is told when a batch was committed.
            rows = numbered.select("_batch_id", *batch.columns)
            rows.write.format("delta").mode("append").save(path)

        checkpoint = str(lake.checkpoint(name))
        rows.writeStream.option("checkpointLocation", checkpoint).foreachBatch(append).start()
    spark.streams.awaitAnyTermination()


def _of_json(messages: DataFrame, schema: str) -> DataFrame:
    row = F.from_json(F.expr("cast(value as string)"), schema)
    return messages.withColumn("row", row).select("*", "row.*").drop("value", "row")


def _of_avro(messages: DataFrame) -> DataFrame:
    """A column for each type of event, and the time that a header has."""
    body = F.expr("substring(value, 6)")
    headers = {
        name: F.expr(f"cast(filter(_headers, one -> one.key = 'ce_{name}')[0].value as string)")
        for name in ("id", "type", "time")
    }
    rows = messages.withColumns({**headers, "time": headers["time"].cast("timestamp")})
    for kind, schema in avro_schemas().items():
        event = F.when(F.col("type") == kind, from_avro(body, json.dumps(schema)))
        rows = rows.withColumn(kind, event)
    return rows.drop("value")


if __name__ == "__main__":
    _by_hand(Lake(os.environ["HEADWATER_LAKE"]))
