"""Drivers that are killed in a batch, of a lake and a landing folder in a bucket."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from demo.lake import Lake, put_files
from demo.marketplace.day import generate
from demo.marketplace.plan import Plan

STREAM = "market.app_events"
# Rows are committed, and the batch has not ended.
STEP = "after_first_write"


def check(
    run: Callable[[str], subprocess.Popen[str]], folder: Path, lake: str, landing: str
) -> None:
    """Land a day's events by a driver that is killed in its batch, and one that is not.

    `run` starts `ingest run` of STREAM, which is to kill itself at a step, if one is named.
    """
    told = generate(Plan(seed=5, events=1_000), folder / "all", folder / "truth")
    put_files(folder / "all" / "app_events", f"{landing}/app_events")
    for step in (STEP, ""):
        driver = run(step)
        said, _ = driver.communicate(timeout=180)
        assert driver.returncode == (-signal.SIGKILL if step else 0), said
    table = STREAM.replace(".", "__")
    rows = Lake(lake).rows('select "insertId" from this', f"bronze.{table}")
    assert len(rows) == told["streams"][table]["records_landed"]
    assert len({row["insertId"] for row in rows}) == len(rows)
