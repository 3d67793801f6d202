"""An S3 server of the tests' own, without Spark and without Kafka."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import pytest

from ingest.stack import s3
from tests.objects.proxy import Proxy
from tests.s3_server import S3Server, running

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The server."""
    with running(tmp_path_factory.mktemp("s3")) as started:
        yield started


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without the variables of anybody's own buckets."""
    for name in os.environ:
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)


@pytest.fixture
def root(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty folder of the server's bucket, which the environment leads to."""
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)
    return f"s3a://{s3.BUCKET}/test-{next(_NUMBERS)}"


@pytest.fixture
def proxy(server: S3Server, root: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy before the server, which the environment leads to instead."""
    del root
    with Proxy(server.port) as found:
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.url)
        yield found
