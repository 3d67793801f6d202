"""Pack the Python of Spark's executors into one file, for machines without the project.

    make pack                               target/packed.tar.gz
    scripts/run python -m scripts.pack FILE

It has this project as a wheel, and of its packages those that run beside a task: no dbt, and no
Spark, which is on those machines. They need the Python that this one runs on, at the same path.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

from scripts.bootstrap import installer_environ

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements" / "dev.lock"
# What only a driver imports, or what comes with Spark.
OF_THE_DRIVER = frozenset(
    {"dbt-core", "dbt-spark", "delta-spark", "duckdb", "psycopg", "pyspark", "sqlglot"}
)


def packages() -> set[str]:
    """Names of the packages that executors need, in the lock's spelling."""
    found: set[str] = set()
    todo = [("headwater", frozenset[str]())]
    while todo:
        name, extras = todo.pop()
        for one in map(Requirement, importlib.metadata.requires(name) or ()):
            needed = spelled(one.name)
            is_wanted = one.marker is None or any(
                one.marker.evaluate({"extra": extra}) for extra in (extras or {""})
            )
            if is_wanted and needed not in found | OF_THE_DRIVER:
                found.add(needed)
                todo.append((one.name, frozenset(one.extras)))
    return found


def spelled(name: str) -> str:
    """The name of a package as locks have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(wanted: set[str]) -> Iterator[str]:
    """The lines of the lock that are about some packages."""
    is_kept = False
    for line in LOCK.read_text("utf-8").splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            is_kept = spelled(re.split(r"[=\[ ]", line)[0]) in wanted
        if is_kept:
            yield line


def pack(file: Path) -> None:
    """Write the file."""
    folder = file.with_suffix("").with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = folder.with_suffix(".lock")
    lock.write_text("".join(locked(packages())), "utf-8")
    uv, wheels = (sys.executable, "-m", "uv"), folder / "wheels"
    here, there = os.path.realpath(sys.executable), str(folder / "bin" / "python")
    install = (*uv, "pip", "install", "--python", there, "--no-deps")
    wheel = ("--wheel", "--no-build-isolation", "--python", sys.executable)
    for command in (
        (*uv, "venv", "--relocatable", "--python", here, str(folder)),
        (*install, "--require-hashes", "-r", str(lock)),
        (*uv, "build", *wheel, "--out-dir", str(wheels), str(ROOT)),
        (*install, "--no-index", "--find-links", str(wheels), "headwater"),
    ):
        subprocess.run(command, check=True, cwd=ROOT, env=installer_environ(os.environ))
    shutil.rmtree(wheels)
    with tarfile.open(file, "w:gz", compresslevel=1) as archive:
        archive.add(folder, ".")
    shutil.rmtree(folder)
    lock.unlink()


def main() -> None:
    """Pack, and say where."""
    file = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target" / "packed.tar.gz").resolve()
    pack(file)
    print(f"{file}: {file.stat().st_size / 10**6:.0f} MB; settings of Spark:")
    print(f"spark.archives        {file}#environment")
    print("spark.pyspark.python  ./environment/bin/python")


if __name__ == "__main__":
    main()
