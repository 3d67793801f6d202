"""Resolve the lock files again: hashes for Python 3.11 to 3.13 on every platform, no addresses.

make lock                                     keep every version that still fits
scripts/run python -m scripts.lock --upgrade  take the newest of each
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scripts import jars

ROOT = Path(__file__).resolve().parent.parent

COMPILE = [
    sys.executable,
    "-m",
    "uv",
    "pip",
    "compile",
    "--quiet",
    "--universal",
    "--generate-hashes",
]
# uv leaves out where packages come from, unless it is asked to tell: every machine asks its own.
LAYOUT = [
    "--python-version",
    "3.11",
    "--no-header",
    "--annotation-style",
    "line",
]

# What set-up installs first has to agree with what it installs next, so it is resolved second.
LOCKS = {
    "dev": ["pyproject.toml", "--group", "dev"],
    # The other supported Spark; scripts/other_spark.py installs it.
    "spark-4.0": ["pyproject.toml", "--group", "dev", "--override", "requirements/spark-4.0.txt"],
    "setup": ["--group", "setup", "--constraint", "requirements/dev.lock"],
    "sqllint": ["--group", "sqllint"],
}


def main(options: list[str]) -> int:
    for name, sources in LOCKS.items():
        target = f"requirements/{name}.lock"
        answer = subprocess.run(
            [*COMPILE, *sources, *LAYOUT, *options, "--output-file", target],
            cwd=ROOT,
            check=False,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"UV_CUSTOM_COMPILE_COMMAND": "make lock"},
        )
        if answer.returncode:
            return answer.returncode
    return jars.main(["lock"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
