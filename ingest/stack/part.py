"""One part of the stack: a program of somebody else's, with its folder, its port and its health."""

from __future__ import annotations

import signal
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ServiceHome:
    """Where a part keeps its data, and the ports of 127.0.0.1 that it listens on, by use.

    `beside` are the places of the parts that were started before it.
    """

    folder: Path
    ports: Mapping[str, int]
    beside: Mapping[str, ServiceHome] = field(default_factory=dict)


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

    @property
    def ends_on(self) -> signal.Signals:
        """What it takes for the wish that it ends, in good order."""
        ...

    @property
    def user(self) -> str | None:
        """The user of the system that it runs as; None: the one who starts it."""
        ...

    def folder(self, wanted: Path) -> Path:
        """Where its data can be: in `wanted`, a folder of the lake, or elsewhere. Asked once."""
        ...

    def prepare(self, place: ServiceHome) -> None:
        """Make its folder ready, the first time and each time; raises StackFailed."""
        ...

    def command(self, place: ServiceHome) -> Sequence[str]:
        """The command line of its process, which names the folder."""
        ...

    def is_healthy(self, place: ServiceHome) -> bool:
        """Whether it answers."""
        ...


# Java reserves 240 MB for what it compiles; none of the parts has so much code.
_LITTLE_CODE = "-XX:ReservedCodeCacheSize=64m"


class JavaPart:
    """What all parts have in common that run on Java."""

    def __init__(self, jars: Path) -> None:
        self._java = ("java", "-XX:+UseSerialGC", _LITTLE_CODE, "-cp", f"{jars}/*")

    @property
    def ends_on(self) -> signal.Signals:
        """See Part."""
        return signal.SIGTERM

    @property
    def user(self) -> str | None:
        """See Part."""
        return None

    def folder(self, wanted: Path) -> Path:
        """See Part."""
        return wanted


def answers(port: int, path: str) -> bool:
    """Whether a part answers at a place of its API."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
