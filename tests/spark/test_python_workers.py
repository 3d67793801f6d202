"""Spark's Python workers do little between two tasks."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
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
