"""What Spark's Python workers do with what they receive."""

from __future__ import annotations

import io
import socket
import sys
from types import SimpleNamespace
from typing import IO

import pytest

from ingest.decoders import worker_daemon

_QUICKACK = getattr(socket, "TCP_QUICKACK", None)


@pytest.mark.skipif(
    _QUICKACK is None,
    reason="only Linux has TCP_QUICKACK; elsewhere the daemon leaves this step out",
)
def test_each_piece_is_acknowledged_before_the_next_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    class Watched(socket.socket):
        def recv_into(self, buffer: bytearray) -> int:  # type: ignore[override]
            told.append("received")
            return super().recv_into(buffer)

        def setsockopt(self, level: int, option: int, value: int) -> None:  # type: ignore[override]
            assert (level, option, value) == (socket.IPPROTO_TCP, _QUICKACK, 1)
            told.append("acknowledged")
            super().setsockopt(level, option, value)

    def main(infile: IO[bytes], outfile: IO[bytes]) -> None:
        outfile.write(infile.read(5))
        outfile.write(infile.read())

    with socket.create_server(("127.0.0.1", 0)) as server:
        sender = socket.create_connection(server.getsockname())
        received, _ = server.accept()
    with received, received.makefile("rb") as infile, io.BytesIO() as outfile:
        with sender:
            sender.sendall(b"first")
            monkeypatch.setattr(socket, "socket", Watched)
            sender.sendall(b"second")
        worker_daemon.prompt(main)(infile, outfile)
        assert outfile.getvalue() == b"firstsecond"
    assert told == ["received", "acknowledged"] * (len(told) // 2)
    assert len(told) >= 4


@pytest.mark.skipif(_QUICKACK is None, reason="only Linux has TCP_QUICKACK")
@pytest.mark.parametrize(("is_unix", "lines"), [("true", 0), ("false", 1)])
def test_a_daemon_without_the_function_of_workers_is_reported_where_they_wait(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_unix: str, lines: int
) -> None:
    monkeypatch.setenv("PYTHON_UNIX_DOMAIN_ENABLED", is_unix)
    worker_daemon.acknowledge_at_once(SimpleNamespace())
    assert capsys.readouterr().err.count("no worker_main") == lines


@pytest.mark.skipif(_QUICKACK is None, reason="only Linux has TCP_QUICKACK")
def test_workers_on_unix_sockets_read_as_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Unix socket has nothing to acknowledge: asked to, it fails."""
    monkeypatch.setenv("PYTHON_UNIX_DOMAIN_ENABLED", "true")
    daemon = SimpleNamespace(worker_main=print)
    worker_daemon.acknowledge_at_once(daemon)
    assert daemon.worker_main is print


def test_archives_stay_where_only_they_have_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = worker_daemon.__file__
    monkeypatch.setattr(sys, "path", [archive, *sys.path])
    worker_daemon._leave_archives()
    assert archive not in sys.path

    monkeypatch.setattr(sys, "path", [archive, *sys.path])
    monkeypatch.setattr(worker_daemon, "find_spec", lambda _: None)
    worker_daemon._leave_archives()
    assert sys.path[0] == archive
