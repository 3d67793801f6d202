"""A batch is committed once, whoever repeats it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from ingest.errors import StreamLocked
from ingest.landing.batch import BatchProcessor
from ingest.spark import delta_tables
from ingest.spark.delta_commit import FileAppend
from ingest.storage import delta_log
from ingest.writers.bronze_writer import Committed, WriteResult
from tests.spark.landed_messages import landing_of, messages, writers_of
from tests.spark.workshop import Workshop

FIRST = [{"id": 0}, {"id": 1}]


class Killed(BaseException):
    """Stands for a process that is killed."""


def killed(landing: BatchProcessor, step: str, monkeypatch: pytest.MonkeyPatch, *args: Any) -> None:
    """Land messages up to a step."""

    def reached(name: str) -> None:
        if name == step:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("ingest.landing.batch.failpoint", reached)
        with pytest.raises(Killed):
            landing.land_messages(*args, repeated=False)


def another_process(landing: BatchProcessor, *, by_spark: bool = False) -> BatchProcessor:
    """The same stream, landed by another process."""
    stream, run = landing.stream.name, landing.stream_run
    writers = writers_of(landing.spark, landing.path, stream, run, by_spark=by_spark)
    return replace(landing, writers=writers)


def ids(landing: BatchProcessor) -> list[int | None]:
    """Ids that are in bronze."""
    return sorted(row.id for row in landing.spark.read.format("delta").load(landing.path).collect())


def test_commits_without_rows_are_known(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All records of the batch are duplicates, of which a row says nothing."""
    landing = landing_of(workshop, "all_duplicates", deduplicate_within="1 day", event_id=["id"])
    landing.land_messages(messages(workshop, FIRST), 0, repeated=False)
    again = messages(workshop, [{"id": 0}, {"id": 1, "new": True}], 2)
    killed(landing, "after_second_write", monkeypatch, again, 1)
    commits = another_process(landing).writers.commits
    nothing = Committed(WriteResult(0, 0))
    assert commits.committed(range(2, 5)) == [nothing, nothing, None]


def test_a_recovery_may_give_out_the_number_of_a_batch_without_rows(workshop: Workshop) -> None:
    """Such as one of a topic in which a transaction was aborted: the new one has other records."""
    landing = landing_of(workshop, "numbers_again")
    landing.land_messages(messages(workshop, []), 0, repeated=False)
    run = "another-checkpoint"
    writers = writers_of(landing.spark, landing.path, landing.stream.name, run)
    recovered = replace(landing, stream_run=run, writers=writers)
    recovered.land_messages(messages(workshop, FIRST), 0, repeated=True)
    assert ids(landing) == [0, 1]


@pytest.mark.parametrize("by_spark", [False, True])
def test_a_process_that_looked_back_before_another_has_committed_stops(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, *, by_spark: bool
) -> None:
    """It does neither land the batch again, nor remove the other one's files."""
    first = landing_of(workshop, f"looked_back_by_spark_{by_spark}".lower())
    first.land_messages(messages(workshop, FIRST), 0, repeated=False)
    second = another_process(first, by_spark=by_spark)
    batch = messages(workshop, [{"id": 2}], 2)

    def meanwhile(_: str) -> None:
        patched.undo()
        first.land_messages(batch, 1, repeated=False)

    with monkeypatch.context() as patched:
        patched.setattr("ingest.landing.batch.failpoint", meanwhile)
        with pytest.raises(StreamLocked, match="has landed batch"):
            second.land_messages(batch, 1, repeated=True)
    assert ids(first) == [0, 1, 2]


def test_a_commit_is_found_though_the_log_before_it_was_cleaned_up(workshop: Workshop) -> None:
    """Another program commits while nothing lands, and Delta removes what is a month old."""
    landing = landing_of(workshop, "cleaned_up", by_spark=True)
    landing.land_messages(messages(workshop, FIRST), 0, repeated=False)
    table = f"delta.`{landing.path}`"
    newest = delta_log.version(landing.path)
    for number in range(2):
        text = f"set tblproperties ('note' = '{number}')"
        workshop.spark.sql(f"alter table {table} {text}")
    DeltaTable(landing.path).create_checkpoint()
    Path(landing.path, "_delta_log", f"{newest + 1:020}.json").unlink()
    landed = landing.land_messages(messages(workshop, [{"id": 2}], 2), 1, repeated=False)
    assert (landed.landed, ids(landing)) == (1, [0, 1, 2])


def test_rows_that_were_deleted_since_do_not_land_again(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    landing = landing_of(workshop, "deleted")
    killed(landing, "after_first_write", monkeypatch, messages(workshop, FIRST), 0)
    workshop.spark.sql(f"delete from delta.`{landing.path}` where id = 1")
    landed = another_process(landing).land_messages(messages(workshop, FIRST), 0, repeated=True)
    assert (ids(landing), landed.landed) == ([0], 2)


@pytest.mark.parametrize("by_spark", [False, True])
def test_of_two_processes_that_land_a_batch_at_once_one_does(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, *, by_spark: bool
) -> None:
    """One begins its commit when the other has not yet made it."""
    first = landing_of(workshop, f"both_by_spark_{by_spark}".lower(), by_spark=by_spark)
    first.land_messages(messages(workshop, FIRST), 0, repeated=False)
    second = another_process(first, by_spark=by_spark)
    batch = messages(workshop, [{"id": 2}], 2)

    def meanwhile(write: Callable[..., Any]) -> Callable[..., Any]:
        def written(*args: Any) -> Any:
            patched.undo()
            second.land_messages(batch, 1, repeated=True)
            return write(*args)

        return written

    with monkeypatch.context() as patched:
        patched.setattr(delta_tables, "append", meanwhile(delta_tables.append))
        patched.setattr(FileAppend, "commit", meanwhile(FileAppend.commit))
        with pytest.raises(StreamLocked, match=r"at the same time\. Its rows stay"):
            first.land_messages(batch, 1, repeated=False)
    assert ids(first) == [0, 1, 2]
    later = messages(workshop, [{"id": 3}], 3)
    second.land_messages(later, 2, repeated=False)
    with pytest.raises(StreamLocked, match="has landed batch 4"):
        first.land_messages(later, 2, repeated=False)
    assert ids(first) == [0, 1, 2, 3]


def test_files_of_a_killed_try_are_removed(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    landing = landing_of(workshop, "remains")
    landing.land_messages(messages(workshop, FIRST), 0, repeated=False)

    def reached(_: str) -> None:
        raise Killed

    def files() -> set[str]:
        return {path.name for path in Path(landing.path).glob("batch-*")}

    before = files()
    with monkeypatch.context() as patched:
        patched.setattr("ingest.arrow_files.writer.failpoint", reached)
        with pytest.raises(Killed):
            landing.land_messages(messages(workshop, [{"id": 2}], 2), 1, repeated=False)
    left = files() - before
    again = another_process(landing)
    again.land_messages(messages(workshop, [{"id": 2}], 2), 1, repeated=True)
    assert (len(left), left & files(), ids(landing)) == (1, set(), [0, 1, 2])


def test_files_of_earlier_versions_stay_after_a_recovery(workshop: Workshop) -> None:
    """Rows were deleted, the stream recovered: their number is given out again."""
    landing = landing_of(workshop, "earlier_versions")
    landing.land_messages(messages(workshop, FIRST), 0, repeated=False)
    version = delta_log.version(landing.path)
    workshop.spark.sql(f"delete from delta.`{landing.path}`")
    run = "another-checkpoint"
    writers = writers_of(landing.spark, landing.path, landing.stream.name, run)
    recovered = replace(landing, stream_run=run, writers=writers)
    recovered.land_messages(messages(workshop, [{"id": 2}], 2), 0, repeated=True)
    assert ids(landing) == [2]
    workshop.spark.sql(f"restore table delta.`{landing.path}` to version as of {version}")
    assert ids(landing) == [0, 1]


def test_delta_still_reconstructs_its_state_for_transaction_ids(workshop: Workshop) -> None:
    """Why commits name their batch in userMetadata; where this fails, `txnVersion` costs as little.

    See docs/decisions/idempotent-batch-writes.md.
    """
    spark, path = workshop.spark, str(workshop.root / "transactions")
    delta_tables.create_table(path, T.StructType([T.StructField("id", T.LongType())]))
    context = spark.sparkContext

    def jobs(name: str, write: Callable[[DataFrame, str], None]) -> list[int]:
        """Jobs of each of three appends, the first of which also reads what Delta keeps."""
        counts = []
        for number in range(3):
            group = f"{name} {number}"
            context.setJobGroup(group, group)
            write(spark.createDataFrame([(number,)], "id bigint"), group)
            counts.append(len(context.statusTracker().getJobIdsForGroup(group)))
        return counts

    def append(rows: DataFrame, text: str) -> None:
        delta_tables.append(rows, path, text)

    def append_once(rows: DataFrame, text: str) -> None:
        delta_tables.append_once(rows, path, application=text, version=1)

    plain, once = jobs("plain", append), jobs("once", append_once)
    assert once[-1] > plain[-1]


def test_a_table_that_spark_creates_for_a_type_has_its_layer(workshop: Workshop) -> None:
    path = str(workshop.root / "a type with a variant")
    rows = workshop.spark.sql("select 1 as id, parse_json('{}') as data")
    for version in (1, 2):
        delta_tables.replace_once(rows, path, application="a", version=version)
    assert workshop.spark.read.format("delta").load(path).count() == 1
    properties = workshop.spark.sql(f"show tblproperties delta.`{path}` ('quality')").collect()
    assert [row.value for row in properties] == ["bronze"]
    assert delta_log.last_version(path, "a") == 2
