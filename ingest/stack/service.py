"""A service of the stack: an external program with a data folder, ports and a health check."""

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
    """Data folder of a service, and its ports on 127.0.0.1 by use.

    `others` are the homes of the services that were started before it, by name.
    """

    folder: Path
    ports: Mapping[str, int]
    others: Mapping[str, ServiceHome] = field(default_factory=dict)


class Service(Protocol):
    """A service that the stack starts and stops."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def listens(self) -> Sequence[str]:
        """Uses of its ports; the first is the port for clients."""
        ...

    @property
    def ends_on(self) -> signal.Signals:
        """Signal that shuts it down cleanly."""
        ...

    @property
    def user(self) -> str | None:
        """Operating system user that it runs as; None: the current user."""
        ...

    def folder(self, wanted: Path) -> Path:
        """Its data folder: `wanted`, a folder of the lake, or another. Called once."""
        ...

    def prepare(self, home: ServiceHome) -> None:
        """Prepare its folder before each start. Raises StackFailed."""
        ...

    def command(self, home: ServiceHome) -> Sequence[str]:
        """Command line of its process; contains the folder."""
        ...

    def is_healthy(self, home: ServiceHome) -> bool:
        """Whether it answers requests."""
        ...


# Java reserves 240 MB for compiled code; no service has so much.
_LITTLE_CODE = "-XX:ReservedCodeCacheSize=64m"


class OwnService:
    """Base of the services that run as the current user, with their data in the lake."""

    @property
    def ends_on(self) -> signal.Signals:
        return signal.SIGTERM

    @property
    def user(self) -> str | None:
        return None

    def folder(self, wanted: Path) -> Path:
        return wanted


class JavaService(OwnService):
    """Base of those that run on Java, from a folder of jars."""

    def __init__(self, jars: Path) -> None:
        self._java = ("java", "-XX:+UseSerialGC", _LITTLE_CODE, "-cp", f"{jars}/*")


def answers(port: int, path: str, status: int = 200) -> bool:
    """Whether a GET of `path` is answered with a status."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
            return bool(answer.status == status)
    except urllib.error.HTTPError as error:
        return error.code == status
    except OSError:
        return False
