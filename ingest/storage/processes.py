"""Processes of this machine, told apart for certain where the operating system allows it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process: its number, when it started, and where numbers mean the same processes.

    `space` names a running kernel and a namespace of numbers in it; empty where there is no way to
    know, as outside of Linux.
    """

    space: str
    pid: int
    started: str

    @staticmethod
    def own() -> ProcessIdentity:
        """This process."""
        pid = os.getpid()
        try:
            boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
            space = f"{boot}/{(_PROC / 'self/ns/pid').stat().st_ino}"
        except OSError:
            return ProcessIdentity("", pid, "")
        started = _start_of(pid)
        return ProcessIdentity(space if started else "", pid, started)

    def is_running(self) -> bool | None:
        """Whether the process runs; None where that cannot be known from here."""
        own = ProcessIdentity.own()
        if not self.space or self.space != own.space:
            return None
        return _start_of(self.pid) == self.started


def _start_of(pid: int) -> str:
    """When a process started, in ticks since the machine did; empty where it has ended."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("ascii", errors="replace")
    except OSError:
        return ""
    # The name, in brackets, may have blanks and brackets.
    state, *fields = text.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]
