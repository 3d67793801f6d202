"""What dbt says of a lake in a bucket that it cannot use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.stack.s3 import BUCKET
from tests.build.lake import ROOT
from tests.objects.proxy import Proxy
from tests.s3_server import S3Server

REFUSED = (
    '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'
)


def said(folder: Path, server: S3Server, url: str) -> str:
    """What `dbt run` prints, where the bucket is at `url`."""
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "run", "--select"),
            *("app_events", "--target-path", str(folder), "--log-path", str(folder)),
        ],
        cwd=ROOT,
        env={**os.environ, **server.environ(url), "HEADWATER_LAKE": f"s3a://{BUCKET}/lake-of-dbt"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    return ended.stdout


def test_a_server_that_does_not_answer_is_said_before_spark_starts(
    server: S3Server, tmp_path: Path
) -> None:
    assert (
        f"STORAGE: s3a://{BUCKET}/lake-of-dbt: http://127.0.0.1:9 does not answer: see that it runs"
    ) in said(tmp_path, server, "http://127.0.0.1:9")


@pytest.mark.long
def test_a_lake_that_may_not_be_written_is_one_line(server: S3Server, tmp_path: Path) -> None:
    with Proxy(server.port) as proxy:
        proxy.answers = lambda method, _: (403, REFUSED) if method in ("PUT", "POST") else None
        told = said(tmp_path, server, proxy.url)
    assert "STORAGE: the lake: s3a: the credentials may not do this (" in told
    assert "software.amazon" not in told
