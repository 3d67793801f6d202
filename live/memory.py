"""How much memory the stack and the pipeline hold, all processes together."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Memory:
    """Of some processes and all that they have started: resident, in MB, at its most.

    What processes share counts for each of them, so this is an upper bound.
    """

    most: Mapping[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """All of it."""
        return sum(self.most.values())

    def look(self, processes: Mapping[str, int]) -> None:
        """Note what processes hold now, by their names, if it is more than before."""
        asked = ["ps", "-A", "-o", "pid=,ppid=,rss="]
        listed = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        rows = [tuple(map(int, line.split())) for line in listed.splitlines()]
        sizes = {pid: size for pid, _, size in rows}
        parents = {pid: parent for pid, parent, _ in rows}
        now = {
            name: sum(sizes[one] for one in sizes if root in _line(one, parents)) / 1024
            for name, root in processes.items()
        }
        if sum(now.values()) > self.total:
            self.most = now


def _line(pid: int, parents: Mapping[int, int]) -> Iterable[int]:
    """A process, and those that it comes from."""
    while pid in parents:
        yield pid
        pid = parents[pid]
