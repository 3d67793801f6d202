"""What a table's log says of the batches that were committed to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake

from ingest.storage import batch_commits
from ingest.storage.batch_commits import CommitId, LookBack

MINE = CommitId("run", 4, "me")


def commit(path: str, metadata: str | None, rows: Sequence[str | None] = ("{}", None)) -> None:
    """Append rows as one commit, with their `_rescued`."""
    properties = CommitProperties(custom_metadata={"userMetadata": metadata} if metadata else None)
    table = pa.table({"_rescued": pa.array(rows, pa.string())})
    write_deltalake(path, table, mode="append", commit_properties=properties)


def of(batch_id: int, run: str = "run", writer: str = "earlier") -> str:
    """The metadata of a batch's commit."""
    return CommitId(run, batch_id, writer).metadata()


def looked_back(path: str) -> LookBack:
    """What the log says of MINE."""
    return batch_commits.look_back(path, MINE, batch_commits.newest_version(path))


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A table with one commit, of batch 2."""
    commit(str(tmp_path / "a table"), of(2))
    return str(tmp_path / "a table")


def test_a_batch_is_found_with_its_counts(path: str) -> None:
    commit(path, of(4), ["{}", None, None])
    DeltaTable(path).optimize.compact()
    found = looked_back(path)
    assert found.is_certain
    assert found.commit
    assert (found.commit.version, found.commit.writer) == (1, "earlier")
    assert (found.commit.rows, found.commit.rescued) == (3, 1)


def test_of_a_number_that_an_earlier_checkpoint_gave_out_the_log_does_not_say_whose_it_is(
    path: str,
) -> None:
    """A recovery repeats a batch, or begins where rows end, which a batch without rows passed."""
    commit(path, of(4, run="an earlier checkpoint"), [])
    assert looked_back(path) == LookBack(None, is_certain=False)


def test_a_batch_that_a_restored_table_does_not_have_may_come_again(path: str) -> None:
    commit(path, of(4))
    DeltaTable(path).restore(0)
    assert looked_back(path) == LookBack(None, is_certain=False)


def test_a_commit_without_rows_is_a_commit(path: str) -> None:
    commit(path, of(4), [])
    found = looked_back(path)
    assert found.commit
    assert (found.commit.rows, found.commit.rescued) == (0, 0)


def test_a_batch_whose_rows_were_deleted_since_was_committed(path: str) -> None:
    commit(path, of(4))
    DeltaTable(path).delete()
    assert looked_back(path).commit


@pytest.mark.parametrize("newest", [of(3), of(2, run="an earlier checkpoint")])
def test_a_batch_behind_an_earlier_one_was_not_committed(path: str, newest: str) -> None:
    commit(path, newest)
    assert looked_back(path) == LookBack(None, is_certain=True)


@pytest.mark.parametrize("metadata", [None, "a note", "[1]", '{"format": "of another program"}'])
def test_of_an_append_without_a_batch_the_log_does_not_say_whose_it_is(
    path: str, metadata: str | None
) -> None:
    commit(path, metadata)
    assert looked_back(path) == LookBack(None, is_certain=False)


def test_a_log_that_was_cleaned_up_says_nothing(path: str) -> None:
    Path(path, "_delta_log", f"{0:020}.json").rename(Path(path, "0.json"))
    write_log(path, 1, {"commitInfo": {"operation": "OPTIMIZE"}})
    assert not batch_commits.look_back(path, MINE, 1).is_certain


def test_a_new_table_has_no_batch(tmp_path: Path) -> None:
    path = str(tmp_path / "new")
    DeltaTable.create(path, pa.schema([("_rescued", pa.string())]))
    assert looked_back(path) == LookBack(None, is_certain=True)


def test_files_without_statistics_are_not_counted(path: str) -> None:
    write_log(path, 1, {"commitInfo": {"userMetadata": of(4)}}, {"add": {"path": "a"}})
    ((_, found),) = batch_commits.commits_after(path, 0)
    assert found
    assert (found.rows, found.rescued, found.files) == (None, None, ["a"])


def write_log(path: str, version: int, *actions: Mapping[str, Any]) -> None:
    """Write a version of a table's log."""
    log = Path(path, "_delta_log", f"{version:020}.json")
    log.write_text("\n".join(map(json.dumps, actions)), "utf-8")
