"""A catalog in PostgreSQL, in which several commands work at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ingest.stack.postgres import address
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake
from tests.build.lake import ROOT

DBT = (str(Path(sys.executable).with_name("dbt")), "--no-use-colors")
INGEST = (sys.executable, "-m", "ingest")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Port of a PostgreSQL of the tests' own."""
    stack = Stack(Lake(str(tmp_path_factory.mktemp("stack") / "lake")))
    stack.services = {"postgres": stack.services["postgres"]}
    try:
        stack.up(lambda _: None)
        yield int(stack.address("postgres").partition(":")[2])
    finally:
        stack.down(lambda _: None)
        for service in stack.status():
            shutil.rmtree(service.folder, ignore_errors=True)


def started(folder: Path, port: int, *command: str, lake: str = "lake") -> subprocess.Popen[str]:
    """A command on a lake whose catalog is the database `catalog`."""
    conf = folder / "spark.conf"
    conf.write_text(
        "spark.hadoop.javax.jdo.option.ConnectionURL "
        f"jdbc:postgresql://127.0.0.1:{port}/catalog\n"
        "spark.hadoop.javax.jdo.option.ConnectionUserName postgres\n"
    )
    own = {"HEADWATER_LAKE": str(folder / lake), "HEADWATER_SPARK_CONF": str(conf)}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


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
