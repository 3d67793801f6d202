"""Ports of 127.0.0.1 for services: given by the user, or free ones."""

from __future__ import annotations

import socket
from collections.abc import Collection, Mapping, Sequence

from ingest.errors import InputError

# Below these, systems let only some users listen; PostgreSQL's is never among them.
_PORTS = range(1024, 65536)


def declared_ports(typed: Sequence[str], services: Collection[str]) -> Mapping[str, int]:
    """Ports by service, parsed from texts such as `kafka=9092`. Raises InputError."""
    ports: dict[str, int] = {}
    for text in typed:
        service, _, number = text.partition("=")
        if service not in services:
            raise InputError(
                f"--port {text}: unknown service {service!r}; services are {', '.join(services)}"
            )
        if not (number.isascii() and number.isdigit() and int(number) in _PORTS):
            raise InputError(
                f"--port {text}: {number!r} is not a port from {_PORTS[0]} to {_PORTS[-1]}, "
                f"such as {service}=9092"
            )
        if service in ports or int(number) in ports.values():
            raise InputError(f"--port {text}: each service needs a port of its own")
        ports[service] = int(number)
    return ports


def refuse_taken(service: str, port: int) -> None:
    """Raises InputError where another process listens on the port."""
    with socket.socket() as tried:
        # As servers do: connections that have ended do not block the port.
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(
                f"--port {service}={port}: 127.0.0.1:{port} is taken: "
                f"{error.strerror}; stop that process, or give another port"
            ) from error


def free_port(taken: Collection[int]) -> int:
    """A port that no process listens on and that is not in `taken`."""
    while True:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port: int = found.getsockname()[1]
        if port not in taken:
            return port
