"""A catalog in PostgreSQL, in which several commands work at once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from demo import lake as demo_lake
from demo.comparison import compared
from demo.marketplace.day import generate
from demo.marketplace.plan import Plan
from ingest.stack.postgres import address
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake
from tests.build.lake import ROOT

DBT = (str(Path(sys.executable).with_name("dbt")), "--no-use-colors")
INGEST = (sys.executable, "-m", "ingest")
# Seconds for which the catalog's database is away.
AWAY = 30


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that is a PostgreSQL and nothing else."""
    stack = Stack(Lake(str(tmp_path_factory.mktemp("stack") / "lake")))
    stack.services = {"postgres": stack.services["postgres"]}
    try:
        stack.up(lambda _: None)
        yield stack
    finally:
        stack.down(lambda _: None)
        for service in stack.status():
            shutil.rmtree(service.folder, ignore_errors=True)


@pytest.fixture
def port(stack: Stack) -> int:
    """Port of that PostgreSQL, which it keeps."""
    return int(stack.address("postgres").partition(":")[2])


def started(folder: Path, port: int, *command: str, lake: str = "lake") -> subprocess.Popen[str]:
    """A command on a lake whose catalog is the database `catalog`."""
    conf = folder / "spark.conf"
    conf.write_text(
        "spark.hadoop.javax.jdo.option.ConnectionURL "
        f"jdbc:postgresql://127.0.0.1:{port}/catalog\n"
        "spark.hadoop.javax.jdo.option.ConnectionUserName postgres\n"
    )
    own = {
        "HEADWATER_LAKE": str(folder / lake),
        "HEADWATER_LANDING": str(folder / "landing"),
        "HEADWATER_SPARK_CONF": str(conf),
    }
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.long
def test_two_builds_at_once_share_a_catalog(tmp_path: Path, port: int) -> None:
    early, _ = started(tmp_path, port, *INGEST, "create-catalog").communicate()
    assert early.splitlines()[-1] == (
        f"error[STORAGE]: the catalog in jdbc:postgresql://127.0.0.1:{port}/catalog: "
        'FATAL: database "catalog" does not exist'
    )
    with psycopg.connect(address(port), autocommit=True) as database:
        database.execute("create database catalog")
    for _ in range(2):
        create = started(tmp_path, port, *INGEST, "create-catalog")
        said, _ = create.communicate()
        assert create.returncode == 0, said
    models = ("app_events", "orders_current")
    builds = [
        started(
            *(tmp_path, port, *DBT, "run", "--select", f"+{model}"),
            *("--target-path", str(tmp_path / model), "--log-path", str(tmp_path / model)),
        )
        for model in models
    ]
    for build in builds:
        said, _ = build.communicate()
        assert build.returncode == 0, said
    there = address(port).replace("dbname=shop", "dbname=catalog")
    with psycopg.connect(there) as database:
        found = {name for (name,) in database.execute('select "TBL_NAME" from "TBLS"').fetchall()}
    assert found >= set(models)
    build = started(tmp_path, port, *DBT, "run", "--select", "app_events", lake="another")
    said, _ = build.communicate()
    assert build.returncode == 2
    assert f"is of the lake {tmp_path}/lake, and HEADWATER_LAKE is {tmp_path}/another: name" in said
    assert [one.name for one in (tmp_path / "another").iterdir()] == ["_logs"]


@pytest.mark.long
def test_a_model_is_right_though_the_catalog_was_away_while_it_was_built(
    tmp_path: Path, stack: Stack, port: int
) -> None:
    generate(Plan(seed=3, events=1_000), tmp_path / "landing", tmp_path / "truth")
    with psycopg.connect(address(port), autocommit=True) as database:
        database.execute("drop database if exists catalog")
        database.execute("create database catalog")
    for command in ("create-catalog", "run --select source:shop.*"):
        said, _ = (process := started(tmp_path, port, *INGEST, *command.split())).communicate()
        assert process.returncode == 0, said
    build = (*DBT, "run", "--select", "+orders_current")
    interrupted = started(tmp_path, port, *build)
    assert interrupted.stdout
    for line in interrupted.stdout:
        if "START sql" in line:
            break
    (database_process,) = stack.status()
    assert database_process.pid
    os.kill(database_process.pid, signal.SIGKILL)
    time.sleep(AWAY)
    stack.up(lambda _: None)
    said, _ = interrupted.communicate()
    print(said)
    assert "Traceback" not in said
    said, _ = (again := started(tmp_path, port, *build)).communicate()
    assert again.returncode == 0, said
    found = [
        each
        for each in compared(tmp_path / "truth", demo_lake.Lake(str(tmp_path / "lake")))
        if each.table == "silver.orders_current"
    ]
    assert found
    assert [line for each in found for line in each.differences] == []
