"""A stack of the tests' own, and a session that reads it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from ingest.lake import Lake
from ingest.stack.postgres import address
from ingest.stack.stack import Stack
from tests.live.topics import Topics
from tests.spark.conftest import spark

__all__ = ["spark"]


@pytest.fixture(scope="package")
def topics(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    """A lake, and the broker that stands in it."""
    root = tmp_path_factory.mktemp("live")
    stack = Stack(Lake(str(root / "lake")))
    try:
        stack.up(lambda _: None)
        yield Topics(
            spark,
            root,
            address=stack.address("kafka"),
            database=address(int(stack.address("postgres").partition(":")[2])),
            stack=stack,
        )
    finally:
        stack.down(lambda _: None)
        for part in stack.status():
            # Some keep their data elsewhere, where another user can reach them.
            shutil.rmtree(part.folder, ignore_errors=True)
