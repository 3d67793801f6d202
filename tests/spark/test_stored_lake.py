"""A lake, its checkpoints and landing folders written by commit c02def0 are continued."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.spark.workshop import Workshop
from tests.stored import unpack

COLUMNS = {
    "readings": {"id": "string", "amount": "decimal(12,2)"},
    "accounts": {"id": "bigint", "seq": "string"},
    "interrupted": {"id": "bigint"},
}

STREAMS = ("readings", "hooks", "accounts", "interrupted")


def hook(event_id: str, event_type: str, **data: object) -> dict[str, object]:
    """A CloudEvent."""
    envelope = {"specversion": "1.0", "source": "test", "time": "2026-03-03T08:00:00Z"}
    return {**envelope, "id": event_id, "type": event_type, "data": data}


@pytest.fixture(scope="module")
def stored(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """The stored lake, and one more file in each stream, landed by this code."""
    root = tmp_path_factory.mktemp("a stored lake")
    unpack(root)
    workshop = Workshop(spark, root)
    workshop.stream(
        "readings", COLUMNS["readings"], event_id=["id"], deduplicate_within="36500 days"
    )
    stock = {"name": "stock", "event_types": ["stock.*"], "per_type": "tables"}
    workshop.stream("hooks", envelope="cloudevents", event_groups=[stock])
    workshop.stream(
        "accounts",
        COLUMNS["accounts"],
        envelope="dms",
        key=["id"],
        sequence_by=["seq"],
        keep_current=True,
    )
    workshop.stream("interrupted", COLUMNS["interrupted"])
    again, new = {"id": "r3", "amount": 3}, {"id": "r4", "amount": 4.5, "unit": "kWh"}
    workshop.drop("readings", "3.jsonl", [again, new])
    opened = hook("h6", "issue.opened", number=3, title="odd", urgent=True)
    workshop.drop("hooks", "3.jsonl", [opened, hook("h7", "stock.counted", item="bolt", count=9)])
    late = {"id": 2, "seq": "0002", "Op": "U", "name": "late"}
    newer = {"id": 2, "seq": "0009", "Op": "U", "name": "Rob"}
    workshop.drop("accounts", "3.jsonl", [late, newer])
    workshop.drop("interrupted", "3.jsonl", [{"id": 5}])
    for name in STREAMS:
        workshop.land(name)
    assert workshop.fill("hooks") == []
    return workshop


@pytest.mark.long
def test_stored_and_new_rows_are_there_once(stored: Workshop) -> None:
    assert [tuple(row) for row in stored.rows("readings", "id", "cast(amount as string)")] == [
        ("r1", "1.50"),
        ("r2", None),
        ("r3", "3.00"),
        ("r4", "4.50"),
    ]
    assert stored.values("hooks", "id") == [f"h{number}" for number in range(1, 8)]
    assert stored.table("accounts").count() == 10


def test_files_that_landed_before_do_not_land_again(stored: Workshop) -> None:
    files = {Path(path).name for path in stored.values("accounts", "_source")}
    assert files == {"1.jsonl", "2.jsonl", "3.jsonl"}
    batches = stored.table("accounts").groupBy("_source").agg(F.count_distinct("_batch_id"))
    assert {row[1] for row in batches.collect()} == {1}


def test_interrupted_batch_is_completed_once(stored: Workshop) -> None:
    """Its first commit has no identity in the log, as later code writes it."""
    assert [tuple(row) for row in stored.rows("interrupted", "id", "note")] == [
        (1, None),
        (2, None),
        (3, None),
        (4, "a new field"),
        (5, None),
    ]
    [rejected] = stored.rejects("interrupted")
    assert (rejected.file, bytes(rejected._raw)) == ("2.jsonl", b"no json")


def test_batch_numbers_continue(stored: Workshop) -> None:
    for name in STREAMS:
        rows = stored.rows(name, "_batch_id", "element_at(split(_source, '/'), -1) as file")
        new = {row._batch_id for row in rows if row.file == "3.jsonl"}
        old = {row._batch_id for row in rows if row.file == "1.jsonl"}
        assert new
        assert min(new) > max(old)


def test_rescued_values_and_quarantine_remain(stored: Workshop) -> None:
    assert stored.rows("readings", "id", "_rescued")[1]._rescued == '{"amount":"a lot"}'
    [rejected] = stored.rejects("readings")
    assert (rejected.file, bytes(rejected._raw)) == ("1.jsonl", b"{not json")
    [rejected] = stored.rejects("accounts")
    assert (rejected.file, rejected._reason_code) == ("2.jsonl", "NULL_SEQUENCE")


def test_view_of_an_event_type_shows_stored_and_new_events(stored: Workshop) -> None:
    rows = stored.type_table("issue.opened", "hooks").select("id", "number", "labels", "urgent")
    found = {row.id: (row.number, row.labels, row.urgent) for row in rows.collect()}
    assert found == {"h1": (1, None, None), "h4": (2, ["bug"], None), "h6": (3, None, True)}


def test_table_of_an_event_type_continues(stored: Workshop) -> None:
    table = stored.spark.read.format("delta").load(
        stored.lake.table("bronze_test", "stock_counted")
    )
    rows = sorted(tuple(row) for row in table.select("id", "item", "count").collect())
    assert rows == [("h3", "bolt", 5), ("h5", "nut", 7), ("h7", "bolt", 9)]


def test_current_table_continues_by_sequence(stored: Workshop) -> None:
    assert [tuple(row) for row in stored.rows("accounts__current", "id", "name")] == [
        (1, "Ada L."),
        (2, "Rob"),
        (4, "Di"),
    ]
