"""Spark's Python workers do little between two tasks, and wait for nothing in one."""

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import daemon
from pyspark.sql import SparkSession


def test_a_worker_has_no_archive_to_read_and_no_garbage_to_look_for(spark: SparkSession) -> None:
    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            archives = [path for path in sys.path_importer_cache if Path(path).is_file()]
            told = {"archives": [len(archives)], "frozen": [gc.get_freeze_count()]}
            yield pa.RecordBatch.from_pydict(told)

    kinds = "archives long, frozen long"
    (found,) = spark.range(0, 1, 1, 1).mapInArrow(look, kinds).collect()
    assert found.archives == 0
    # Those of the modules that decode; a worker may have loaded more since.
    assert found.frozen > 20_000


@pytest.mark.skipif(
    not (hasattr(socket, "TCP_QUICKACK") and hasattr(daemon, "worker_main")),
    reason="only Linux has TCP_QUICKACK, and only Spark 4.0 has no Unix sockets for Python",
)
def test_a_worker_acknowledges_what_it_receives(spark: SparkSession) -> None:
    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            work = sys.modules["pyspark.daemon"].worker_main
            yield pa.RecordBatch.from_pydict({"module": [work.__module__]})

    (found,) = spark.range(0, 1, 1, 1).mapInArrow(look, "module string").collect()
    # The daemon's own, which `test_python_workers.py` of unit tests looks at.
    assert found.module == "__main__"
