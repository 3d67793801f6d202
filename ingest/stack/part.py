"""One part of the stack: a program of somebody else's, with its folder, its port and its health."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part keeps its data, and the ports of 127.0.0.1 that it listens on, by use."""

    folder: Path
    ports: Mapping[str, int]


class Part(Protocol):
    """A part, at its place."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def listens(self) -> Sequence[str]:
        """What its ports are for; the first is the one that clients know."""
        ...

    def prepare(self, place: Place) -> None:
        """Make its folder ready, the first time and each time; raises StackFailed."""
        ...

    def command(self, place: Place) -> Sequence[str]:
        """The command line of its process, which names the folder."""
        ...

    def is_healthy(self, place: Place) -> bool:
        """Whether it answers."""
        ...


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
