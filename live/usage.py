"""How much memory and how many cores the stack, the pipeline and the marketplace take."""

from __future__ import annotations

import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# MB that the whole stack and the pipeline may take.
MEMORY = 8_192


@dataclass(slots=True)
class Usage:
    """Of some processes and all that they have started, by their names.

    `memory` is resident, in MB, at its most: what processes share counts for each of them, so it
    is an upper bound. `cores` is processor time by wall-clock time since `since` (time.time()).
    """

    since: float = 0.0
    memory: Mapping[str, float] = field(default_factory=dict)
    cores: Mapping[str, float] = field(default_factory=dict)
    _first: tuple[float, Mapping[str, float]] | None = None

    def look(self, processes: Mapping[str, int]) -> None:
        """Note what processes hold and have taken until now."""
        asked = ["ps", "-A", "-o", "pid=,ppid=,rss=,time="]
        told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        rows = [line.split() for line in told.splitlines()]
        parents = {int(pid): int(parent) for pid, parent, *_ in rows}
        sizes = {int(pid): int(size) for pid, _, size, _ in rows}
        names = {pid: name for name, pid in processes.items()}
        held, taken = defaultdict[str, float](float), defaultdict[str, float](float)
        for text, parent, _, clock in rows:
            pid = int(text)
            # Who was started by another of these is that one's, if it is none itself.
            name = next((names[one] for one in _line(pid, parents) if one in names), None)
            if name is not None:
                taken[name] += _seconds(clock)
                # A process that is just being started is its parent once more, memory and all.
                held[name] += 0 if sizes[pid] == sizes.get(int(parent)) else sizes[pid] / 1024
        if sum(held.values()) > sum(self.memory.values()):
            self.memory = held
        now = time.time()
        if now >= self.since:
            began, before = self._first = self._first or (now, taken)
            if now > began:
                self.cores = {
                    name: (taken[name] - before[name]) / (now - began) for name in processes
                }


def _line(pid: int, parents: Mapping[int, int]) -> Iterable[int]:
    """A process, and those that it comes from."""
    while pid in parents:
        yield pid
        pid = parents[pid]


def _seconds(clock: str) -> float:
    """Processor time as ps tells it: [days-][hours:]minutes:seconds."""
    days, _, rest = clock.rpartition("-")
    seconds = 0.0
    for part in rest.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds + 86_400 * int(days or 0)
