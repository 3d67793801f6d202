"""Batches become rows of `ops.stream_progress`, each once, whenever a process is killed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ingest.landing.result import BatchResult
from ingest.runtime import progress
from ingest.runtime.progress import ProgressLog, read_totals, save_totals
from ingest.storage import delta_log
from ingest.storage.layout import Lake
from tests.spark.workshop import Workshop

AT = datetime(2026, 11, 23, 8, 30, tzinfo=UTC)


def begun(lake: Lake) -> ProgressLog:
    """The log of a process that has just begun; the one before was killed."""
    log = ProgressLog(lake)
    for name in ("visits", "clicks"):
        log.begin(f"test.{name}", f"test__{name}")
    return log


def add(log: ProgressLog, batch: int, name: str = "visits") -> None:
    """Remember a batch of as many records as its number."""
    log.add(f"test.{name}", BatchResult(batch_id=batch, files=0, records=batch), 0.5, AT)


def rows(lake: Lake) -> list[tuple[str, int, int]]:
    """Stream, batch and records of each row."""
    found = delta_log.rows(lake.ops("stream_progress")).to_pylist()
    assert all(one["ended_at"] == AT for one in found)
    return sorted((one["stream"], one["_batch_id"], one["records"]) for one in found)


@pytest.fixture
def lake(apart: Workshop) -> Lake:
    """An empty lake."""
    return apart.lake


def test_batches_that_were_not_written_are_written_by_the_next_process(lake: Lake) -> None:
    first = begun(lake)
    add(first, 2)
    first.write()
    add(first, 4)
    add(first, 2, "clicks")
    second = begun(lake)
    # It was not committed, so it runs again.
    add(second, 4)
    add(second, 6)
    second.write()
    assert rows(lake) == [
        ("test.clicks", 2, 2),
        ("test.visits", 2, 2),
        ("test.visits", 4, 4),
        ("test.visits", 6, 6),
    ]


def test_batches_that_were_written_before_a_kill_are_not_written_again(lake: Lake) -> None:
    first = begun(lake)
    add(first, 2)
    file = Path(lake.root, "_progress", "test__visits.batches.jsonl")
    told = file.read_text("utf-8")
    first.write()
    assert file.read_text("utf-8") == ""
    # Killed behind the commit; and a line that was cut off.
    file.write_text(told + told[:20], "utf-8")
    second = begun(lake)
    add(second, 2)
    add(second, 4)
    begun(lake).write()
    assert rows(lake) == [("test.visits", 2, 2), ("test.visits", 4, 4)]


def test_only_the_newest_batches_are_looked_at(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    first = begun(lake)
    for batch in (2, 4, 6):
        at = AT + timedelta(hours=batch)
        landed = BatchResult(batch_id=batch, files=0)
        save_totals(lake, read_totals(lake, "test.visits", "test__visits").after(landed, at))
        first.add("test.visits", landed, 0.5, at)
        first.write()
    read: list[int] = []
    whole = delta_log.rows_where

    def watched(*asked: Any, **told: Any) -> pa.Table:
        found = whole(*asked, **told)
        read.extend(found["_batch_id"].to_pylist())
        return found

    monkeypatch.setattr(delta_log, "rows_where", watched)
    second = begun(lake)
    assert read == [6]
    # It is known: that it runs again is no news.
    second.add("test.visits", BatchResult(batch_id=6, files=0), 0.5, AT)
    second.write()
    assert len(delta_log.rows(lake.ops("stream_progress"))) == 3


def test_many_files_become_one(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_MOST_FILES", 3)
    log = begun(lake)
    for batch, files in ((2, 1), (4, 2), (6, 3), (8, 1), (10, 2)):
        add(log, batch)
        log.write()
        assert delta_log.number_of_files(lake.ops("stream_progress")) == files
    assert [batch for _, batch, _ in rows(lake)] == [2, 4, 6, 8, 10]
