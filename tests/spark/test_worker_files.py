"""What Spark's workers write themselves is what Spark would have written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JError

from ingest.landing.batch import BatchProcessor
from tests.spark.landed_messages import landing_of, messages
from tests.spark.workshop import Workshop

FIRST = [{"id": 0, "more": 1}]
SOUND: list[dict[str, Any] | None] = [
    {
        "id": 1,
        "name": "ä" * 40,
        "at": "1581-10-01T00:00:00.000001Z",
        "small": -32768,
        "day": "1581-02-28",
        "amount": 12.5,
        "size": -0.25,
        "is_new": True,
        "numbers": [1, 2147483647],
        "inner": {"when": "2026-03-01T10:00:00Z", "deep": {"count": 3}},
        "by_name": {"a": 1.5, "b": -999.9},
        "any": {"b": [1, 2.50, None, "x" * 70], "a": {"\u00e4": 0.25}},
        "many": [1, {"a": False}],
    },
    {"id": 2, "name": "", "at": "2026-03-02T01:30:00.5+02:00", "small": 7, "day": "2026-03-01"},
    {"id": 3, "amount": "-0.10", "size": 7, "numbers": [], "inner": {}, "by_name": {}},
    {"id": 4, "any": None, "many": [None, [], {}]},
    {
        "id": 9007199254740993,
        "any": 9223372036854775807,
        "name": "\U0010ffff" * 33,
        "inner": {"deep": {}},
    },
    {"id": 5, "unknown": [], "inner": {"other": {}}, "many": [[None]]},
    None,
]
ODD: list[Any] = [
    {"id": 10, "at": "2026-03-01T10:00+02:00"},
    {"id": 11, "day": "2026-02-30"},
    {"id": 12, "small": 32768},
    {"id": 13, "amount": 0.125},
    {"id": 14, "numbers": [1, 2147483648]},
    {"id": 17, "any": {"a": 9223372036854775808}},
    *({"id": 18, "at": at} for at in ("10:15:00", "0000-01-01T00:00:00Z", "2026")),
    {"id": 19, "inner": {"when": "9999-12-31T23:59:59-08:00"}},
    *({"id": 20, "day": day} for day in ("0000-01-01", "10:15", 20261128)),
    {"id": 21, "any": {"x": "\ud800", "y": None}},
    {"id": 22, "name": "\ud800"},
    {"id": 15, "inner": {"deep": {"count": "three"}}},
    {"name": "nobody"},
    {"id": 16, "newer": 1},
    "no object",
]


def adds(folder: str) -> list[dict[str, Any]]:
    """The files that a table's log has added."""
    logs = sorted(Path(folder, "_delta_log").glob("*.json"))
    lines = [json.loads(line) for log in logs for line in log.read_text("utf-8").splitlines()]
    return [one["add"] for one in lines if "add" in one]


def rows_of_workers(landing: BatchProcessor) -> int:
    """How many rows are in files that Spark has not written: it counts its files in their names."""
    files = [one for one in adds(landing.path) if "-c000." not in one["path"]]
    return sum(json.loads(one["stats"])["numRecords"] for one in files)


def stats_of(landing: BatchProcessor, offset: int) -> dict[str, Any]:
    """What the log tells of the file of one message, which is alone in its partition."""
    told = [json.loads(one["stats"]) for one in adds(landing.path)]
    (found,) = (one for one in told if one["minValues"]["_offset"] == offset)
    return {name: _without_empty(told) for name, told in found.items()}


def _without_empty(told: Any) -> Any:
    """Spark also tells structs of which nothing is known."""
    if not isinstance(told, dict):
        return told
    members = {name: _without_empty(one) for name, one in told.items()}
    return {name: one for name, one in members.items() if one != {}}


def land_both(workshop: Workshop, name: str) -> tuple[BatchProcessor, BatchProcessor]:
    """Two streams, of which workers and Spark write files, as they are behind a first batch.

    What is new in a first batch makes the table grow, which only Spark does.
    """
    found = []
    for by in ("workers", "spark"):
        is_sparks = by == "spark"
        landing = landing_of(workshop, f"{name}_by_{by}", by_spark=is_sparks, event_time="at")
        landing.land_messages(messages(workshop, FIRST), 0, repeated=False)
        found.append(landing)
    return found[0], found[1]


@pytest.fixture(scope="module")
def both(workshop: Workshop) -> tuple[BatchProcessor, BatchProcessor]:
    """The same messages, landed by workers and by Spark."""
    ours, sparks = land_both(workshop, "both")
    later = messages(workshop, SOUND + ODD, len(FIRST))
    counts = ours.land_messages(later, 1, repeated=False)
    assert counts == sparks.land_messages(later, 1, repeated=False)
    assert (counts.records, counts.quarantined) == (len(SOUND) + len(ODD), 2)
    return ours, sparks


def shown(landing: BatchProcessor) -> list[str]:
    """All rows of bronze, as texts, as no two VARIANTs are equal; which commit is theirs is left
    out: Spark takes more records in the first one.
    """
    rows = landing.spark.read.format("delta").load(landing.path).drop("_batch_id")
    names = [f"to_json(any) as {name}" if name == "any" else name for name in rows.columns]
    return sorted(map(str, rows.selectExpr(*names).collect()))


def test_rows_are_those_that_spark_would_have_written(
    both: tuple[BatchProcessor, BatchProcessor],
) -> None:
    ours, sparks = map(shown, both)
    assert ours == sparks
    assert len(ours) == len(FIRST) + len(SOUND) + len(ODD) - 2


def test_rejects_are_those_of_spark(both: tuple[BatchProcessor, BatchProcessor]) -> None:
    names = ("_offset", "_raw", "_reason_code", "_reason", "_rule")
    ours, sparks = (
        sorted(
            map(
                str,
                one.spark.read.format("delta").load(one.quarantine.path).select(*names).collect(),
            )
        )
        for one in both
    )
    assert ours == sparks


def test_plain_records_are_in_files_of_the_workers(
    both: tuple[BatchProcessor, BatchProcessor],
) -> None:
    assert list(map(rows_of_workers, both)) == [len(SOUND), 0]


def test_file_statistics_equal_those_of_spark(workshop: Workshop) -> None:
    ours, sparks = land_both(workshop, "told")
    for batch, one in enumerate(SOUND, 1):
        for landing in (ours, sparks):
            landing.land_messages(messages(workshop, [one], batch), batch, repeated=False)
    for offset in range(1, len(SOUND) + 1):
        assert stats_of(ours, offset) == stats_of(sparks, offset)
    assert rows_of_workers(ours) == len(SOUND)
    histories = (
        one.spark.sql(f"describe history delta.`{one.path}` limit {len(SOUND)}").collect()
        for one in (ours, sparks)
    )
    mine, theirs = (
        [
            (row.operation, sorted(row.operationMetrics), row.operationMetrics["numOutputRows"])
            for row in one
        ]
        for one in histories
    )
    assert mine == theirs


@pytest.mark.parametrize(
    ("step", "landed"), [("before_first_commit", 0), ("after_first_write", len(SOUND))]
)
def test_a_repeated_batch_lands_what_an_earlier_try_has_not(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, step: str, landed: int
) -> None:
    """Whoever wrote the first commit: Spark would not have held back all of it."""
    ours, sparks = land_both(workshop, f"repeated_{step}")
    later = messages(workshop, SOUND + ODD, len(FIRST))

    def killed(reached: str) -> None:
        if reached == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        for module in ("landing.batch", "arrow_files.writer"):
            patched.setattr(f"ingest.{module}.failpoint", killed)
        with pytest.raises(KeyboardInterrupt):
            ours.land_messages(later, 1, repeated=False)
    assert rows_of_workers(ours) == landed
    again = replace(ours, writers=replace(ours.writers, quicker=[]))
    again.land_messages(later, 1, repeated=True)
    sparks.land_messages(later, 1, repeated=False)
    assert shown(again) == shown(sparks)


def test_batch_that_needs_sparks_parser_is_written_by_spark(
    workshop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "ingest.arrow_files")
    ours, _ = land_both(workshop, "unsuited")
    elsewhere = [{"id": number, "at": "2026-03-01"} for number in range(1000)]
    files = len(list(Path(ours.path).glob("*.parquet")))

    landed = ours.land_messages(messages(workshop, elsewhere, len(FIRST)), 1, repeated=False)

    assert (landed.landed, landed.has_second, rows_of_workers(ours)) == (1000, False, 0)
    written = [one for one in Path(ours.path).glob("*.parquet") if "-c000." not in one.name]
    assert (len(written), files > 0) == (0, True)
    assert "test__unsuited_by_workers: batch 2: many values need Spark's parser; " in caplog.text
    # The next one is not tried, as it would be in vain again.
    ours.land_messages(messages(workshop, SOUND, 2000), 2, repeated=False)
    assert rows_of_workers(ours) == 0


def test_additional_variant_of_a_table_is_written_by_spark(workshop: Workshop) -> None:
    ours, _ = land_both(workshop, "beside")
    ours.spark.sql(f"alter table delta.`{ours.path}` add columns (earlier struct<v: variant>)")
    landed = ours.land_messages(messages(workshop, SOUND, len(FIRST)), 1, repeated=False)
    assert (landed.landed, rows_of_workers(ours)) == (len(SOUND), 0)


def test_what_is_promised_of_a_table_is_kept_by_spark(workshop: Workshop) -> None:
    ours, _ = land_both(workshop, "promised")
    ours.spark.sql(f"alter table delta.`{ours.path}` add constraint some check (id < 100)")
    ours.land_messages(messages(workshop, SOUND[:3], len(FIRST)), 1, repeated=False)
    assert rows_of_workers(ours) == 0
    with pytest.raises(Py4JError, match="DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"):
        ours.land_messages(messages(workshop, [{"id": 100}], 100), 2, repeated=False)
