"""One S3 server for all tests that need one, and a faulty proxy in front of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.s3.faults import Fault, FaultyProxy
from tests.s3_server import S3Server, running


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The server."""
    with running(tmp_path_factory.mktemp("s3")) as started:
        yield started


@pytest.fixture(scope="package")
def standing_proxy(server: S3Server) -> Iterator[FaultyProxy]:
    """The proxy, for what lives longer than a test."""
    with FaultyProxy(server.url).running() as proxy:
        yield proxy


@pytest.fixture
def proxy(standing_proxy: FaultyProxy) -> FaultyProxy:
    """A proxy in front of the server, without faults yet."""
    standing_proxy.plan = lambda *_: Fault.NONE
    standing_proxy.seen.clear()
    return standing_proxy
