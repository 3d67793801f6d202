"""`dbt` as a person types it, in the shell that this person happens to have."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
HOLDER = """
import sys
from pathlib import Path
from ingest.storage import embedded_catalog
embedded_catalog.hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def dbt(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("dbt")), "--no-use-colors", *arguments],
        cwd=ROOT,
        env=dict(os.environ) | environ,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def held_lake(tmp_path: Path) -> Iterator[tuple[str, int]]:
    """A lake whose catalog another process holds, and that process's id."""
    lake = tmp_path / "lake"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lake / "_catalog")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        yield str(lake), holder.pid
        holder.kill()


def test_a_second_command_on_the_catalog_ends_in_one_clear_line(
    held_lake: tuple[str, int], tmp_path: Path
) -> None:
    lake, pid = held_lake
    answer = dbt("compile", "--target-path", str(tmp_path / "target"), HEADWATER_LAKE=lake)
    assert answer.returncode == 2
    told = [line for line in answer.stdout.splitlines() if "CATALOG_HELD" in line]
    assert len(told) == 1
    assert f"(process {pid})" in told[0]
    assert "Traceback" not in answer.stdout + answer.stderr


def test_commands_that_only_read_the_project_need_no_catalog(
    held_lake: tuple[str, int], tmp_path: Path
) -> None:
    lake, _ = held_lake
    answer = dbt("parse", "--target-path", str(tmp_path / "target"), HEADWATER_LAKE=lake)
    assert answer.returncode == 0, answer.stdout


def test_another_sparks_settings_do_not_reach_the_session(tmp_path: Path) -> None:
    other = tmp_path / "other-spark"
    (other / "python" / "pyspark").mkdir(parents=True)
    (other / "python" / "pyspark" / "__init__.py").write_text("raise ImportError('hijacked')")
    answer = dbt(
        *("show", "--inline", "select current_timezone() as zone, 6 * 7 as answer"),
        *("--target-path", str(tmp_path / "target")),
        HEADWATER_LAKE=str(tmp_path / "lake"),
        SPARK_HOME=str(other),
        SPARK_CONF_DIR=str(other),
        PYTHONPATH=str(other / "python"),
        PYSPARK_PYTHON="/nowhere/python",
        PYSPARK_SUBMIT_ARGS="--master yarn pyspark-shell",
        JAVA_HOME=str(other),
        TZ="Asia/Tokyo",
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "UTC" in answer.stdout
    assert "42" in answer.stdout
