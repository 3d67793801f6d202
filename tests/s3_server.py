"""The S3 server of `ingest stack`, for tests; it can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

from ingest.stack import s3
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake


class S3Server:
    """An S3 server with one bucket, which a stack has started."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    @property
    def port(self) -> int:
        """Its port, which it keeps."""
        return int(self._stack.address("s3").rpartition(":")[2])

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def environ(self, url: str = "") -> Mapping[str, str]:
        """Variables that name it, or what stands in front of it at `url`, and the key to it."""
        return {**s3.environment(self.port), "AWS_ENDPOINT_URL": url or self.url}

    def path(self, key: str = "") -> Path:
        """Where it keeps an object, or its bucket."""
        (found,) = self._stack.status()[-1:]
        return Path(found.folder, "data", s3.BUCKET, key)

    def kill(self) -> None:
        """Kill it."""
        (found,) = self._stack.status()[-1:]
        assert found.service == "s3"
        assert found.pid
        os.kill(found.pid, signal.SIGKILL)

    def start(self) -> None:
        """Start it again."""
        self._stack.up(lambda _: None, only=["s3"])


@contextlib.contextmanager
def running(folder: Path) -> Iterator[S3Server]:
    """Start a server that keeps its objects below a folder, and nothing else of the stack."""
    stack = Stack(Lake(str(folder)))
    try:
        stack.up(lambda _: None, only=["s3"])
        yield S3Server(stack)
    finally:
        stack.down(lambda _: None)
