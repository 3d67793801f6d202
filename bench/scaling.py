"""What grows: executors; the next batch behind a longer history, here and in a bucket; listings.

The same events land again and again, as files of other names, without deduplication. Each measure
is a run of its own, from the start of its query to its end, in a session that is there. Sessions
have processes of their own: a JVM keeps its class path, and settings of the session before.
"""

from __future__ import annotations

import os
import statistics
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from bench import landing
from bench.report import Cost, Memory
from demo import cluster
from ingest.declarations.stream import FileSource, Stream
from ingest.spark.session import session, stop
from ingest.stack import s3
from ingest.stack.spark import WORKERS
from ingest.stack.stack import Stack
from ingest.storage import files
from ingest.storage.layout import Lake, storage_at
from tests.objects.proxy import Proxy, pages

T = TypeVar("T")

# Batches that a table has had.
HISTORIES = (1, 10, 100)
# Names in a folder.
NAMES = (10_000, 100_000, 1_000_000)
# Files that a batch of the cluster has: each is a task.
_FILES = 8
_BUCKET = f"s3a://{s3.BUCKET}"


def growth(work: Path, events: int, rounds: int) -> list[Cost]:
    """Median seconds of the next batch, by place and by how many batches there were."""
    declared = landing.without_deduplication(landing.stream_of_day(work, events))
    assert isinstance(declared.source, FileSource)
    day = b"".join(
        path.read_bytes() for path in sorted(Path(declared.source.path).rglob("*.jsonl"))
    )
    stack = Stack(Lake(str(work / "s3")))
    stack.up(print, only=["s3"])
    try:
        os.environ.update(s3.environment(int(stack.address("s3").rpartition(":")[2])))
        return [
            *_apart(_grown, "this machine", str(work / "here"), declared, day, rounds),
            *_apart(_grown, "S3", _BUCKET, declared, day, rounds),
        ]
    finally:
        stack.down(print)


def executors(work: Path, events: int, rounds: int) -> list[Cost]:
    """Median seconds of a batch of a Spark cluster of one executor of one core, and of two.

    The driver, the S3 server and the executors share this machine's cores.
    """
    declared = landing.without_deduplication(landing.stream_of_day(work, events))
    assert isinstance(declared.source, FileSource)
    lines = [
        line
        for path in sorted(Path(declared.source.path).rglob("*.jsonl"))
        for line in path.read_bytes().splitlines(keepends=True)
    ]
    stack = Stack(Lake(str(work / "cluster")))
    found = []
    try:
        cluster.start(stack, print)
        for count in range(1, len(WORKERS) + 1):
            settings = {**cluster.conf(stack), "spark.cores.max": str(count)}
            file = work / "spark.conf"
            file.write_text("".join(f"{one} {value}\n" for one, value in settings.items()), "utf-8")
            os.environ["HEADWATER_SPARK_CONF"] = str(file)
            root = f"{_BUCKET}/executors-{count}"
            seconds = _apart(_landed_by_all, root, declared, lines, rounds)
            told = f"{len(lines) / seconds:,.0f} records a second"
            found.append(Cost(f"{count} executors of one core: {told}", seconds))
        return found
    finally:
        os.environ.pop("HEADWATER_SPARK_CONF", None)
        stack.down(print)


def _apart(work: Callable[..., T], *arguments: object) -> T:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _landed_by_all(root: str, declared: Stream, lines: list[bytes], rounds: int) -> float:
    """Median seconds of a batch of lines in some files; the first batch is not counted."""
    folder = f"{root}/landing"
    stream, seconds = replace(declared, source=FileSource(path=folder)), []
    spark = session("bench", f"{root}/lake")
    try:
        for number in range(rounds + 1):
            for part in range(_FILES):
                name = f"{number:02}-{part}.jsonl"
                storage_at(folder).put(name, b"".join(lines[part::_FILES]))
            began = time.perf_counter()
            landing.landing_query(spark, stream, f"{root}/lake")
            seconds.append(time.perf_counter() - began)
    finally:
        stop(spark)
    return statistics.median(seconds[1:])


def _grown(place: str, root: str, declared: Stream, day: bytes, rounds: int) -> list[Cost]:
    lake, folder = f"{root}/lake", f"{root}/landing"
    stream = replace(declared, source=FileSource(path=folder, max_files_per_trigger=1))
    spark = session("bench", lake)
    there, costs = 0, []

    def put(count: int) -> None:
        nonlocal there
        for _ in range(count):
            storage_at(folder).put(f"part-{there:05}.jsonl", day)
            there += 1

    try:
        for history in HISTORIES:
            put(history - there)
            landing.landing_query(spark, stream, lake)
            seconds = []
            for _ in range(rounds):
                put(1)
                began = time.perf_counter()
                landing.landing_query(spark, stream, lake)
                seconds.append(time.perf_counter() - began)
            costs.append(Cost(f"{place}: a batch behind {history}", statistics.median(seconds)))
    finally:
        stop(spark)
    return costs


def listings() -> tuple[list[Cost], list[Memory]]:
    """Seconds and memory to go through the names of a folder in a bucket.

    Its server is one that only gives names, so the costs are those of `ingest`.
    """
    costs, memory = [], []
    for count in NAMES:
        with Proxy(0) as server:
            server.answers = pages(count)
            os.environ.update(s3.environment(0), AWS_ENDPOINT_URL=server.url)
            began = time.perf_counter()
            _go_through(count)
            seconds = time.perf_counter() - began
            requests = len(server.requests)
            costs.append(Cost(f"{count:,} names, {requests:,} requests", seconds))
            # To count memory takes time, so it is another look.
            tracemalloc.start()
            _go_through(count)
            memory.append(Memory(f"{count:,} names", tracemalloc.get_traced_memory()[1] / 2**20))
            tracemalloc.stop()
    return costs, memory


def _go_through(count: int) -> None:
    found = sum(1 for _ in files.walk(f"{_BUCKET}/names", ()))
    if found != count:
        raise RuntimeError(f"{found} of {count} names")
