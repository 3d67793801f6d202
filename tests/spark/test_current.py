"""A stream that keeps the table of its living keys by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import pytest
from deltalake import DeltaTable

from ingest.cdc.current_table import CurrentRowsTable
from ingest.storage import delta_log
from tests.spark.workshop import Workshop

COLUMNS = {"id": "bigint", "seq": "string"}
DECLARED: dict[str, Any] = {
    "envelope": "dms",
    "key": ["id"],
    "sequence_by": ["seq"],
    "keep_current": True,
}


def change(key: int, sequence: str | None, operation: str | None, name: str = "") -> dict[str, Any]:
    """A change as DMS writes it; a full load has neither sequence nor operation."""
    found: dict[str, Any] = {"id": key, "name": name}
    return found | {"Op": operation, "seq": sequence}


@pytest.fixture(scope="module")
def followed(workshop: Workshop) -> Workshop:
    """Changes in the wrong order, in three runs, of which the second dies before it applies."""
    workshop.stream("people", COLUMNS, **DECLARED)
    load = [change(number, None, None, f"name {number}") for number in range(1, 5)]
    later = [change(2, "0005", "U", "newest"), change(3, "0004", "D"), change(9, "0007", "D")]
    workshop.drop("people", "1.jsonl", load + later)
    workshop.land("people")

    late = [change(2, "0003", "U", "late"), change(3, "0002", "U", "late"), change(9, "0006", "I")]
    lost = {"id": 1, "name": "no order", "Op": "U", "seq": None}
    workshop.drop("people", "2.jsonl", [*late, lost, change(4, "0008", "U", "grown") | {"n": 1}])
    with patch.object(CurrentRowsTable, "follow", side_effect=RuntimeError("gone")):
        assert workshop.run("people") is not None

    workshop.land("people")
    workshop.drop("people", "3.jsonl", [change(5, "0009", "I", "new")])
    workshop.land("people")
    return workshop


def test_the_newest_change_wins_and_deletes_stay(followed: Workshop) -> None:
    assert [tuple(row) for row in followed.rows("people__current", "id", "name", "n")] == [
        (1, "name 1", None),
        (2, "newest", None),
        (4, "grown", 1),
        (5, "new", None),
    ]


def test_a_change_without_a_sequence_is_quarantined_once(followed: Workshop) -> None:
    table = followed.table("people__quarantine")
    [row] = table.select("_reason_code", "_reason", "_raw", "_batch_id", "_source").collect()
    assert (row._reason_code, row._reason) == ("NULL_SEQUENCE", "null in seq")
    assert b'"name":"no order"' in bytes(row._raw)
    assert row._source.endswith("/2.jsonl")


def test_tables_of_a_stream_have_their_layer(followed: Workshop) -> None:
    tables = ("test__people", "test__people__quarantine", "test__people__current")
    properties = (DeltaTable(followed.lake.bronze(table)).metadata() for table in tables)
    assert [one.configuration["quality"] for one in properties] == ["bronze"] * 3


def test_dbt_can_know_the_table(followed: Workshop) -> None:
    listed = delta_log.rows(followed.lake.ops("stream_tables"), ["table_name", "kind"]).to_pylist()
    assert {"table_name": "test__people__current", "kind": "current"} in listed


def test_changes_that_are_applied_again_change_nothing(
    followed: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = followed.rows("people__current", "*")
    sizes = dict[str, Sequence[int]]()
    sizes_of_files = delta_log.sizes_of_files

    def noting(path: str) -> Sequence[int]:
        sizes[path] = sizes_of_files(path)
        return sizes[path]

    monkeypatch.setattr(delta_log, "sizes_of_files", noting)
    stream = followed.stream("people", COLUMNS, **DECLARED)
    current = CurrentRowsTable(
        spark=followed.spark, lake=followed.lake, stream=stream, application="another"
    )
    assert len(list(current.follow(-1))) == 1
    assert followed.rows("people__current", "*") == before
    # By its size it is told whether keys are marked.
    assert sum(sizes[current.path]) > 0
