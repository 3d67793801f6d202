"""Commands in processes of their own; a dbt may die in the middle of a build."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.build.lake import ROOT


def dbt(lake: Path, models: str, kill_in: str | None = None) -> subprocess.CompletedProcess[str]:
    """`dbt run` in a process of its own, on a lake; killed while it writes a model."""
    target = str(lake.parent / "target")
    command = [
        *(str(Path(sys.executable).with_name("dbt")), "--no-use-colors", "run"),
        *("--select", models, "--target-path", target, "--log-path", target),
    ]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"HEADWATER_LAKE": str(lake)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if kill_in and f"START sql apply_changes model {kill_in} " in line:
                await_first_file(lake / kill_in.replace(".", "/"), process)
                # Its Java too: the merge has written, and nothing of it may go on.
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    return subprocess.CompletedProcess(command, code, "".join(lines), "")


def ingest(project: Path, lake: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of `ingest` in a project, on a lake."""
    return subprocess.run(
        [sys.executable, "-m", "ingest", *arguments],
        cwd=project,
        env=os.environ | {"HEADWATER_LAKE": str(lake)},
        capture_output=True,
        text=True,
        check=False,
    )


def await_first_file(table: Path, writer: subprocess.Popen[str]) -> None:
    """Wait for a file that no commit names yet: rows, or marks of deleted ones."""
    before = set(table.iterdir())
    while writer.poll() is None and set(table.iterdir()) == before:
        time.sleep(0.001)
