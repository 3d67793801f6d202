"""What `ingest serve` tells the macros of its own dbt."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from ingest.serve.driver_state import DriverState
from ingest.storage.layout import Lake
from tests.unit.test_scaffold import stream

CHANGED = datetime(2026, 11, 25, 1, 2, 3, 4, UTC)
# Its microseconds since 1970.
MICROS = 1_795_568_523_000_004
TYPED = {"event_type": "type", "payload": "data"}


def write(lake: Lake, name: str, *rows: dict[str, Any], schema: str = "ops") -> None:
    """Append rows to a table."""
    write_deltalake(lake.table(schema, name), pa.Table.from_pylist(list(rows)), mode="append")


def event_type(name: str, **other: Any) -> dict[str, Any]:
    """A row of `ops.event_types`, of a type that is a view."""
    return {
        "stream": "shop.events",
        "event_type": name,
        "table_schema": "bronze_shop",
        "table_name": name,
        "changed_at": CHANGED,
        "table_columns": None,
        "filled_batch_id": -1,
        "pending": None,
        **other,
    }


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """A lake whose stream has landed batch 3."""
    lake = Lake(str(tmp_path))
    write(lake, "stream_tables", {"table_name": "shop__events"}, {"table_name": "ops.event_types"})
    write(lake, "shop__events", {"_batch_id": 3}, schema="bronze")
    return lake


def test_empty_lake_has_nothing_to_report(tmp_path: Path) -> None:
    given = DriverState(Lake(str(tmp_path)), [stream(**TYPED)]).for_macros()
    assert {**given, "newest": dict(given["newest"])} == {
        "newest": {"shop__events": -1},
        "tables": [],
        "types": [],
        "types_changed": {},
        "watermarks_version": -1,
        "is_registered": False,
    }


def test_tables_types_and_watermark_version_match_the_lake(lake: Lake) -> None:
    write(
        lake,
        "event_types",
        event_type("seen", pending="x"),
        event_type("kept", table_columns="a", filled_batch_id=2, pending="x"),
    )
    write(lake, "model_marks", {"mark": 1})
    given = DriverState(lake, [stream(**TYPED)]).for_macros()
    assert given["tables"] == ["ops.event_types", "shop__events"]
    assert given["types_changed"] == {"shop.events": MICROS}
    assert given["watermarks_version"] == 0
    place = {"stream": "shop.events", "table_schema": "bronze_shop"}
    seen, kept = sorted(given["types"], key=lambda one: str(one["table_name"]), reverse=True)
    assert seen == {**place, "event_type": "seen", "table_name": "seen"}
    # What only readers of a type's own table ask.
    more = {"filled_batch_id": 2, "pending": "x"}
    assert kept == {**place, "event_type": "kept", "table_name": "kept", **more}


def test_counts_of_types_are_no_news_to_the_catalog(lake: Lake) -> None:
    facts = DriverState(lake, [stream(**TYPED)])
    write(lake, "event_types", event_type("seen"))
    before = facts.catalog()
    write(lake, "event_types", event_type("seen"))
    assert facts.catalog() == before
    write(lake, "event_types", event_type("new", changed_at=datetime(2026, 12, 1, tzinfo=UTC)))
    assert facts.catalog() != before


def test_complete_catalog_is_not_synced(lake: Lake) -> None:
    facts = DriverState(lake, [stream()])
    known = facts.catalog()
    assert facts.for_macros(known)["is_registered"]
    write(lake, "stream_tables", {"table_name": "shop__orders"})
    assert not facts.for_macros(known)["is_registered"]


@pytest.mark.parametrize("types", [{}, TYPED])
def test_a_stream_is_unread_until_it_is_listed(tmp_path: Path, types: dict[str, Any]) -> None:
    lake = Lake(str(tmp_path))
    facts = DriverState(lake, [stream(**types)])
    write(lake, "shop__events", {"_batch_id": 0}, schema="bronze")
    given = facts.for_macros()["newest"]
    facts.landed("shop.events", 0)
    assert given["shop__events"] == -1
    write(lake, "stream_tables", {"table_name": "shop__events"})
    assert facts.for_macros()["newest"]["shop__events"] == 0


def test_stream_without_types_is_reported_as_it_lands(lake: Lake) -> None:
    facts = DriverState(lake, [stream()])
    newest = facts.for_macros()["newest"]
    assert newest.get("shop__events") is None
    facts.landed("shop.events", 4)
    assert newest["shop__events"] == 4


def test_stream_with_types_is_reported_up_to_its_types(lake: Lake) -> None:
    facts = DriverState(lake, [stream(**TYPED)])
    given = facts.for_macros()["newest"]
    assert given["shop__events"] == 3
    facts.landed("shop.events", 4)
    # A batch that lands after may have brought types that were not told.
    assert given["shop__events"] == 3
    assert facts.for_macros()["newest"]["shop__events"] == 4


def test_what_another_process_lands_is_looked_up(lake: Lake) -> None:
    facts = DriverState(lake, [stream(**TYPED)])
    assert facts.for_macros()["newest"]["shop__events"] == 3
    write(lake, "shop__events", {"_batch_id": 5}, schema="bronze")
    assert facts.for_macros()["newest"]["shop__events"] == 5
