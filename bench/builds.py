"""`dbt build` in one warm process: nothing new, 1 % new, and the same on ten times the history.

One day of the marketplace is landed by `ingest`. Further days are that day again, with other
keys and later times, appended to bronze as `ingest` does. One thread, so that a model's seconds
are its own; medians count. dbt-spark's own materialization is had by forgetting which text built
a table: it merges its input, though that is empty.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from bench import stock_dbt
from bench.report import Cost
from demo.marketplace.day import generate
from demo.marketplace.plan import Plan
from ingest.stack.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
DAYS = 10
# A day's keys end below this.
KEYS = 10_000_000
# Names of events and visits, which a copy must not share with its day.
NAMES = ("insertId", "session_id")

# Of each node: its materialization, seconds and Spark jobs.
Measured = dict[str, tuple[str, float, int]]


def measure(work: Path, events: int, rounds: int) -> list[Cost]:
    """Land a day, then build in a process of its own: Spark starts with the settings of dbt."""
    places = {"HEADWATER_LAKE": work / "builds" / "lake", "HEADWATER_LANDING": work / "day"}
    generate(Plan(seed=11, events=events), work / "day", work / "truth")
    environ = os.environ | {name: str(path) for name, path in places.items()}

    def run(*command: str) -> float:
        began = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=environ, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    run(sys.executable, "-m", "ingest", "run")
    found = work / "builds.json"
    run(sys.executable, "-m", "bench.builds", str(found), str(rounds))
    costs = [Cost(**cost) for cost in json.loads(found.read_text())]
    build = [str(Path(sys.executable).with_name("dbt")), "build"]
    build += ["--target-path", str(work / "builds" / "target")]
    fresh = run(*build)
    one = list(_one_model(work, rounds, run))
    with _serving(work / "builds", environ) as port:
        environ["HEADWATER_SQL_PORT"] = str(port)
        served = run(*build, "--target", "server")
    return [
        *costs,
        Cost("nothing new, a process from its start, with all tests", fresh),
        Cost("the same with target server", served, at_most=1.5 * fresh),
        *one,
    ]


def _one_model(work: Path, rounds: int, run: Callable[..., float]) -> Iterator[Cost]:
    """`dbt run` of one model without new rows, beside dbt-spark as it comes; taken in turns."""
    folder = stock_dbt.written(work / "builds" / "stock")
    target = ("--target-path", str(work / "builds" / "target"))
    ours = [str(Path(sys.executable).with_name("dbt")), "run", "-s", "page_view_events", *target]
    stock = [sys.executable, "-m", "bench.stock_dbt", "run", "-s", stock_dbt.MODEL]
    stock += ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    run(*stock)
    seconds = [(run(*stock), run(*ours)) for _ in range(rounds)]
    as_it_comes = statistics.median(one for one, _ in seconds)
    yield Cost("dbt-spark as it comes: `dbt run -s` of one model", as_it_comes)
    mine = statistics.median(one for _, one in seconds)
    yield Cost("the same here", mine, at_most=1.1 * as_it_comes)


@contextmanager
def _serving(folder: Path, environ: dict[str, str]) -> Iterator[int]:
    """`ingest serve` on the same tables, once its first pass is over; the endpoint's port."""
    port, log = free_port(()), folder / "serve.log"
    command = [sys.executable, "-m", "ingest", "serve", "--sql", str(port)]
    with log.open("wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=file, stderr=file)
    try:
        while not re.search(r"dbt: \d+ of \d+ models", log.read_text("utf-8")):
            if process.poll() is not None:
                raise RuntimeError(f"ingest serve has ended; see {log}")
            time.sleep(1.0)
        yield port
    finally:
        process.terminate()
        process.wait()


class Builds:
    """A lake with a day in bronze, what its builds cost, and more days."""

    def __init__(self, lake: Path) -> None:
        from dbt.cli.main import dbtRunner

        self.lake = lake
        self.runner = dbtRunner(callbacks=[self._count])
        self.jobs: dict[str, int] = {}
        # Newest batch of the day, and newest of all, of each table.
        self.landed: dict[str, int] = {}
        self.newest: dict[str, int] = {}

    @property
    def spark(self) -> SparkSession:
        """The session that dbt has started."""
        return SparkSession.builder.getOrCreate()

    def build(self, *arguments: str) -> Measured:
        """One build; of each node its seconds and jobs."""
        self.jobs.clear()
        target = str(self.lake.parent / "target")
        quiet = ("--quiet", "--log-level", "none", "--target-path", target)
        answer = self.runner.invoke(["build", "--threads", "1", *quiet, *arguments])
        if not answer.success:
            raise RuntimeError(answer.exception or answer.result)
        results: Any = answer.result
        return {
            node.unique_id: (
                str(node.config.materialized),
                result.execution_time,
                self.jobs.get(node.unique_id, 0),
            )
            for result in results
            if (node := result.node).resource_type in ("model", "seed", "test")
        }

    def models(self) -> Measured:
        """One build without tests."""
        return self.build("--exclude-resource-type", "test", "unit_test")

    def land(self, days: Iterable[int], sample: int | None = None) -> None:
        """Append copies of the landed day, whole or a hundredth of each."""
        for folder in sorted((self.lake / "bronze").glob("*__*")):
            rows = self.spark.read.format("delta").load(str(folder))
            if folder.name.endswith("__quarantine"):
                continue
            if folder.name not in self.landed:
                newest = rows.agg(F.max("_batch_id")).collect()[0][0]
                self.landed[folder.name] = self.newest[folder.name] = newest
            rows = rows.where(F.col("_batch_id") <= self.landed[folder.name])
            if sample is not None:
                plain = [name for name, kind in rows.dtypes if kind in ("string", "bigint")]
                rows = rows.where(F.pmod(F.xxhash64(*plain), F.lit(100)) == sample)
            for day in days:
                self.newest[folder.name] += 1
                copy = copied(rows, day).withColumn(
                    "_batch_id", F.lit(self.newest[folder.name]).cast("bigint")
                )
                copy.write.format("delta").mode("append").save(str(folder))

    def _count(self, event: Any) -> None:
        """Count the jobs between the begin of a node and its end."""
        if event.info.name in ("NodeStart", "NodeFinished"):
            node = event.data.node_info.unique_id
            jobs = self.spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs()
            self.jobs[node] = jobs - self.jobs.get(node, 0)


def copied(rows: DataFrame, day: int) -> DataFrame:
    """The rows of another day: keys of its own, and later times."""
    return rows.select(
        *(_copied(F.col(field.name), field, day).alias(field.name) for field in rows.schema.fields)
    )


def _copied(value: Column, field: T.StructField, day: int) -> Column:
    if isinstance(field.dataType, T.StructType):
        inner = [
            _copied(value[one.name], one, day).alias(one.name) for one in field.dataType.fields
        ]
        return F.when(value.isNotNull(), F.struct(*inner))
    if isinstance(field.dataType, T.TimestampType | T.DateType):
        later = value + F.expr(f"interval {day} days")
        return later.cast(field.dataType)
    if isinstance(field.dataType, T.LongType) and re.fullmatch(r"[a-z]+_id", field.name):
        return value + F.lit(day * KEYS)
    if field.name in NAMES:
        return F.concat(value, F.lit(f"-{day}"))
    return value


def medians(builds: Iterable[Measured]) -> Measured:
    """Of each node, the median of its seconds and of its jobs."""
    found: dict[str, list[tuple[str, float, int]]] = defaultdict(list)
    for build in builds:
        for node, one in build.items():
            found[node].append(one)
    return {
        node: (
            many[0][0],
            statistics.median(seconds for _, seconds, _ in many),
            int(statistics.median(jobs for _, _, jobs in many)),
        )
        for node, many in found.items()
    }


def costs_of(
    what: str, measured: Measured, promised: dict[str, float], *only: str
) -> Iterable[Cost]:
    """Of each materialization the median and the slowest node, which the promise is about."""
    kinds: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for kind, seconds, jobs in measured.values():
        if not only or kind in only:
            kinds[kind].append((seconds, jobs))
    for kind, found in sorted(kinds.items()):
        middle = statistics.median(seconds for seconds, _ in found)
        slowest, jobs = max(found)
        yield Cost(f"{what}: {kind}, median of {len(found)}", middle)
        yield Cost(f"{what}: {kind}, slowest", slowest, jobs, promised.get(kind))


def with_news(builds: Builds, day: int, rounds: int) -> list[Measured]:
    """Builds after a hundredth of a day has landed, each another one; the first is no measure."""
    found = []
    for sample in range(rounds + 1):
        builds.land([day], sample)
        found.append(builds.models())
    return found[1:]


def total(measured: Measured, kind: str = "incremental") -> float:
    """Seconds of all nodes of a materialization."""
    return sum(seconds for its_kind, seconds, _ in measured.values() if its_kind == kind)


def main(found: Path, rounds: int) -> None:
    """Build the lake of the environment again and again; write the costs."""
    builds = Builds(Path(os.environ["HEADWATER_LAKE"]))
    builds.models()
    nothing = medians([builds.models() for _ in range(rounds + 1)][1:])
    tests = {node: one for node, one in builds.build().items() if one[0] == "test"}
    unknown = "update ops.model_marks set code = null"
    stock = []
    for _ in range(2):
        builds.spark.sql(unknown)
        stock.append(builds.models())
    costs = [
        *costs_of("nothing new", nothing, {"view": 0.15, "incremental": 0.15}),
        *costs_of("all tests", tests, {}),
        *costs_of("an empty input merged, as dbt-spark does", stock[1], {}, "incremental"),
    ]

    one = medians(with_news(builds, 1, rounds))
    builds.land(range(2, DAYS + 1))
    builds.models()
    ten = medians(with_news(builds, DAYS + 1, rounds))
    costs += [
        Cost("a hundredth of a day is new: incremental models, together", total(one)),
        Cost(f"the same after {DAYS} days", total(ten), at_most=1.3 * total(one)),
    ]
    found.write_text(json.dumps([asdict(cost) for cost in costs]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
