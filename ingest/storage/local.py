"""Storage in a folder of this machine."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from uuid import uuid4

from ingest.errors import StorageFailed
from ingest.storage.storage import Entry, Lease, LeaseHeld

# How the URL of a local path begins.
LOCAL = "file://"
# Seconds for which `is_leased` of another process may hold a lock.
_LOOK = 0.1


@dataclass(frozen=True, slots=True)
class LocalStorage:
    """Implements Storage in the folder `root`: an absolute path, or a URL that begins `file://`."""

    root: str

    def url(self, key: str) -> str:
        """See Storage."""
        return f"{self.root}/{key}" if key else self.root

    def read(self, key: str) -> bytes | None:
        """See Storage."""
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, key: str, content: bytes) -> None:
        """See Storage. Raises OSError."""
        with self._written(key, content) as new:
            new.replace(self._path(key))

    def put_new(self, key: str, content: bytes) -> bool:
        """See Storage. Raises OSError."""
        with self._written(key, content) as new:
            try:
                self._path(key).hardlink_to(new)
            except FileExistsError:
                return False
        return True

    def exists(self, key: str) -> bool:
        """See Storage. An empty folder exists, too."""
        return self._path(key).exists()

    def delete(self, key: str) -> None:
        """See Storage. Raises OSError."""
        self._path(key).unlink(missing_ok=True)

    def delete_tree(self, key: str) -> None:
        """See Storage. Of a link to a folder the link is deleted: rmtree would leave both."""
        path = self._path(key)
        if path.is_symlink():
            with contextlib.suppress(OSError):
                path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)

    def list(self, key: str) -> Iterator[Entry]:
        """See Storage. Raises OSError."""
        try:
            found = os.scandir(self._path(key))
        except FileNotFoundError:
            return
        with found:
            for entry in found:
                if entry.name.startswith("."):
                    continue
                # Another process may delete it meanwhile.
                with contextlib.suppress(FileNotFoundError):
                    state = entry.stat()
                    modified_us = state.st_mtime_ns // 1000
                    yield Entry(entry.name, state.st_size, modified_us, entry.is_dir())

    @contextlib.contextmanager
    def lease(self, key: str) -> Iterator[Lease]:
        """See Storage. The operating system ends a lock with the process that has it."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Not "w": another process reads the owner of a lock that it does not get.
            file = path.open("a+", encoding="utf-8")
        except OSError as error:
            raise StorageFailed(f"{path}: {error.strerror}; the lake must be writable") from error
        with file:
            try:
                _lock(file)
            except BlockingIOError:
                file.seek(0)
                raise LeaseHeld(_owner(file.read())) from None
            file.seek(0)
            file.truncate()
            json.dump({"pid": os.getpid(), "host": socket.gethostname()}, file)
            file.flush()
            yield _Lock()

    def is_leased(self, key: str) -> bool:
        """See Storage. Takes the lock for a moment."""
        try:
            with self._path(key).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return False

    def _path(self, key: str) -> Path:
        return Path(self.root.removeprefix(LOCAL), key)

    @contextlib.contextmanager
    def _written(self, key: str, content: bytes) -> Iterator[Path]:
        """Write a hidden file in the folder of a key, which is removed unless it was renamed."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.{uuid4().hex}.new")
        try:
            new.write_bytes(content)
            yield new
        finally:
            new.unlink(missing_ok=True)


class _Lock:
    """See Lease: the operating system gives a lock to nobody else while this process has it."""

    def check(self) -> None:
        """See Lease."""


def _lock(file: IO[str]) -> None:
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
