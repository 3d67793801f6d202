"""`make live` for half a minute, killed at work: the whole of it, compared with the truth."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from pyhive import hive  # type: ignore[import-untyped]
from thrift.transport.TTransport import TTransportException  # type: ignore[import-untyped]

from ingest.settings import project_dir
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake


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
        views, times = asked_while_it_plays(process)
        said, _ = process.communicate(timeout=600)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(120)
        stack.down(lambda _: None)
        for part in stack.status():
            shutil.rmtree(part.folder, ignore_errors=True)
    assert process.returncode == 0, said
    # Some are told in a way that only Spark reads.
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


def asked_while_it_plays(process: subprocess.Popen[str]) -> tuple[int, int]:
    """Rows of a live model and their times, by the SQL endpoint that the play has told of."""
    assert process.stdout
    told = next(line for line in process.stdout if line.startswith("sql: "))
    port = int(told.rpartition(":")[2])
    while process.poll() is None:
        try:
            with hive.connect(host="127.0.0.1", port=port, username="bi") as connection:
                cursor = connection.cursor()
                cursor.execute(
                    "select count(*), count(viewed_at) from silver.live_page_view_events"
                )
                views, times = cursor.fetchall()[0]
        except (TTransportException, OSError, hive.OperationalError):
            # It starts, is killed just now, or has no such model yet.
            views = 0
        if views:
            return views, times
        time.sleep(1)
    raise AssertionError(f"nothing was answered at {told}")
