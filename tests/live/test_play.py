"""`make live` for a minute, killed once at work: the whole of it, compared with the truth."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from ingest.lake import Lake
from ingest.settings import project_dir
from ingest.stack.stack import Stack


def test_a_minute_of_a_marketplace_at_work_lands_as_it_was(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    command = [sys.executable, "-m", "live", "--seconds", "60", "--rate", "2000", "--kills", "1"]
    process = subprocess.Popen(
        command,
        cwd=project_dir(),
        env={**os.environ, "HEADWATER_LAKE": str(lake)},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    stack = Stack(Lake(str(lake)))
    try:
        said, _ = process.communicate(timeout=600)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(120)
        stack.down(lambda _: None)
        for part in stack.status():
            shutil.rmtree(part.folder, ignore_errors=True)
    assert process.returncode == 0, said
    assert "Every number equals the truth." in said
    for told in (
        "live.orders: made to bronze: ",
        "made to model: ",
        "Memory at its most: ",
        "Kills of ingest serve: 1.",
    ):
        assert told in said
    made = re.search(r"Made: ([\d,]+) events, ([\d,]+) row changes", said)
    assert made
    events, changes = (int(number.replace(",", "")) for number in made.groups())
    assert events >= 100_000
    assert changes >= 5_000
