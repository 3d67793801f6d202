"""`make live` for half a minute, killed at work: the whole of it, compared with the truth."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.settings import project_dir
from ingest.stack.stack import Stack
from ingest.storage.delta_log import rows
from ingest.storage.layout import Lake

pytestmark = pytest.mark.long


def test_live_marketplace_lands_completely(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    command = [sys.executable, "-m", "live", "--seconds", "30", "--rate", "2000", "--kills", "2"]
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
        said, _ = process.communicate(timeout=800)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(120)
        stack.down(lambda _: None)
        for part in stack.status():
            shutil.rmtree(part.folder, ignore_errors=True)
    assert process.returncode == 0, said
    # Some views come in a format that only Spark reads.
    views, times = rows_of_a_live_model(lake)
    assert views == times > 0
    assert "Every number equals the truth." in said
    for told in (
        "live.orders: made to bronze: ",
        "made to model: ",
        "Kills of ingest serve: 2, of which at write steps: before_first_write.",
    ):
        assert told in said
    made = re.search(r"Made: ([\d,]+) events, ([\d,]+) row changes", said)
    memory = re.search(r"Memory at its most: ([\d,]+) MB ", said)
    assert made
    assert memory
    events, changes, megabytes = (
        int(number.replace(",", "")) for number in (*made.groups(), memory[1])
    )
    assert events >= 50_000
    assert changes >= 2_500
    assert megabytes < 8_192


def rows_of_a_live_model(lake: Path) -> tuple[int, int]:
    """Its rows and how many have a time, as left by the play.

    While it plays, `serve` may be about to end or to be killed whenever a client asks.
    """
    path = lake / "silver" / "live_page_view_events"
    times = rows(str(path), ["viewed_at"])["viewed_at"]
    return len(times), len(times) - times.null_count
