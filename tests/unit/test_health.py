"""What `ingest serve` answers at `/healthz`."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.errors import AddressRefused
from ingest.runtime.progress import WAITING, ProgressLog
from ingest.serve.health import (
    Health,
    HealthAddress,
    HealthEndpoint,
    health_address,
    without_credentials,
)
from ingest.serve.sql_endpoint import SqlEndpoint, address
from ingest.storage.layout import Lake

STREAMS = ("shop.orders", "shop.visits")


@pytest.fixture
def progress(tmp_path: Path) -> ProgressLog:
    """States of two streams that run."""
    log = ProgressLog(Lake(str(tmp_path)))
    for name in STREAMS:
        log.note(name, name.replace(".", "__"), state="running")
    return log


@pytest.fixture
def health(progress: ProgressLog) -> Health:
    """Of a process that has started all."""
    found = Health(has_begun=True)
    found.watch(STREAMS, progress, threading.Event())
    return found


@pytest.fixture
def at(health: Health) -> Iterator[HealthAddress]:
    """Where it is answered."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        where = HealthAddress("127.0.0.1", free.getsockname()[1])
    with HealthEndpoint(where, health):
        yield where


def ask(at: HealthAddress, path: str = "/healthz", method: str = "GET") -> tuple[int, Any]:
    """The status, and the answer where it is JSON."""
    connection = HTTPConnection(at.host, at.port, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    is_json = answer.headers["Content-Type"] == "application/json" and body
    return answer.status, json.loads(body) if is_json else body


def test_health_is_200_while_all_streams_run(at: HealthAddress) -> None:
    streams = dict.fromkeys(STREAMS, "running")
    assert ask(at) == (200, {"state": "running", "streams": streams})
    assert ask(at, "/healthz?verbose") == ask(at)


@pytest.mark.parametrize("state", ["failed", WAITING, "stopped"])
def test_health_is_503_with_the_error_of_a_stream_that_does_not_run(
    state: str, at: HealthAddress, progress: ProgressLog
) -> None:
    error = {"error": "shop.visits: no answer", "code": "BROKER"}
    progress.note("shop.visits", "shop__visits", state=state, **error)
    status, answer = ask(at)
    assert status == 503
    assert answer == {
        "state": "failing",
        "streams": {"shop.orders": "running", "shop.visits": state},
        "errors": {"shop.visits": "BROKER: shop.visits: no answer"},
    }
    assert ask(at, "/healthz/live") == (200, {"state": "live"})


def test_health_is_503_while_a_running_stream_has_an_error(
    at: HealthAddress, progress: ProgressLog
) -> None:
    progress.note("shop.visits", "shop__visits", error="no current rows", code="STOPPED")
    assert ask(at)[0] == 503


def test_health_is_503_until_all_has_started(at: HealthAddress, health: Health) -> None:
    health.has_begun = False
    assert ask(at)[0] == 503
    assert ask(at)[1]["state"] == "starting"
    health.has_begun = True
    health.watch([*STREAMS, "shop.carts"], ProgressLog(Lake("/nowhere")), threading.Event())
    status, answer = ask(at)
    assert (status, answer["streams"]["shop.carts"]) == (503, "starting")


def test_health_is_503_from_sigterm_on(
    at: HealthAddress, health: Health, progress: ProgressLog
) -> None:
    stopping = threading.Event()
    health.watch(STREAMS, progress, stopping)
    assert ask(at)[0] == 200
    stopping.set()
    assert ask(at)[0] == 503
    assert ask(at)[1]["state"] == "stopping"


def test_health_is_503_where_the_sql_endpoint_is_down(at: HealthAddress, health: Health) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        spark: Any = SimpleNamespace()
        health.endpoint = SqlEndpoint(spark, address(str(listening.getsockname()[1])))
        assert ask(at)[0] == 200
        assert ask(at)[1]["sql"] == "up"
    status, answer = ask(at)
    assert (status, answer["state"], answer["sql"]) == (503, "failing", "down")


def test_only_health_is_answered(at: HealthAddress) -> None:
    assert ask(at, "/")[0] == 404
    assert ask(at, "/healthz/..")[0] == 404
    assert ask(at, method="POST")[0] == 501


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        ("http://kate:s3cret@host:8083/x: refused", "http://[redacted]@host:8083/x: refused"),
        ("no login with password=s3cret, port 1", "no login with password=[redacted], port 1"),
        ('sasl.jaas.config: password="s3 cret";', "sasl.jaas.config: password=[redacted];"),
        ("fs.s3a.secret.key=s3cret", "fs.s3a.secret.key=[redacted]"),
        ("s3://b/k?X-Amz-Signature=s3cret&x=1", "s3://b/k?X-Amz-Signature=[redacted]&x=1"),
        ("shop.orders: key: order_id is null", "shop.orders: key: order_id is null"),
    ],
)
def test_credentials_are_not_answered(line: str, answered: str) -> None:
    assert without_credentials(line) == answered


def test_errors_are_answered_without_credentials(at: HealthAddress, progress: ProgressLog) -> None:
    progress.note("shop.visits", "shop__visits", state="failed", error="token=s3cret", code="X")
    assert ask(at)[1]["errors"] == {"shop.visits": "X: token=[redacted]"}


def test_health_address_is_a_port_or_an_address_and_a_port() -> None:
    assert health_address("8080") == HealthAddress("127.0.0.1", 8080)
    assert health_address("[::]:8080") == HealthAddress("::", 8080)
    with pytest.raises(AddressRefused, match="--health here: give a port"):
        health_address("here")


def test_a_taken_health_port_is_refused(at: HealthAddress, health: Health) -> None:
    with (
        pytest.raises(AddressRefused, match=f"--health 127.0.0.1:{at.port}: .*choose another"),
        HealthEndpoint(at, health),
    ):
        pass
