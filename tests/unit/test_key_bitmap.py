"""Which applications of changes use a key bitmap."""

from __future__ import annotations

import pytest

from ingest.cdc.macros import rendered, statements

SMALL, LARGE = 2**20 - 1, 2**20


@pytest.mark.parametrize(
    ("changes", "target_bytes", "expected"),
    [
        (10_000, LARGE, "yes"),
        (1_000_000, None, "yes"),
        (9_999, LARGE, ""),
        (1_000_001, LARGE, ""),
        (10_000, SMALL, ""),
        (10_000, 0, ""),
    ],
)
def test_many_changes_of_a_large_table_use_a_key_bitmap(
    changes: int, target_bytes: int | None, expected: str
) -> None:
    plan = {
        "target_columns": {"id": "bigint"},
        "bounded": ["id"],
        "changes": changes,
        "target_bytes": target_bytes,
    }
    assert rendered("uses_key_bitmap", plan) == expected


def test_temp_views_are_dropped_before_changes_are_counted() -> None:
    """If the first statement has failed."""
    plan = {
        "target_columns": {"id": "bigint"},
        "bounded": ["id"],
        "target_bytes": None,
        "snapshot_by": None,
        "strategy": "scd1",
        "view": "__orders",
    }
    assert statements("drop_temp_views", plan) == ["drop view if exists __orders__changes"]
