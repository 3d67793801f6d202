"""One Spark session for all tests that land files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from ingest.spark.session import session
from tests.spark.workshop import Workshop


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of `ingest`'s own commands, without a catalog."""
    spark = session("tests", str(tmp_path_factory.mktemp("warehouse")))
    # Rows are few and plans many; the processes that tests start compile theirs as always.
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    # For the same reason: a task that finds nothing costs as much as one with all the rows.
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    yield spark
    spark.stop()
    # The JVM too: tests that build with dbt come next in the process, and start another.
    gateway: Any = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None


@pytest.fixture(scope="package")
def workshop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """A lake that tests share, a table each; tables of ops are made once."""
    return Workshop(spark, tmp_path_factory.mktemp("a lake"))


@pytest.fixture
def apart(spark: SparkSession, tmp_path: Path) -> Workshop:
    """A lake of one test's own."""
    return Workshop(spark, tmp_path)
