"""Set the project up from its lock files, then run a command in it. Standard library only.

    scripts/run                    set up, and nothing else
    scripts/run python -m demo     set up, then run this, in a shell that misleads nobody

Everything lands in the clone: `.venv`, `.venv-sqllint`, `.jars`. A stamp written last says for
which lock files it was done; without the right stamp all of it is made again, from the
package caches, so a set-up that was interrupted anywhere is healed by the next.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from ingest.errors import JavaMissing  # noqa: E402  (python -I does not look beside the script)
from ingest.spark.java import find_java  # noqa: E402
from ingest.spark.s3 import LOG_STORE_JAR  # noqa: E402
from ingest.spark.shell import cleaned, with_programs  # noqa: E402
from scripts.jars import SETS, locked_jars  # noqa: E402

LOCKS = ("requirements/setup.lock", "requirements/dev.lock", "requirements/sqllint.lock")
# Another archive of classes or other Java sources ask for another set-up, as other packages do.
MADE_FROM = (
    "scripts/classes.py",
    "ingest/spark/java/headwater/ConditionalPutLogStore.java",
)

# Environments take 1.6 GB and the package cache as much again, while Spark is unpacked.
FREE_BYTES = 4 * 10**9

# Python runs this line of a .pth file at every start in the environment. A shell that is set
# up for another Spark has that one's modules on PYTHONPATH, in front of ours, and dbt imports
# pyspark before any plugin of ours has a say.
OTHER_SPARKS = (
    "import os, sys; sys.path[:] = [entry for entry in sys.path"
    " if entry not in os.environ.get('PYTHONPATH', '').split(os.pathsep)"
    " or not ('py4j' in os.path.basename(entry)"
    " or os.path.isdir(os.path.join(entry, 'pyspark')))]\n"
)

# How often a step that is still at work says so.
HEARTBEAT_SECONDS = 10

# Settings of a person's pip and uv that would install elsewhere, or other things; where to
# download from and how stays as the person has it.
INSTALLER_SETTINGS = (
    *("PIP_CONSTRAINT", "PIP_NO_BINARY", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "PIP_ROOT"),
    *("PIP_TARGET", "PIP_USER", "PIP_REQUIREMENT", "PIP_PYTHON"),
    *("UV_CONSTRAINT", "UV_EXCLUDE_NEWER", "UV_NO_BINARY", "UV_NO_BUILD", "UV_OVERRIDE"),
    *("UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_REQUIRE_HASHES"),
    *("UV_BUILD_CONSTRAINT", "UV_NO_BUILD_ISOLATION", "UV_PRERELEASE", "UV_RESOLUTION"),
)


class SetupStopped(Exception):
    """Set-up cannot go on; the message says what to do."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        self.exit_code = exit_code
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of set-up: what it does and the commands that do it."""

    title: str
    commands: Sequence[Sequence[str]]


def main(command: list[str]) -> int:
    signal.signal(signal.SIGTERM, _stop)
    try:
        java = find_java(os.environ)
        if not is_current(ROOT):
            with only_one(ROOT) as lock:
                if not is_current(ROOT):
                    check_python()
                    check_space(ROOT)
                    install(ROOT, steps(ROOT), lock)
    except JavaMissing as error:
        return _complain(str(error), 2)
    except SetupStopped as error:
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _complain("stopped before it was done; the same command starts again", 130)
    if command:
        run(
            command,
            with_programs(os.environ, java_home=java.home, python=ROOT / ".venv/bin/python"),
        )
    return 0


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _complain(message: str, exit_code: int) -> int:
    print(f"error: setup: {message}", file=sys.stderr)
    return exit_code


# ---------- what is there


def fingerprint(root: Path) -> str:
    """Stands for everything that an installation depends on, the clone's path included."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    parts = [json.dumps([project["build-system"], project["project"]], sort_keys=True), str(root)]
    parts += [(root / name).read_text(encoding="utf-8") for name in (*LOCKS, *SETS, *MADE_FROM)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def stamp(root: Path) -> Path:
    return root / ".venv" / "headwater-setup.stamp"


def is_current(root: Path) -> bool:
    """Whether the last set-up went to its end, for these lock files and at this path."""
    try:
        if stamp(root).read_text(encoding="utf-8") != fingerprint(root):
            return False
    except FileNotFoundError:
        return False
    programs = (root / ".venv/bin/python", root / ".venv-sqllint/bin/python")
    jars = (
        root / folder / jar.filename
        for name, folder in SETS.items()
        for jar in locked_jars(root / name)
    )
    return all(path.exists() for path in (*programs, root / LOG_STORE_JAR, *jars))


def check_python() -> None:
    """Debian ships a Python that cannot make environments until one more package is there."""
    if all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        return
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise SetupStopped(
        f"Python {version} at {sys.executable} cannot make virtual environments; install the rest: "
        f"Debian `apt install python{version}-venv`, macOS `brew install python@3.13`, "
        "conda `conda create -n headwater python=3.13`"
    )


def check_space(root: Path) -> None:
    free = shutil.disk_usage(root).free
    if free < FREE_BYTES:
        raise SetupStopped(
            f"{free / 10**9:.1f} GB are free at {root} and set-up needs {FREE_BYTES / 10**9:.0f}; "
            "make room: Debian `apt clean`, macOS `brew cleanup`, conda `conda clean --all`"
        )


@contextlib.contextmanager
def only_one(root: Path) -> Iterator[int]:
    """One set-up of a clone at a time; yields what its children hold so that it outlives a kill."""
    lock = os.open(root / "pyproject.toml", os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("setup: another setup is running in this clone; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


# ---------- what is to do


def steps(root: Path) -> list[Step]:
    python = str(root / ".venv/bin/python")
    sqllint = str(root / ".venv-sqllint/bin/python")
    # In an activated environment, which may be the clone's own, it is that one's: removed first.
    inside = sys.prefix != sys.base_prefix
    base = os.path.realpath(sys.executable) if inside else sys.executable
    uv = [python, "-m", "uv", "pip", "sync", "--require-hashes", "--no-build-isolation"]
    return [
        Step(
            title=f"virtual environment, Python {sys.version.split()[0]}",
            commands=[[base, "-I", "-m", "venv", str(root / ".venv")]],
        ),
        Step(
            title="installers",
            commands=[
                [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps"]
                + ["--require-hashes", "-r", str(root / LOCKS[0])]
            ],
        ),
        Step(
            title="packages (Spark is 450 MB and is built without output: minutes the first time)",
            commands=[
                [*uv, "--python", python, str(root / LOCKS[1])],
                [python, "-m", "uv", "pip", "install", "--python", python, "--no-deps"]
                + ["--no-build-isolation", "--offline", "--editable", str(root)],
            ],
        ),
        Step(
            title="SQL linter",
            commands=[
                [base, "-I", "-m", "venv", "--without-pip", str(root / ".venv-sqllint")],
                [*uv, "--python", sqllint, str(root / LOCKS[2])],
            ],
        ),
        Step(title="jars", commands=[[python, "-m", "scripts.jars", "fetch"]]),
        Step(
            title="class archive, so that Spark starts faster",
            commands=[[python, "-m", "scripts.classes"]],
        ),
    ]


def install(root: Path, todo: Sequence[Step], lock: int) -> None:
    """Do every step from the start, then write the stamp."""
    for folder in (".venv", ".venv-sqllint"):
        shutil.rmtree(root / folder, ignore_errors=True)
    began = time.monotonic()
    environ = installer_environ(os.environ)
    print(f"setup: in {root}, once", flush=True)
    log = root / ".venv" / "setup.log"
    for number, step in enumerate(todo, 1):
        print(f"setup: {number}/{len(todo)} {step.title} ", end="", flush=True)
        started = time.monotonic()
        for command in step.commands:
            log.parent.mkdir(exist_ok=True)
            _carry_out(command, root=root, environ=environ, log=log, lock=lock)
        print(f"{time.monotonic() - started:.0f} s", flush=True)
    modules = next((root / ".venv/lib").glob("python3*/site-packages"))
    (modules / "headwater_other_sparks.pth").write_text(OTHER_SPARKS, encoding="utf-8")
    stamp(root).write_text(fingerprint(root), encoding="utf-8")
    print(f"setup: done in {time.monotonic() - began:.0f} s", flush=True)


def installer_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The shell for pip and uv: a person's mirrors and certificates, not their targets."""
    kept = {
        name: value for name, value in cleaned(environ).items() if name not in INSTALLER_SETTINGS
    }
    if "PIP_INDEX_URL" in kept:
        kept.setdefault("UV_DEFAULT_INDEX", kept["PIP_INDEX_URL"])
    if "PIP_CERT" in kept:
        kept.setdefault("SSL_CERT_FILE", kept["PIP_CERT"])
    return kept


def _carry_out(
    command: Sequence[str], *, root: Path, environ: Mapping[str, str], log: Path, lock: int
) -> None:
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),
        )
        try:
            _wait(process.wait)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode:
        print("failed", flush=True)
        raise SetupStopped(f"{last_words(log)} (all of it: {log})", exit_code=1)


def _wait(wait: Callable[[float], int]) -> None:
    while True:
        try:
            wait(HEARTBEAT_SECONDS)
            return
        except subprocess.TimeoutExpired:
            print(".", end="", flush=True)


def last_words(log: Path) -> str:
    """The line of a log that most likely says what went wrong."""
    lines = [
        line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
    ]
    lines = [line for line in lines if line]
    told = [line for line in lines if "error" in line.lower()]
    return (told or lines or ["a command failed without a word"])[-1].removeprefix("error: ")


# ---------- the command


def run(command: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Become `command`, with the project's programs first on its path."""
    venv = ROOT / ".venv"
    path = f"{venv / 'bin'}{os.pathsep}{environ.get('PATH', os.defpath)}"
    os.chdir(ROOT)
    os.execvpe(command[0], list(command), {**environ, "PATH": path, "VIRTUAL_ENV": str(venv)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
