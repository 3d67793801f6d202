"""A Delta table's log, read without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from ingest.storage import delta_log, delta_writes
from ingest.storage.delta_log import BatchCounts


def append(path: str, batches: Sequence[int], rescued: Sequence[str | None], version: int) -> None:
    """Append rows of `batches` as one commit of application `a`."""
    write_deltalake(
        path,
        pa.table(
            {
                "_batch_id": pa.array(batches, pa.int64()),
                "_rescued": pa.array(rescued, pa.string()),
            }
        ),
        mode="append",
        commit_properties=CommitProperties(app_transactions=[Transaction("a", version)]),
    )


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Batch 2 in two commits, and a file of batches 3 and 4, as compaction leaves them."""
    path = str(tmp_path / "a table")
    append(path, [2, 2], [None, "{}"], 1)
    append(path, [2], [None], 2)
    append(path, [3, 4], ["{}", None], 4)
    return path


def test_a_batch_is_counted(table: str) -> None:
    assert delta_log.counted(table, 2) == BatchCounts(rows=3, rescued=1)
    assert delta_log.counted(table, 5) == BatchCounts(rows=0, rescued=0)


def test_a_batch_that_shares_a_file_is_not_counted(table: str) -> None:
    assert delta_log.counted(table, 3) is None


def test_the_newest_batch_and_the_files_are_known(table: str) -> None:
    assert delta_log.newest_batch(table) == 4
    assert delta_log.number_of_files(table) == 3


def test_a_table_without_rows_has_no_newest_batch(tmp_path: Path) -> None:
    append(str(tmp_path / "empty"), [], [], 0)
    assert delta_log.newest_batch(str(tmp_path / "empty")) == -1


def test_commits_of_an_application_are_known_by_version(table: str) -> None:
    assert delta_log.has_appended(table, application="a", version=4)
    assert not delta_log.has_appended(table, application="a", version=5)
    assert not delta_log.has_appended(table, application="b", version=0)


def test_each_table_has_an_id_of_its_own(table: str, tmp_path: Path) -> None:
    append(str(tmp_path / "other"), [1], [None], 0)
    assert delta_log.table_id(table) == delta_log.table_id(table)
    assert delta_log.table_id(table) != delta_log.table_id(str(tmp_path / "other"))


def test_columns_of_a_small_table_are_read(table: str) -> None:
    assert sorted(delta_log.rows(table, ["_batch_id"])["_batch_id"].to_pylist()) == [2, 2, 2, 3, 4]


def test_rows_are_appended_once_a_version(table: str) -> None:
    for version in (5, 5, 6):
        delta_writes.append_rows(table, [(5, None), (5, "{}")], application="b", version=version)
    delta_writes.append_rows(table, [(6, None)])
    assert delta_log.counted(table, 5) == BatchCounts(rows=4, rescued=2)
    assert delta_log.newest_batch(table) == 6


def test_rows_after_a_batch_are_read_also_of_files_that_hold_others(table: str) -> None:
    found = delta_log.rows_after(table, 3, ["_batch_id", "_rescued"])
    assert found.to_pylist() == [{"_batch_id": 4, "_rescued": None}]
    assert len(delta_log.rows_after(table, 4, ["_batch_id", "_rescued"])) == 0


def test_rows_are_found_by_value_and_deleted(table: str) -> None:
    assert len(delta_log.rows_where(table, {"_rescued": "{}"}, ["_batch_id"])) == 2
    assert delta_writes.delete_rows(table, "_rescued = '{}' and _batch_id <= 2") == 1
    assert len(delta_log.rows_where(table, {"_rescued": "{}"}, ["_batch_id"])) == 1


def test_two_writers_replace_their_own_rows_at_once(table: str) -> None:
    def write(batch: int) -> None:
        for number in range(15):
            delta_writes.replace_rows(table, [(batch, str(number))], f"_batch_id = {batch}")

    with ThreadPoolExecutor(2) as writers:
        for done in [writers.submit(write, batch) for batch in (2, 4)]:
            done.result()
    rows = delta_log.rows(table).sort_by("_batch_id").to_pylist()
    assert [tuple(row.values()) for row in rows] == [(2, "14"), (3, "{}"), (4, "14")]


def test_two_processes_that_make_a_table_make_one(tmp_path: Path) -> None:
    schema = (
        '{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,'
        '"metadata":{"comment":"What it means."}}]}'
    )

    # Delta's own, and one that it does not know.
    properties = {"delta.checkpointInterval": "50", "quality": "bronze"}

    def make(path: str) -> None:
        delta_writes.create(path, schema, properties)

    for number in range(20):
        path = str(tmp_path / f"table {number}")
        with ThreadPoolExecutor(4) as makers:
            list(makers.map(make, [path] * 4))
        assert delta_log.version(path) == 0
    made = DeltaTable(path)
    assert made.metadata().configuration == properties
    assert made.schema().fields[0].metadata == {"comment": "What it means."}
