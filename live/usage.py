"""How much memory and how many cores the stack, the pipeline and the marketplace take."""

from __future__ import annotations

import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# MB that the whole stack and the pipeline may take.
MEMORY = 8_192
# Seconds in which a process that is being started has become itself.
_MOMENT = 0.2


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
        # Who is just being started is its parent once more, memory and all, for a moment.
        before = {pid: size for pid, _, size, _ in _asked()}
        time.sleep(_MOMENT)
        rows = _asked()
        parents = {pid: parent for pid, parent, *_ in rows}
        names = {pid: name for name, pid in processes.items()}
        held, taken = defaultdict[str, float](float), defaultdict[str, float](float)
        for pid, _, size, seconds in rows:
            # Who was started by another of these is that one's, if it is none itself.
            name = next((names[one] for one in _line(pid, parents) if one in names), None)
            if name is not None:
                taken[name] += seconds
                held[name] += min(size, before.get(pid, 0.0))
        if sum(held.values()) > sum(self.memory.values()):
            self.memory = held
        now = time.time()
        if now >= self.since:
            began, taken_before = self._first = self._first or (now, taken)
            if now > began:
                self.cores = {
                    name: (taken[name] - taken_before[name]) / (now - began) for name in processes
                }


def _asked() -> list[tuple[int, int, float, float]]:
    """Each process, its parent, MB that it holds, and seconds of processor that it has taken."""
    asked = ["ps", "-A", "-o", "pid=,ppid=,rss=,time="]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return [
        (int(pid), int(parent), int(size) / 1024, _seconds(clock))
        for pid, parent, size, clock in map(str.split, told.splitlines())
    ]


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
