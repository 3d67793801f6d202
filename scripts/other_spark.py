"""Run a command with the other supported Spark, in a copy of the project.

    make other-spark                          the demo
    make other-spark COMMAND="pytest tests/spark"

The copy has the project's files, the other Spark's lock files in place of the default ones, and an
installation of its own, in `target`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OTHER = "spark-4.0"
# What the copy has in place of the default.
REPLACED = {
    "requirements/dev.lock": f"requirements/{OTHER}.lock",
    "jgo.toml": f"jgo.{OTHER}.toml",
    "jgo.lock.toml": f"jgo.{OTHER}.lock.toml",
    "jgo.s3client.toml": f"jgo.{OTHER}.s3client.toml",
    "jgo.s3client.lock.toml": f"jgo.{OTHER}.s3client.lock.toml",
}


def copy_project(folder: Path) -> None:
    """Write the project's files into `folder`, as they are in the work tree."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        source = ROOT / REPLACED.get(name, name)
        if source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)


def main(command: list[str]) -> None:
    """Copy, then become `command` in the copy."""
    folder = ROOT / "target" / OTHER
    copy_project(folder)
    os.chdir(folder)
    os.execv(folder / "scripts" / "run", ["run", *command])


if __name__ == "__main__":
    main(sys.argv[1:])
