"""A dbt that dies in the middle of a build, and the build after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.build.lake import ROOT, Lake, land, order


def test_a_build_that_is_killed_in_a_merge_and_repeated_ends_the_same(
    shared_lake: Lake, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    spark = shared_lake.spark
    land(spark, lake, "shop__orders", [order(number, 5) for number in range(40)], batch=0)
    assert dbt(lake).returncode == 0

    changes = [order(number, 9, "D" if number % 2 else "U", status="paid") for number in range(60)]
    land(spark, lake, "shop__orders", changes, batch=1)
    killed = dbt(lake, kill_at="START sql apply_changes model silver.orders_current")
    assert killed.returncode == -signal.SIGKILL
    again = dbt(lake)
    assert again.returncode == 0, again.stdout

    shared_lake.forget_logs()
    found = spark.read.format("delta").load(str(lake / "silver" / "orders_current"))
    assert found.count() == 60
    assert found.where("is_deleted").count() == 30
    assert found.where("order_status = 'paid'").count() == 60
    sales = spark.read.format("delta").load(str(lake / "gold" / "agg_sales_daily"))
    assert sales.selectExpr("sum(sale_count)").collect() == [(30,)]


def dbt(lake: Path, kill_at: str | None = None) -> subprocess.CompletedProcess[str]:
    """`dbt run` up to the daily sales in a process of its own; killed at a line of its output."""
    command = [
        *(str(Path(sys.executable).with_name("dbt")), "--no-use-colors", "run"),
        *("--select", "+agg_sales_daily", "--target-path", str(lake.parent / "target")),
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
            if kill_at and kill_at in line:
                # Its Java too: the merge has begun, and nothing of it may go on.
                os.killpg(process.pid, signal.SIGKILL)
        code = process.wait()
    return subprocess.CompletedProcess(command, code, "".join(lines), "")
