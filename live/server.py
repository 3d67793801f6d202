"""`ingest serve` as a process that is started, killed at any moment, and ended."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_COMMAND = (*("-m", "ingest", "serve"), *("--streams", "source:live.*", "--build", "tag:live"))
_TO_END = 120.0
# Seconds from one kill to the next, at random: it may still be starting, or be at any step.
_LEAST, _MOST = 15.0, 60.0


@dataclass(slots=True)
class Server:
    """Writes to `log`, and is killed `kills` times; `draw` says when, once its work has begun."""

    log: Path
    kills: int
    draw: random.Random
    killed: int = 0
    process: subprocess.Popen[bytes] = field(init=False)
    _next: float | None = None

    def start(self) -> None:
        """Start it, or another one behind it."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as file:
            # In a session of its own: Ctrl-C is for us to pass on.
            self.process = subprocess.Popen(
                [sys.executable, *_COMMAND],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def kill_when_due(self) -> None:
        """Kill it, and Java with it, where it is time, and start another one."""
        now = time.monotonic()
        if self._next is None or now > self._next:
            is_first, self._next = self._next is None, now + self.draw.uniform(_LEAST, _MOST)
            if is_first or self.killed == self.kills or self.has_ended():
                return
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.killed += 1
            self.start()

    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self.process.poll() is not None

    def stop(self) -> None:
        """Have it end, by force if need be."""
        self.process.terminate()
        try:
            self.process.wait(_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def serving(server: Server) -> Iterator[None]:
    """Started, and ended when we leave."""
    server.start()
    try:
        yield
    finally:
        server.stop()
