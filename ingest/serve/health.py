"""`GET /healthz` of `ingest serve`: whether all streams run and the SQL endpoint is up.

Whoever reaches the address may ask. So it answers names of streams and their one-line errors,
without credentials, and reads memory only: a probe costs no request to the lake.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from ingest.errors import AddressRefused
from ingest.runtime.progress import ProgressLog, StreamProgress
from ingest.serve.sql_endpoint import host_and_port

# Seconds that a client may take to ask.
_PATIENCE = 10.0
# User and password in a URL.
_USER = re.compile(r"(?<=://)[^/\s@]+(?=@)")
# A value that is given to such a name.
_SECRET = re.compile(
    r"(?i)((?:password|secret|token|signature|\bsig|(?:access|account|api|mask)[._-]?key)"
    r"[\w.-]*[\"']?\s*[=:]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s,;&]+)"
)


class HealthAddress(NamedTuple):
    """Where `/healthz` is answered."""

    host: str
    port: int


def health_address(text: str) -> HealthAddress:
    """The address that `[HOST:]PORT` says. Raises AddressRefused."""
    return HealthAddress(*host_and_port("--health", text))


class Endpoint(Protocol):
    """An endpoint that can be down."""

    @property
    def is_up(self) -> bool:
        """Whether it answers."""


@dataclass(slots=True)
class Health:
    """What `/healthz` reports. `serve` fills it in while its parts start."""

    endpoint: Endpoint | None = None
    has_begun: bool = False
    _streams: Sequence[str] = ()
    _progress: ProgressLog | None = None
    _stopping: threading.Event = field(default_factory=threading.Event)

    def watch(
        self, streams: Sequence[str], progress: ProgressLog, stopping: threading.Event
    ) -> None:
        """Report these streams from now on, and that the process stops once `stopping` is set."""
        self._streams, self._progress, self._stopping = streams, progress, stopping

    def report(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether all is well, and the answer."""
        known = self._progress.states() if self._progress else {}
        streams = {name: _state(known.get(name)) for name in self._streams}
        errors = {
            name: without_credentials(f"{found.code}: {found.error}")
            for name in streams
            if (found := known.get(name)) and found.error
        }
        answer: dict[str, Any] = {"streams": streams}
        is_well = not errors and all(state == "running" for state in streams.values())
        if errors:
            answer["errors"] = errors
        if self.endpoint:
            is_up = self.endpoint.is_up
            answer["sql"] = "up" if is_up else "down"
            is_well = is_well and is_up
        if self._stopping.is_set():
            return False, {"state": "stopping", **answer}
        if not self.has_begun:
            return False, {"state": "starting", **answer}
        return is_well, {"state": "running" if is_well else "failing", **answer}


class HealthEndpoint:
    """An HTTP server in threads of its own, from `with` to its end."""

    def __init__(self, at: HealthAddress, health: Health) -> None:
        self._at, self._health = at, health

    def __enter__(self) -> HealthEndpoint:
        """Listen. Raises AddressRefused."""
        try:
            self._server = _Server(self._at, self._health)
        except OSError as error:
            raise AddressRefused(
                f"--health {self._at.host}:{self._at.port}: {error.strerror}; "
                "choose another address or port"
            ) from error
        threading.Thread(target=self._server.serve_forever, name="health", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def without_credentials(text: str) -> str:
    """An error's line without the passwords, tokens and keys that it may quote."""
    return _SECRET.sub(r"\1[redacted]", _USER.sub("[redacted]", text))


def _state(totals: StreamProgress | None) -> str:
    return totals.state if totals else "starting"


class _Server(ThreadingTCPServer):
    """http.server's own would ask DNS for a name that nothing uses."""

    daemon_threads = allow_reuse_address = True

    def __init__(self, at: HealthAddress, health: Health) -> None:
        self.address_family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
        self.health = health
        super().__init__(at, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "headwater", ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        match urlsplit(self.path).path:
            case "/healthz":
                is_well, answer = self.server.health.report()
            case "/healthz/live":
                is_well, answer = True, {"state": "live"}
            case _:
                self.send_error(HTTPStatus.NOT_FOUND)
                return
        body = json.dumps(answer).encode() + b"\n"
        self.send_response(HTTPStatus.OK if is_well else HTTPStatus.SERVICE_UNAVAILABLE)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """A probe every few seconds is no news."""
