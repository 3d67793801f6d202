"""One process lands a stream: an advisory lock that names its owner, and who looks at it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from ingest.errors import StorageFailed, StreamLocked

# Seconds after which a lock that somebody has looked at is free again.
_LOOK = 0.1


class StreamLock:
    """Held from `with` to its end, or to the process's; a killed owner holds nothing."""

    def __init__(
        self,
        path: Path,
        stream: str,
        remedy: str = "stop that one first, or choose other streams with --select",
    ) -> None:
        self._path, self._stream, self._remedy = path, stream, remedy
        self._file: IO[str] | None = None

    def __enter__(self) -> StreamLock:
        """Take the lock. Raises StreamLocked with the owner, StorageFailed."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            file = self._path.open("a+", encoding="utf-8")
        except OSError as error:
            raise StorageFailed(
                f"{self._path}: {error.strerror}; the lake must be writable"
            ) from error
        try:
            _take(file)
        except BlockingIOError:
            file.seek(0)
            owner = _owner(file.read())
            file.close()
            raise StreamLocked(f"{self._stream} is landed by {owner}; {self._remedy}") from None
        file.seek(0)
        file.truncate()
        json.dump({"pid": os.getpid(), "host": socket.gethostname()}, file)
        file.flush()
        self._file = file
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()
            self._file = None


def is_held(path: Path) -> bool:
    """Whether a process has this lock; takes it for a moment. True where nobody may look."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _take(file: IO[str]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_LOOK)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _owner(text: str) -> str:
    try:
        owner = json.loads(text)
        return f"process {owner['pid']} on {owner['host']}"
    except (ValueError, KeyError):
        return "another process"
