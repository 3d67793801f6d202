"""What a marketplace makes at a steady rate: how old it is when it lands, and when models have it.

First events of topics alone, then all that `make live` plays: a database, too, a table that is
kept and three models. Each way has a stack and a marketplace of its own, and one process with the
same settings of Spark and Java; what is made while Java warms up does not count, and the ways
follow each other. What is done by hand is in `bench.marketplace`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from deltalake import DeltaTable

from bench.marketplace import WITH_DATABASE
from bench.report import Load
from ingest.client_properties import schema_registry_properties
from ingest.stack.postgres import address
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake
from live.events import TOPICS, Applications
from live.latency import is_up_to_date, latencies
from live.shop import Shop
from live.truth import has_read_all, is_confirmed, is_followed, position_of
from live.usage import Usage

_STREAMS = [name.replace(".", "__") for name in TOPICS]
_TABLES = ("live__customers", "live__orders")
# Seconds of p95 that are promised, by where a row comes to; of the whole graph none are.
_PROMISED = {"to bronze": 5.0, "to model": 60.0}
# Seconds between two looks at memory.
_LOOK_EVERY = 5.0
# Seconds in which a database is followed, and in which what was made last lands.
_TO_FOLLOW, _TO_CATCH_UP = 180.0, 600.0


@dataclass(frozen=True, slots=True)
class _Way:
    """A process that lands; `has_database`: tables, a kept one and models, too."""

    name: str
    command: Sequence[str]
    has_database: bool = False


_WAYS = (
    _Way("by hand", ("-m", "bench.marketplace")),
    _Way("ingest", ("-m", "ingest", "stream", *(f"--select=source:{name}" for name in TOPICS))),
    _Way("all by hand", ("-m", "bench.marketplace", WITH_DATABASE), has_database=True),
    _Way(
        "all",
        ("-m", "ingest", "serve", "--streams", "source:live.*", "--build", "source:live.*+"),
        has_database=True,
    ),
)


def measure(work: Path, rate: float, changes: float, warm_up: float, seconds: float) -> list[Load]:
    """How old what was made became on its way to each stream and model, by hand first."""
    found = []
    for way in _WAYS:
        lake = Lake(str(work / f"live-{way.name.replace(' ', '-')}"))
        stack = Stack(lake)
        parts = stack.by_default if way.has_database else ["kafka", "postgres", "registry"]
        stack.up(lambda _: None, only=parts)
        try:
            found.append(_worked(stack, lake, way, (rate, changes), warm_up, seconds))
        finally:
            stack.down(lambda _: None)
    return found


def _worked(
    stack: Stack,
    lake: Lake,
    way: _Way,
    rates: tuple[float, float],
    warm_up: float,
    seconds: float,
) -> Load:
    """Let the marketplace work, and wait until all has landed."""
    broker, registry = stack.address("kafka"), schema_registry_properties(lake)
    applications = Applications(broker, registry, rates[0], random.Random(7))
    shop: Shop | None = None
    database = address(int(stack.address("postgres").rpartition(":")[2]))
    if way.has_database:
        shop = Shop(database, rates[1], random.Random(7))
    at_work: list[Applications | Shop] = [applications, *([shop] if shop else [])]
    for one in at_work:
        one.open()
    closing = threading.Event()
    workers = [threading.Thread(target=one.work, args=(closing,), daemon=True) for one in at_work]
    with _landing(lake, way) as process:
        if way.has_database:
            _wait(way, process, _TO_FOLLOW, lambda: is_followed(database))
        processes = {one.service: one.pid for one in stack.status() if one.pid}
        processes |= {"the pipeline": process.pid, "the marketplace": os.getpid()}
        usage = Usage()
        for worker in workers:
            worker.start()
        began = time.time()
        since = began + warm_up
        while time.time() < since + seconds and process.poll() is None:
            closing.wait(_LOOK_EVERY)
            usage.look(processes)
        took = time.time() - began
        closing.set()
        for worker in workers:
            worker.join()
        made = applications.acknowledged.total()
        _wait(way, process, _TO_CATCH_UP, lambda: _landed(lake) >= made)
        if way.has_database:
            position = position_of(database)
            with psycopg.connect(database) as connection:
                # Somewhere to come to behind the last change: who reads the log tells no other.
                connection.execute("select pg_logical_emit_message(true, 'bench', 'mark')")
            _wait(way, process, _TO_CATCH_UP, lambda: _is_built(lake, broker, database, position))
    memory = sum(usage.memory.values())
    made_of = made / took, (shop.changes if shop else 0) / took
    return Load(way.name, made_of, memory, list(latencies(lake.root, since)), _PROMISED)


def _wait(
    way: _Way, process: subprocess.Popen[bytes], seconds: float, is_done: Callable[[], bool]
) -> None:
    until = time.monotonic() + seconds
    while not is_done():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{way.name} has ended, or does not keep up; see its process.log")
        time.sleep(1.0)


@contextmanager
def _landing(lake: Lake, way: _Way) -> Iterator[subprocess.Popen[bytes]]:
    environ = {**os.environ, "HEADWATER_LAKE": lake.root, "HEADWATER_LIVE": "true"}
    command = [sys.executable, *way.command]
    with Path(lake.root, "process.log").open("wb") as log:
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


def _landed(lake: Lake) -> int:
    paths = [lake.bronze(name) for name in _STREAMS]
    return sum(DeltaTable(path).count() for path in paths if lake.is_table(path))


def _is_built(lake: Lake, broker: str, database: str, position: str) -> bool:
    """Whether all changes have landed, and models have all that has."""
    models = ("silver.live_orders_current", "gold.agg_live_page_views_minutely")
    return (
        is_confirmed(database, position)
        and all(has_read_all(lake, broker, table) for table in _TABLES)
        and all(is_up_to_date(lake.root, model) for model in models)
    )
