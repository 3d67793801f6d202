"""The S3 server, which can be killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ingest.stack import s3
from ingest.stack.stack import Stack


class Server:
    """An S3 server that a stack has started."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    @property
    def port(self) -> int:
        """Its port, which it keeps."""
        return int(self._stack.address("s3").rpartition(":")[2])

    @property
    def bucket(self) -> Path:
        """The folder of its bucket."""
        (found,) = self._stack.status()[-1:]
        return Path(found.folder, "data", s3.BUCKET)

    def kill(self) -> None:
        """Kill it."""
        (found,) = self._stack.status()[-1:]
        assert found.service == "s3"
        assert found.pid
        os.kill(found.pid, signal.SIGKILL)

    def start(self) -> None:
        """Start it again."""
        self._stack.up(lambda _: None, only=["s3"])
