"""Bronze is laid out as it is read."""

from __future__ import annotations

import os
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame

from ingest.landing import compaction
from ingest.landing.compaction import compacted
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


def test_clustered_files_are_not_rewritten_for_later_ones(
    workshop: Workshop,
) -> None:
    workshop.stream("grown", {"x": "string"}, event_type="type", max_files_per_trigger=1)
    path = workshop.lake.bronze("test__grown")

    def land(first: int) -> None:
        for number in range(first, first + 4):
            records = [{"type": "t", "x": os.urandom(10_000).hex()} for _ in range(10)]
            workshop.drop("grown", f"{number}.jsonl", records)
        workshop.land("grown")

    land(0)
    assert compacted(workshop.spark, path, least=4)
    (clustered,) = DeltaTable(path).file_uris()
    land(4)
    assert compacted(workshop.spark, path, least=4)
    assert len(files := DeltaTable(path).file_uris()) == 2
    assert clustered in files
    # Of those that are alike there are too few.
    assert not compacted(workshop.spark, path, least=4)
    assert workshop.table("grown").count() == 80


def test_large_files_are_clustered_once(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "_LARGE", 9)
    workshop.stream("large", {"id": "bigint"}, max_files_per_trigger=1)
    for number in range(3):
        workshop.drop("large", f"{number}.jsonl", [{"id": number}])
    workshop.land("large")
    path = workshop.lake.bronze("test__large")
    assert compacted(workshop.spark, path, least=3)
    assert not compacted(workshop.spark, path, least=1)
