"""Whole processes: killed, stopped, out of room, or in each other's way."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from ingest.runtime.progress import read_totals
from ingest.storage.locks import stream_lock
from tests.spark.mixed_files import DECLARED, HINTS, assert_each_is_there_once, drop_mixed
from tests.spark.workshop import Workshop

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 180.0
# Lands a stream of a workshop in a process of its own, without the seconds that dbt needs.
CHILD = """
import json, sys
from pathlib import Path
from ingest.spark.session import session
from tests.spark.workshop import Workshop
root, name, hints, declared = Path(sys.argv[1]), *map(json.loads, sys.argv[2:])
workshop = Workshop(session("child", str(root / "lake")), root)
workshop.stream(name, hints, **declared)
workshop.land(name)
"""


def project(
    workshop: Workshop,
    *names: str,
    declared: Mapping[str, Any] = DECLARED,
    hints: Mapping[str, str] = HINTS,
) -> Path:
    """A dbt project that declares streams of a workshop; gives its folder."""
    root = workshop.root / "project"
    (root / "models").mkdir(parents=True, exist_ok=True)
    for name, content in {
        "dbt_project.yml": {"name": "tried", "version": "1.0.0", "profile": "tried"},
        "profiles.yml": {
            "tried": {
                "target": "local",
                "outputs": {
                    "local": {"type": "spark", "method": "session", "host": "-", "schema": "x"}
                },
            }
        },
        "models/test.yml": {
            "version": 2,
            "sources": [
                {
                    "name": "test",
                    "schema": "bronze",
                    "tables": [
                        {
                            "name": name,
                            "identifier": f"test__{name}",
                            "config": {
                                "meta": {
                                    "ingest": {
                                        "from": "files",
                                        "path": str(workshop.folder(name)),
                                        "format": "json",
                                        **declared,
                                    }
                                }
                            },
                            "columns": [
                                {"name": column, "data_type": kind}
                                for column, kind in hints.items()
                            ],
                        }
                        for name in names
                    ],
                }
            ],
        },
    }.items():
        (root / name).write_text(yaml.safe_dump(content), encoding="utf-8")
    jars = root / ".jars"
    if not jars.exists():
        jars.symlink_to(ROOT / ".jars")
    return root


def started(workshop: Workshop, *arguments: str, **more: Any) -> subprocess.Popen[str]:
    """An `ingest` command on the workshop's lake."""
    environ = os.environ | {"HEADWATER_LAKE": more.pop("lake", workshop.lake.root)}
    return subprocess.Popen(
        [sys.executable, "-m", "ingest", *arguments],
        cwd=workshop.root / "project",
        env=environ | more.pop("env", {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def errors(process: subprocess.Popen[str]) -> list[str]:
    """Standard error of a command that has ended, without what streams say while they work."""
    _, said = process.communicate(timeout=PATIENCE)
    return [line for line in said.splitlines() if line.startswith(("error", "Traceback"))]


@pytest.fixture(scope="module")
def projects(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A workshop with a dbt project of two streams."""
    workshop = Workshop(spark, tmp_path_factory.mktemp("with a project"))
    for name in ("one", "full"):
        workshop.stream(name, HINTS, **DECLARED)
    project(workshop, "one", "full")
    return workshop


def test_after_a_kill_every_record_is_there_once(apart: Workshop) -> None:
    """A real kill between two writes; test_checkpoints stops at the other steps."""
    apart.stream("killed", HINTS, **DECLARED)
    drop_mixed(apart, "killed")
    arguments = [str(apart.root), *map(json.dumps, ("killed", HINTS, DECLARED))]
    child = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments],
        cwd=ROOT,
        env=os.environ | {"HEADWATER_FAILPOINT": "after_first_write"},
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    apart.land("killed")
    assert_each_is_there_once(apart, "killed")
    apart.drop("killed", "3.jsonl", [{"id": 52}, {"id": 3}])
    apart.land("killed")
    assert apart.table("killed").count() == 53


def test_a_second_process_is_refused_with_the_pid_of_the_first(projects: Workshop) -> None:
    with stream_lock(projects.lake, "test__one", "test.one"):
        process = started(projects, "run")
        said = errors(process)
    assert process.returncode == 1
    assert len(said) == 1
    assert said[0].startswith("error[LOCKED]: test.one is landed by process")
    assert str(os.getpid()) in said[0]


def test_a_lake_that_cannot_be_written_is_one_line(projects: Workshop) -> None:
    process = started(projects, "run", lake="/dev/null/lake")
    said = errors(process)
    assert process.returncode == 1
    assert len(said) == 1
    assert said[0].startswith("error[STORAGE]: ")


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["check", "--select", "source:nothing.*"], 2, "error[SELECTION]: "),
        (
            ["run", "--select", "source:test.one", "--exclude", "source:test.*"],
            2,
            "error[SELECTION]: ",
        ),
    ],
)
def test_a_wrong_selection_is_one_line(
    projects: Workshop, arguments: list[str], code: int, line: str
) -> None:
    process = started(projects, *arguments)
    said = errors(process)
    assert process.returncode == code
    assert len(said) == 1
    assert said[0].startswith(line)


@pytest.mark.long
def test_a_full_disk_is_one_line_and_everything_lands_once_there_is_room(
    projects: Workshop,
) -> None:
    noise = [{"id": number, "noise": os.urandom(3000).hex()} for number in range(1000)]
    projects.drop("full", "1.jsonl", noise)
    largest = 1024 * 1024
    process = started(
        projects,
        *("run", "--select", "source:test.full"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
    )
    said = errors(process)
    assert process.returncode == 1, said
    assert len(said) == 1, said
    assert said[0].startswith("error[STORAGE]: test.full: the lake cannot be written")
    assert projects.table("full").count() == 0
    projects.land("full")
    assert projects.table("full").selectExpr("count(distinct id)").first() == (1000,)
    assert projects.table("full").count() == 1000


def test_a_java_process_that_is_killed_is_one_line(projects: Workshop) -> None:
    process = started(projects, "stream", "--select", "source:test.one")
    try:
        until = time.monotonic() + PATIENCE
        while read_totals(projects.lake, "test.one", "test__one").state != "running":
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.2)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("utf-8")
        (java,) = (
            one for one in children.split() if Path(f"/proc/{one}/comm").read_text() == "java\n"
        )
        os.kill(int(java), signal.SIGKILL)
        said = errors(process)
    finally:
        process.kill()
    assert process.returncode == 1
    assert len(said) == 1, said
    assert said[0].startswith("error[STOPPED]: Spark's Java process has ended")


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGTERM, id="SIGTERM"),
        pytest.param(signal.SIGINT, id="Ctrl-C", marks=pytest.mark.long),
    ],
)
def test_a_stream_that_is_asked_to_stop_ends_after_its_batch(
    projects: Workshop, number: signal.Signals
) -> None:
    before = read_totals(projects.lake, "test.one", "test__one").landed
    projects.drop("one", f"{number.name}.jsonl", [{"id": int(number)}])
    process = started(projects, "stream", "--select", "source:test.one", start_new_session=True)
    try:
        until = time.monotonic() + PATIENCE
        while read_totals(projects.lake, "test.one", "test__one").landed == before:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.2)
        # As a terminal does: to every process of the group, the JVM too.
        os.killpg(process.pid, number)
        said = errors(process)
    finally:
        process.kill()
    assert (process.returncode, said) == (0, [])
    totals = read_totals(projects.lake, "test.one", "test__one")
    assert (totals.state, totals.landed) == ("stopped", before + 1)
    projects.land("one")
    assert int(number) in projects.values("one", "id")
    assert len(projects.values("one", "id")) == before + 1
