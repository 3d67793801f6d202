"""A dbt that dies in the middle of a build, and the build after it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.build.lake import ROOT, SCHEMAS, Lake, order

MODELS = "+agg_sales_daily"


def test_a_build_that_is_killed_in_a_merge_and_repeated_ends_the_same(
    lake: Lake, tmp_path: Path
) -> None:
    lake.land("shop__orders", [order(number, 5) for number in range(40)])
    lake.build(MODELS)
    changes = [order(number, 9, "D" if number % 2 else "U", status="paid") for number in range(60)]
    lake.land("shop__orders", changes)
    apart = tmp_path / "lake"
    for schema in SCHEMAS:
        shutil.copytree(lake.path / schema, apart / schema)

    killed = dbt(apart, kill_in="silver.orders_current")
    assert killed.returncode == -signal.SIGKILL
    again = dbt(apart)
    assert again.returncode == 0, again.stdout

    found = lake.spark.read.format("delta").load(str(apart / "silver" / "orders_current"))
    assert found.count() == 60
    assert found.where("is_deleted").count() == 30
    assert found.where("order_status = 'paid'").count() == 60
    sales = lake.spark.read.format("delta").load(str(apart / "gold" / "agg_sales_daily"))
    assert sales.selectExpr("sum(sale_count)").collect() == [(30,)]


def dbt(lake: Path, kill_in: str | None = None) -> subprocess.CompletedProcess[str]:
    """`dbt run` up to the daily sales in a process of its own; killed while it writes a model."""
    command = [
        *(str(Path(sys.executable).with_name("dbt")), "--no-use-colors", "run"),
        *("--select", MODELS, "--target-path", str(lake.parent / "target")),
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


def await_first_file(table: Path, writer: subprocess.Popen[str]) -> None:
    """Wait for a file that no commit names yet: rows, or marks of deleted ones."""
    before = set(table.iterdir())
    while writer.poll() is None and set(table.iterdir()) == before:
        time.sleep(0.001)
