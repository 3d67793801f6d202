"""Delta tables in a bucket, read and written without Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Schema, write_deltalake

from ingest.errors import StorageFailed
from ingest.storage import batch_commits, delta_log, delta_writes
from ingest.storage.batch_commits import CommitId
from ingest.storage.layout import Lake
from tests.objects.proxy import Proxy

COLUMNS = pa.schema([("name", pa.string()), ("number", pa.int64())])
SCHEMA = Schema.from_arrow(COLUMNS).to_json()


@pytest.fixture
def path(root: str) -> str:
    """The URL of an empty table."""
    path = Lake(root).ops("things")
    delta_writes.create(path, SCHEMA, {"delta.appendOnly": "false"})
    return path


def rows(path: str) -> list[tuple[str, int]]:
    """Rows of a table, in order."""
    found = delta_log.rows(path)
    return sorted(zip(found["name"].to_pylist(), found["number"].to_pylist(), strict=True))


def test_a_small_table_is_written_and_read(path: str, root: str) -> None:
    lake = Lake(root)
    assert lake.is_table(path)
    assert not lake.is_table(lake.ops("none"))
    assert lake.tables() == ["ops.things"]
    delta_writes.append_rows(path, [("a", 1), ("b", 2)])
    for _ in range(2):
        delta_writes.append_rows(path, [("c", 3)], application="me", version=7)
    assert delta_log.has_appended(path, application="me", version=7)
    delta_writes.replace_rows(path, [("b", 20)], "name = 'b'")
    assert delta_writes.delete_rows(path, "name = 'a'") == 1
    assert rows(path) == [("b", 20), ("c", 3)]
    found = delta_log.rows_where(path, {"name": "c"}, ["number"])
    assert found["number"].to_pylist() == [3]
    assert delta_log.last_commit(path)["operation"] == "DELETE"
    assert delta_log.last_commit(path)["version"] == delta_log.version(path) == 4
    delta_writes.compact(path)
    assert delta_log.number_of_files(path) == 1
    sold = lake.table("bronze_shop", "sold")
    delta_writes.create(sold, SCHEMA, {"quality": "bronze"})
    delta_writes.write_once(sold, pa.table({"id": [1]}), application="me", version=1, is_anew=True)
    assert delta_log.column_names(sold) == ["id"]
    assert lake.tables() == ["bronze_shop.sold", "ops.things"]


def test_of_processes_that_create_a_table_one_does(root: str) -> None:
    path = Lake(root).ops("things")
    with ThreadPoolExecutor(6) as creators:
        list(creators.map(lambda _: delta_writes.create(path, SCHEMA, {}), range(6)))
    assert delta_log.version(path) == 0


def test_commits_of_several_writers_are_all_kept(path: str) -> None:
    def write(writer: int) -> None:
        for number in range(4):
            delta_writes.append_rows(path, [(f"w{writer}", number)])
            delta_writes.replace_rows(path, [(f"new {writer}", number)], f"name = 'new {writer}'")

    with ThreadPoolExecutor(3) as writers:
        list(writers.map(write, range(3)))
    assert rows(path) == sorted(
        [(f"new {writer}", 3) for writer in range(3)]
        + [(f"w{writer}", number) for writer in range(3) for number in range(4)]
    )


def test_a_commit_whose_answer_was_lost_is_there_once(path: str, proxy: Proxy) -> None:
    lost: list[str] = []

    def lose(method: str, asked: str) -> bool:
        if method == "PUT" and "_delta_log/0" in asked:
            lost.append(asked)
            return len(lost) == 1
        return False

    proxy.loses = lose
    writes: list[Callable[[], None]] = [
        lambda: delta_writes.append_rows(path, [("a", 1)]),
        lambda: delta_writes.append_rows(path, [("b", 2)], application="me", version=0),
        lambda: delta_writes.replace_rows(path, [("a", 10)], "name = 'a'"),
    ]
    for write in writes:
        lost.clear()
        write()
        assert len(lost) > 1
    assert rows(path) == [("a", 10), ("b", 2)]
    assert delta_log.last_version(path, "me") == 0


def bronze(path: str, batches: Sequence[int], commit: CommitId) -> None:
    """Append rows of a batch as one commit."""
    write_deltalake(
        path,
        pa.table(
            {
                "_batch_id": pa.array(batches, pa.int64()),
                "_rescued": pa.nulls(len(batches), pa.string()),
                "kind": [f"kind {batch}" for batch in batches],
                "_ingested_at": pa.array([datetime.now(UTC)] * len(batches)),
            }
        ),
        mode="append",
        commit_properties=CommitProperties(custom_metadata={"userMetadata": commit.metadata(1)}),
    )


def test_batches_are_found_in_the_log_and_in_files(root: str) -> None:
    path = Lake(root).bronze("shop__orders")
    for batch in (2, 4):
        bronze(path, [batch, batch], CommitId("run", batch, "me"))
    found = batch_commits.look_back(
        path, CommitId("run", 4, "other"), batch_commits.newest_version(path)
    )
    assert found.is_certain
    assert found.commit
    assert (found.commit.rows, found.commit.writer, found.commit.records) == (2, "me", 1)
    assert [number for number, _ in batch_commits.commits_after(path, -1)] == [0, 1]
    assert delta_log.newest_batch(path) == 4
    assert delta_log.rows_after(path, 2, ["_batch_id", "kind"]).num_rows == 2
    kinds = delta_log.distinct_values(path, "kind", "_batch_id", (2, 4), most_rows=100)
    assert kinds is not None
    assert kinds.to_pylist() == ["kind 4"]


def test_a_commit_that_the_store_refuses_is_one_line(path: str, proxy: Proxy) -> None:
    proxy.answers = lambda method, _path: (
        (403, "<Error><Code>AccessDenied</Code></Error>") if method in ("PUT", "POST") else None
    )
    attempts: list[Callable[[], None]] = [
        lambda: delta_writes.append_rows(path, [("a", 1)]),
        lambda: delta_writes.replace_rows(path, [("a", 1)], "name = 'a'"),
    ]
    for attempt in attempts:
        with pytest.raises(StorageFailed, match=r"ops/things: .* may not do this .AccessDenied"):
            attempt()
    assert DeltaTable(path).version() == 0
