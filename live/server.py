"""`ingest serve` as a process that is started, killed at any moment, and ended."""

from __future__ import annotations

import contextlib
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

from ingest.errors import AddressRefused
from ingest.serve.sql_endpoint import address, check_free

_COMMAND = (
    *("-m", "ingest", "serve"),
    *("--streams", "source:live.*", "--build", "source:live.*+"),
)
_TO_END = 120.0
# Where it can be made to kill itself in each batch, in the order of a batch.
_STEPS = (
    "before_first_write",
    "before_first_commit",
    "after_first_write",
    "after_second_write",
    "after_quarantine",
)
# Seconds until the first kill, when its work has begun; from one kill to the next, at random: it
# may still be starting, or be at any step; and in which it comes to the step that it is to.
_FIRST, _BETWEEN, _TO_REACH = (2.0, 10.0), (15.0, 60.0), 90.0
# No system gives these to who asks for any port: a port stays free while it starts anew.
_PORTS = range(20_000, 32_768)


def lasting_port() -> int:
    """A port of 127.0.0.1 for one process after the other. Raises AddressRefused."""
    # Not the first one: who else looks for one now does not look there.
    for port in _PORTS[os.getpid() % (len(_PORTS) // 2) :]:
        with contextlib.suppress(AddressRefused):
            check_free(address(str(port)))
            return port
    raise AddressRefused(f"none of the ports up to {_PORTS[-1]} is free for SQL")


@dataclass(slots=True)
class Server:
    """Writes to `log`, answers SQL on `port`, and is killed `kills` times at work.

    First at a moment that `draw` says, then once at each step of its writes, then at more such
    moments. `step` is the one at which it is to kill itself now, `at_steps` are those at which it
    has, `missed` those that it did not come to in time.
    """

    log: Path
    kills: int
    draw: random.Random
    port: int = field(default_factory=lasting_port)
    killed: int = 0
    at_steps: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] = field(init=False)
    step: str = ""
    _due: float | None = None

    def start(self) -> None:
        """Start it, or another one behind it."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as file:
            # In a session of its own: Ctrl-C is for us to pass on.
            self.process = subprocess.Popen(
                [sys.executable, *_COMMAND, "--sql", str(self.port)],
                env={**os.environ, "HEADWATER_FAILPOINT": self.step},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def kill_when_due(self) -> None:
        """Kill it where it is time, or see that it has killed itself, and start another one.

        The first call says that its work has begun.
        """
        now = time.monotonic()
        if self._due is None:
            self._due = now + self.draw.uniform(*_FIRST)
        is_due = now > self._due and self.killed < self.kills and not self.has_ended()
        if is_due or self._is_at_step():
            self._replace()

    def spare(self) -> None:
        """Kill it no more: one that would kill itself gives way to one that does not."""
        if self.step and not self.has_ended():
            self.kills = self.killed + 1
            self._replace()

    def _replace(self) -> None:
        if self.step:
            (self.at_steps if self._is_at_step() else self.missed).append(self.step)
        self.kill()
        self.killed += 1
        left = _STEPS[len(self.at_steps) + len(self.missed) :]
        self.step = left[0] if left and self.killed < self.kills else ""
        seconds = _TO_REACH if self.step else self.draw.uniform(*_BETWEEN)
        self._due = time.monotonic() + seconds
        self.start()

    def has_ended(self) -> bool:
        """Whether it has ended by itself, and not because it was to be killed."""
        return self.process.poll() is not None and not self._is_at_step()

    def _is_at_step(self) -> bool:
        return bool(self.step) and self.process.poll() == -signal.SIGKILL

    def kill(self) -> None:
        """End it now, and Java with it."""
        # Where it has killed itself, Java is what is left.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """Have it end, by force if need be."""
        self.process.terminate()
        try:
            self.process.wait(_TO_END)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def serving(server: Server) -> Iterator[None]:
    """Started, and ended when we leave: in good order, unless something is wrong or in haste."""
    server.start()
    try:
        yield
        server.stop()
    except BaseException:
        server.kill()
        raise
