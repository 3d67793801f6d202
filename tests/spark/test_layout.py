"""Bronze is laid out as it is read."""

from __future__ import annotations

import os
from typing import Any

from pyspark.sql import DataFrame

from ingest.bronze.maintenance import compacted
from tests.spark.workshop import Workshop


def files_read(frame: DataFrame) -> int:
    """Files that a query has read, by its plan's own count."""
    frame.collect()
    leaves: Any = frame._jdf.queryExecution().executedPlan().collectLeaves()
    return int(leaves.apply(0).metrics().apply("numFiles").value())


def test_a_filter_on_date_or_type_reads_only_its_files(workshop: Workshop) -> None:
    workshop.stream("clustered", event_type="type", event_time="at", max_files_per_trigger=10)
    for day in range(1, 9):
        records = [
            {"type": f"t{kind}", "at": f"2026-01-{day:02}T01:00:00Z", "x": os.urandom(200).hex()}
            for kind in range(8)
            for _ in range(15)
        ]
        workshop.drop("clustered", f"{day}.jsonl", records)
    workshop.land("clustered")
    setting = "spark.databricks.delta.optimize.maxFileSize"
    workshop.spark.conf.set(setting, str(24 * 1024))
    try:
        assert compacted(workshop.spark, workshop.lake.bronze("test__clustered"), least=1)
    finally:
        workshop.spark.conf.unset(setting)
    table = workshop.table("clustered")
    everything = files_read(table)
    assert everything >= 8
    assert files_read(table.where("_event_date = date'2026-01-03'")) <= everything / 2
    assert files_read(table.where("_event_type = 't3'")) <= everything / 2
    both = table.where("_event_date = date'2026-01-03' and _event_type = 't3'")
    assert files_read(both) <= everything / 4
    assert both.count() == 15


def test_few_files_are_left_alone(workshop: Workshop) -> None:
    workshop.stream("few", {"id": "bigint"})
    workshop.drop("few", "1.jsonl", [{"id": 1}])
    workshop.land("few")
    path = workshop.lake.bronze("test__few")
    assert not compacted(workshop.spark, path)
    assert compacted(workshop.spark, path, least=1)
