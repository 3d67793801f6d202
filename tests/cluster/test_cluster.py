"""Streams on a Spark cluster, with lake and landing folder on S3: as everywhere."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from demo.cluster import conf, start
from demo.lake import Lake, put_files
from demo.marketplace.day import generate
from demo.marketplace.plan import Plan
from ingest.stack import s3
from ingest.stack.spark import WORKERS
from ingest.stack.stack import Stack
from ingest.storage import layout
from tests import killed_drivers
from tests.build.lake import ROOT
from tests.waiting import wait_until

LAKE, LANDING = f"s3a://{s3.BUCKET}/lake", f"s3a://{s3.BUCKET}/landing"
STREAM, TABLE = "fleet.positions", "bronze.fleet__positions"


@dataclass(frozen=True)
class Cluster:
    """A master and a worker, and an S3 server."""

    stack: Stack
    environ: Mapping[str, str]

    def ingest(self, *arguments: str, failpoint: str = "") -> subprocess.Popen[str]:
        """A command of a driver, which is killed at a step of a batch if one is named."""
        return subprocess.Popen(
            [sys.executable, "-m", "ingest", *arguments],
            cwd=ROOT,
            env={**self.environ, "HEADWATER_FAILPOINT": failpoint},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def kill_worker(self) -> None:
        """Kill the worker and the executors on it."""
        (worker,) = (one for one in self.stack.status() if one.service == WORKERS[0])
        assert worker.pid
        os.kill(worker.pid, signal.SIGKILL)
        applications = Path(worker.folder, "work")
        for process in Path("/proc").glob("[0-9]*"):
            try:
                is_there = (process / "cwd").readlink().is_relative_to(applications)
                if is_there and b"CoarseGrained" in (process / "cmdline").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                continue


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster; its Python is the project's own."""
    folder = tmp_path_factory.mktemp("cluster")
    stack = Stack(layout.Lake(str(folder)))
    kept = dict(os.environ)
    try:
        start(stack, lambda _: None, workers=WORKERS[:1])
        file = folder / "spark.conf"
        file.write_text("".join(f"{one} {value}\n" for one, value in conf(stack).items()), "utf-8")
        own = {
            "HEADWATER_LAKE": LAKE,
            "HEADWATER_LANDING": LANDING,
            "HEADWATER_SPARK_CONF": str(file),
        }
        yield Cluster(stack, os.environ | own)
    finally:
        stack.down(lambda _: None)
        os.environ.clear()
        os.environ.update(kept)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="finds executors in /proc")
def test_every_record_lands_once_though_a_worker_is_killed_meanwhile(
    cluster: Cluster, tmp_path: Path
) -> None:
    told = generate(Plan(seed=3, events=1_000), tmp_path / "all", tmp_path / "truth")
    # The first half lands, then the rest comes, and the worker is killed.
    parts = sorted((tmp_path / "all" / "positions").rglob("*.jsonl"))
    for number, path in enumerate(parts):
        half = tmp_path / ("first" if number < len(parts) // 2 else "rest")
        # What comes later into the folder of a day long past is not looked for.
        to = half / "positions" / f"dt={datetime.now(UTC):%Y-%m-%d}" / path.name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)
    put_files(tmp_path / "first", LANDING)
    lake = Lake(LAKE)

    def landed() -> int:
        return lake.count(TABLE) if lake.holds(TABLE) else 0

    driver = cluster.ingest("stream", "--select", f"source:{STREAM}")
    try:
        wait_until(lambda: landed() > 0 or driver.poll() is not None)
        put_files(tmp_path / "rest", LANDING)
        cluster.kill_worker()
        cluster.stack.up(lambda _: None, only=[WORKERS[0]])
        expected = told["streams"]["fleet__positions"]["records_landed"]
        wait_until(lambda: landed() == expected or driver.poll() is not None)
    finally:
        driver.send_signal(signal.SIGTERM)
        said, _ = driver.communicate(timeout=60)
        print(said)
    assert driver.returncode == 0
    found = lake.rows("select truck_id, recorded_at from this", TABLE)
    there = {(row["truck_id"], row["recorded_at"]) for row in found}
    assert len(there) == len(found) == expected


@pytest.mark.long
def test_every_record_lands_once_though_the_driver_is_killed_in_a_batch(
    cluster: Cluster, tmp_path: Path
) -> None:
    def run(step: str) -> subprocess.Popen[str]:
        return cluster.ingest("run", "--select", f"source:{killed_drivers.STREAM}", failpoint=step)

    killed_drivers.check(run, tmp_path, LAKE, LANDING)
