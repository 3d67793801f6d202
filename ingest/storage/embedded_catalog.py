"""The embedded catalog admits one process: who holds it, and one clear line for the next.

The operating system keeps the lock and drops it when its holder ends, killed or not; what the
file says about the holder is only for people. Standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import IO, Any

from ingest.errors import StorageFailed, TerminalError

# Spark's JVM may outlive its holder by its shutdown hooks, each of which Hadoop gives 30 seconds.
JVM_SECONDS = 45.0

_held: dict[Path, IO[str]] = {}


class CatalogHeld(TerminalError):
    """Another process has the embedded catalog open."""

    code = "CATALOG_HELD"

    def __init__(self, folder: Path, holder: str) -> None:
        self.folder = folder
        self.holder = holder
        super().__init__(
            f"the catalog in {folder} is in use by {holder}, and it admits one process at a time; "
            "wait for that one to end, or stop it; beside `ingest serve --sql` use --target server"
        )


def hold(folder: Path) -> None:
    """Take the catalog in `folder` until this process ends; raises `CatalogHeld`.

    Taking it twice in one process is taking it once.
    """
    folder = folder.resolve()
    if folder in _held:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Not "w": what the holder wrote has to stay readable.
        file = (folder / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise StorageFailed(f"{folder}: {error.strerror}; the lake must be writable") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = described(file.read())
        file.close()
        raise CatalogHeld(folder, holder) from None
    file.seek(0)
    file.truncate()
    json.dump({"pid": os.getpid(), "command": command_line()}, file)
    file.flush()
    _held[folder] = file
    _wait_for_derby(folder)
    _discard_half_made(folder)


def command_line() -> str:
    """What a person typed to start this process, near enough."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


def described(text: str) -> str:
    """The holder that a lock file names."""
    try:
        holder: Any = json.loads(text)
        return f"`{holder['command']}` (process {holder['pid']})"
    except (ValueError, TypeError, KeyError):
        return "another process"


def _wait_for_derby(folder: Path) -> None:
    """Wait until no JVM has the database open, be it a killed holder's or a stranger's."""
    deadline = time.monotonic() + JVM_SECONDS
    while open_databases(folder):
        if time.monotonic() > deadline:
            _held.pop(folder).close()
            raise CatalogHeld(folder, "a program that is not Headwater's")
        time.sleep(0.2)


def _discard_half_made(folder: Path) -> None:
    """Remove a database whose making was killed: Derby opens none of those, nor goes on with it."""
    for lock in folder.glob("*/dbex.lck"):
        # Written last, when all else is there.
        if not (lock.parent / "service.properties").exists():
            shutil.rmtree(lock.parent)


def open_databases(folder: Path) -> list[Path]:
    """Derby databases in `folder` that a JVM has open: Derby locks this file as long."""
    return [path.parent for path in folder.glob("*/dbex.lck") if _is_locked(path)]


def _is_locked(path: Path) -> bool:
    try:
        with path.open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_UN)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
