"""Ports of 127.0.0.1 that parts listen on: those that somebody has declared, and free ones."""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence

from ingest.errors import InputError

# Below these, systems let only some users listen; PostgreSQL's is never among them.
_PORTS = range(1024, 65536)


def declared_ports(typed: Sequence[str], parts: Collection[str]) -> Mapping[str, int]:
    """Ports by part, of texts such as `kafka=9092`. Raises InputError."""
    ports: dict[str, int] = {}
    for text in typed:
        part, _, number = text.partition("=")
        if part not in parts:
            raise InputError(f"--port {text}: there is no part {part!r}, but {', '.join(parts)}")
        if not (number.isascii() and number.isdigit() and int(number) in _PORTS):
            raise InputError(
                f"--port {text}: {number!r} is no port from {_PORTS[0]} to {_PORTS[-1]}, "
                f"such as {part}=9092"
            )
        if part in ports or int(number) in ports.values():
            raise InputError(f"--port {text}: one port a part, and one part a port")
        ports[part] = int(number)
    return ports


def refuse_taken(part: str, port: int) -> None:
    """Raises InputError where a part could not listen, since somebody else does."""
    with socket.socket() as tried:
        # As servers do: what is left of connections that have ended is in nobody's way.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(
                f"--port {part}={port}: 127.0.0.1:{port} cannot be had: "
                f"{error.strerror}; stop what listens there, or declare another one"
            ) from error


def free_port(taken: Collection[int]) -> int:
    """A port that nobody listens on, and that is none of these."""
    while True:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port: int = found.getsockname()[1]
        if port not in taken:
            return port
