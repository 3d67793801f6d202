"""A proxy of HTTP that loses, refuses and repeats by a plan what goes through it."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class Fault(Enum):
    """What happens to a request."""

    NONE = "it is answered"
    ANSWER_LOST = "it is done, and the connection ends without an answer"
    DONE_BUT_FAILED = "it is done, and the answer is 500"
    REQUEST_LOST = "the connection ends before the server has it"
    CONFLICT = "it is not done, and the answer is 409: two requests at once"
    FORBIDDEN = "it is not done, and the answer is 403"
    NOT_IMPLEMENTED = "it is not done, and the answer is 501"


# The fault of a request, by its method and path, which begins with the bucket.
Plan = Callable[[str, str], Fault]

_ANSWERS = {
    Fault.DONE_BUT_FAILED: (500, "InternalError"),
    Fault.CONFLICT: (409, "ConditionalRequestConflict"),
    Fault.FORBIDDEN: (403, "AccessDenied"),
    Fault.NOT_IMPLEMENTED: (501, "NotImplemented"),
}


# What is done although the client is not told so.
_DONE = (Fault.NONE, Fault.ANSWER_LOST, Fault.DONE_BUT_FAILED)


class FaultyProxy:
    """The proxy in front of the server at `upstream`; `plan` may be replaced at any time."""

    def __init__(self, upstream: str) -> None:
        self.plan: Plan = lambda *_: Fault.NONE
        self.seen: list[tuple[str, str]] = []
        self.upstream = urlsplit(upstream).netloc
        self._server = _Server(self)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def requests(self, method: str) -> int:
        """How many requests of a method it has seen since `seen` was emptied."""
        return sum(one == method for one, _ in self.seen)

    @contextlib.contextmanager
    def running(self) -> Iterator[FaultyProxy]:
        """Serve in a thread."""
        thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: FaultyProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.upstream = http.client.HTTPConnection(self.server.proxy.upstream)
        for method in ("GET", "HEAD", "PUT", "POST", "DELETE"):
            setattr(self, f"do_{method}", self.relay)

    def finish(self) -> None:
        self.upstream.close()
        with contextlib.suppress(OSError):
            super().finish()

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Nothing: tests assert what came of it."""

    def relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.proxy.seen.append((self.command, self.path))
        fault = self.server.proxy.plan(self.command, self.path)
        answer = self.forward(body) if fault in _DONE else None
        if fault in _ANSWERS:
            self.fail(*_ANSWERS[fault])
        elif answer and fault is Fault.NONE:
            self.give(*answer)
        else:
            self.close_connection = True

    def forward(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        # With the headers as they were signed.
        self.upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            # The body is here already.
            if name.lower() != "expect":
                self.upstream.putheader(name, value)
        self.upstream.endheaders(body)
        answer = self.upstream.getresponse()
        return answer, answer.read()

    def give(self, answer: http.client.HTTPResponse, content: bytes) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        # The answer to HEAD states the length of what it leaves out.
        length = answer.getheader("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def fail(self, status: int, code: str) -> None:
        content = f"<Error><Code>{code}</Code><Message>as planned</Message></Error>".encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
