"""A proxy of HTTP before a server, which counts requests, loses answers and gives others."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

# What becomes of a request: None passes it on. A text is answered, with a status, in its place.
Answer = tuple[int, str]


class Proxy:
    """Passes requests on, and counts them by method.

    `loses` says of method and path whether the answer is lost: the server has done what was asked.
    `answers` gives another answer in its place: then it has not.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[str] = []
        self.loses: Callable[[str, str], bool] = lambda _method, _path: False
        self.answers: Callable[[str, str], Answer | None] = lambda _method, _path: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def pages(count: int) -> Callable[[str, str], Answer | None]:
    """Answers of a store that has so many objects in a folder."""

    def answer(method: str, path: str) -> Answer | None:
        asked = parse_qs(urlsplit(path).query)
        if method != "GET" or "list-type" not in asked:
            return None
        (prefix,), (start,) = asked["prefix"], asked.get("continuation-token", ["0"])
        end = int(start) + 1000
        shown = "".join(
            f"<Contents><Key>{prefix}{one:07}.jsonl</Key><Size>2</Size><ETag>x</ETag>"
            "<LastModified>2026-11-28T00:00:00.000Z</LastModified></Contents>"
            for one in range(int(start), min(end, count))
        )
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < count else ""
        return 200, f"<ListBucketResult>{shown}{more}</ListBucketResult>"

    return answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, proxy: Proxy, *more: Any) -> None:
        self._proxy = proxy
        super().__init__(*more)

    def log_message(self, *_: object) -> None:
        pass

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self._proxy.requests.append(self.command)
        if other := self._proxy.answers(self.command, self.path):
            self._answer(other[0], [], other[1].encode())
            return
        server = http.client.HTTPConnection("127.0.0.1", self._proxy.port, timeout=30)
        try:
            server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                server.putheader(name, value)
            server.endheaders(body)
            answer = server.getresponse()
            content = answer.read()
        finally:
            server.close()
        if self._proxy.loses(self.command, self.path):
            self.close_connection = True
            self.connection.close()
            return
        self._answer(answer.status, answer.getheaders(), content)

    def _answer(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        if "content-length" not in [name.lower() for name, _ in headers]:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass_on  # noqa: N815
