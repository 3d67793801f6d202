"""Streams whose lake and landing folder are in a bucket, while its server is away."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.errors import HeadwaterError
from ingest.runtime.progress import ProgressLog
from ingest.runtime.runner import land_until_stopped
from ingest.stack.s3 import BUCKET
from ingest.storage import delta_log
from ingest.storage.layout import Lake, storage_at
from ingest.storage.locks import stream_lock
from tests import killed_drivers
from tests.build.lake import ROOT
from tests.s3.test_spark import LAKE, spark  # noqa: F401
from tests.s3_server import S3Server
from tests.spark.workshop import node
from tests.waiting import wait_until

LANDING = f"s3a://{BUCKET}/landing"
# Seconds for which the server is away: longer than what clients try again by themselves.
AWAY = 30


@pytest.fixture
def stream() -> Stream:
    """A stream of files in the bucket."""
    declared = {"from": "files", "path": f"{LANDING}/a", "format": "json", "look_every": "1 second"}
    return read_stream(node("test.a", declared, {"id": "bigint"}))


@pytest.fixture
def landing(
    spark: SparkSession,  # noqa: F811
    stream: Stream,
) -> Iterator[Future[list[HeadwaterError]]]:
    """The stream at work."""
    lake, stopping = Lake(LAKE), threading.Event()

    def work() -> list[HeadwaterError]:
        with stream_lock(lake, stream.table, stream.name):
            return land_until_stopped(spark, [stream], ProgressLog(lake), stopping)

    with ThreadPoolExecutor(1) as pool:
        landing = pool.submit(work)
        try:
            yield landing
        finally:
            stopping.set()


@pytest.mark.long
def test_a_stream_goes_on_when_the_server_is_back(
    server: S3Server, stream: Stream, landing: Future[list[HeadwaterError]]
) -> None:
    table = Lake(LAKE).bronze(stream.table)

    def put(number: int) -> None:
        storage_at(LANDING).put(f"a/{number:03}.json", b'{"id": %d}\n' % number)

    def landed() -> list[int]:
        return sorted(delta_log.rows(table, ["id"])["id"].to_pylist()) if is_there() else []

    def is_there() -> bool:
        return Lake(LAKE).is_table(table)

    put(0)
    wait_until(lambda: landed() == [0])
    for number in range(1, 20):
        put(number)
    server.kill()
    time.sleep(AWAY)
    server.start()
    for number in range(20, 30):
        put(number)
    wait_until(lambda: landed() == list(range(30)) or landing.done())
    assert not landing.done(), landing.result()


@pytest.mark.long
def test_every_record_lands_once_though_the_driver_is_killed_in_a_batch(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = f"s3a://{BUCKET}/lake-of-killed"
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)

    def run(step: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "ingest", "run", "--select", f"source:{killed_drivers.STREAM}"],
            cwd=ROOT,
            env={
                **os.environ,
                "HEADWATER_LAKE": lake,
                "HEADWATER_LANDING": LANDING,
                "HEADWATER_FAILPOINT": step,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    killed_drivers.check(run, tmp_path, lake, LANDING)
