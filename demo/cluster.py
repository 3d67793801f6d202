"""`make cluster`: the same day on a Spark cluster, with lake and landing folder on S3.

Starts an S3 server, PostgreSQL for the catalog, a Spark master and two workers on this machine,
runs the demonstration there, and stops them. `--live` has the live marketplace at work there
afterwards; `--faults` runs the tests that kill parts of such a cluster instead.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import psycopg
from rich.console import Console

from demo import __main__ as demo
from ingest import settings
from ingest.errors import HeadwaterError
from ingest.stack import postgres, s3
from ingest.stack.spark import MASTER, WORKERS
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake

# A second run of another seed needs another lake; `make clean` removes both.
LAKE, LANDING = f"s3a://{s3.BUCKET}/lake", f"s3a://{s3.BUCKET}/landing"
CATALOG = "catalog"
FAULT_TESTS = (
    ("tests/cluster",),
    ("tests/s3/test_streams.py",),
    ("tests/build/test_shared_catalog.py",),
)
# Two workers of one core and 2 GB each run one application at a time.
EXECUTORS = {
    "spark.executor.cores": "1",
    "spark.executor.memory": "1g",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.log.level": "ERROR",
}


def conf(stack: Stack, packed: Path | None = None) -> dict[str, str]:
    """Settings of Spark that lead to the cluster, and to what its executors unpack."""
    own = {"spark.master": f"spark://{stack.address(MASTER)}", "spark.driver.host": "127.0.0.1"}
    if packed:
        own["spark.archives"] = f"{packed}#environment"
        own["spark.pyspark.python"] = "./environment/bin/python"
    return EXECUTORS | own


def catalog(stack: Stack) -> dict[str, str]:
    """Settings of Spark that lead to the catalog."""
    option = "spark.hadoop.javax.jdo.option.Connection"
    return {
        f"{option}URL": f"jdbc:postgresql://{stack.address('postgres')}/{CATALOG}",
        f"{option}UserName": postgres.USER,
    }


def create_database(stack: Stack) -> None:
    """Create the database of the catalog, unless it is there."""
    port = int(stack.address("postgres").rpartition(":")[2])
    with psycopg.connect(postgres.address(port), autocommit=True) as server:
        name = "select 1 from pg_database where datname = %s"
        if not server.execute(name, [CATALOG]).fetchone():
            server.execute(f"create database {CATALOG}")


def start(stack: Stack, say: Callable[[str], None], workers: Sequence[str] = WORKERS) -> None:
    """Start an S3 server and Spark; the environment leads to the server from then on."""
    stack.up(say, only=["s3"])
    port = int(stack.address("s3").rpartition(":")[2])
    # Spark's workers read landing files in Python, which looks for credentials itself.
    os.environ.update(s3.environment(port))
    stack.up(say, only=[MASTER, *workers])


def prepare(stack: Stack, packed: Path | None) -> None:
    """Point this process and its children to the cluster, and create the catalog's tables."""
    file = Path(Lake(LAKE).local.root, "spark.conf")
    lines = (
        f"{name} {value}\n" for name, value in {**conf(stack, packed), **catalog(stack)}.items()
    )
    file.write_text("".join(lines), "utf-8")
    os.environ["HEADWATER_SPARK_CONF"] = str(file)
    create_database(stack)
    subprocess.run([sys.executable, "-m", "ingest", "create-catalog"], check=True)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    line = argparse.ArgumentParser(
        prog="python -m demo.cluster", parents=[demo.parser(with_help=False)], description=__doc__
    )
    line.add_argument("--packed", type=Path, help="file of `make pack` that executors unpack")
    line.add_argument(
        "--live", type=float, metavar="SECONDS", help="then run the live marketplace, for so long"
    )
    line.add_argument(
        "--faults", action="store_true", help="run the tests that kill parts of a cluster, no more"
    )
    line.add_argument("--keep", action="store_true", help="leave the cluster running")
    return line


def run_fault_tests() -> int:
    """Run the tests that kill workers, drivers, the S3 server and the catalog's database.

    Returns the first exit code that is not 0. Each folder needs a process of its own.
    """
    commands = ([sys.executable, "-m", "pytest", "-m", "long", *each] for each in FAULT_TESTS)
    codes = [subprocess.run(command, check=False).returncode for command in commands]
    return next((code for code in codes if code), 0)


def play(chosen: argparse.Namespace, console: Console) -> int:
    """The demonstration, and the live marketplace if asked for. Returns as they do."""
    code = demo.play(chosen.seed, chosen.size, console)
    if code or not chosen.live:
        return code
    command = [sys.executable, "-m", "live", "--seconds", str(chosen.live)]
    return subprocess.run(command, check=False).returncode


def main() -> int:
    """Returns as the demonstration does, or 1 where a service does not start."""
    chosen = parser().parse_args()
    if chosen.faults:
        return run_fault_tests()
    os.environ.update(HEADWATER_LAKE=LAKE, HEADWATER_LANDING=LANDING)
    console = Console(width=None if sys.stdout.isatty() else 140)

    def say(line: str) -> None:
        console.print(line, highlight=False)
        console.file.flush()

    try:
        stack = Stack(Lake(settings.lake()))
        try:
            start(stack, say)
            stack.up(say, only=["postgres"])
            prepare(stack, chosen.packed)
            return play(chosen, console)
        finally:
            if not chosen.keep:
                stack.down(say)
    except (HeadwaterError, subprocess.CalledProcessError, psycopg.Error) as problem:
        print(f"cluster: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
