"""Microbatch models: a batch replaces the rows of its time, and one without rows costs nothing."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final

import pytest

from tests.build.lake import Lake
from tests.build.parcels import parcel, parcel_project, write_models

DAYS: Final = [dt.date(2026, 3, day) for day in range(1, 11)]
SOURCES: Final = """
    version: 2
    sources:
      - name: moved
        schema: bronze
        tables:
          - {name: parcels, identifier: moved__parcels, config: {event_time: day}}
"""
# A batch is a day; the table's only partition is a month.
WEIGHTS: Final = """
    {{ config(
        incremental_strategy = 'microbatch', event_time = 'day', batch_size = 'day',
        begin = '2026-03-01', partition_by = 'month'
    ) }}
    select date_trunc('month', day) as month, day, sum(weight) as weight
    from {{ source('moved', 'parcels') }} group by day
"""
MODELS: Final = {
    "daily.sql": WEIGHTS,
    "with_lookup.sql": """
        {{ config(
            incremental_strategy = 'microbatch', event_time = 'day', batch_size = 'day',
            begin = '2026-03-01'
        ) }}
        select parcels.day, names.name from {{ ref('names') }} as names
        left join {{ source('moved', 'parcels') }} as parcels using (parcel)
        where parcels.day is not null
    """,
    "names.sql": "{{ config(materialized = 'table') }} select 'p1' as parcel, 'one' as name",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Rows of the first model after each of two commands, and what became of their batches."""

    first: list[Any]
    second: list[Any]
    messages: dict[str, list[str]]


@pytest.fixture(scope="module")
def outcome(shared_lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """Ten days of which two have rows; then one loses them and another gets some."""
    shared_lake.empty()
    lake = parcel_project(shared_lake, tmp_path_factory.mktemp("microbatch"), {})
    write_models(lake, {"sources.yml": SOURCES, **MODELS})
    lake.land("moved__parcels", [parcel(1, "p1", DAYS[2], 5), parcel(2, "p2", DAYS[7], 6)])
    days = ("--event-time-start", str(DAYS[0]), "--event-time-end", str(DAYS[9]))
    built(lake, *days)
    first = lake.rows("silver.daily", "day", "weight")
    lake.spark.sql("delete from bronze.moved__parcels where parcel = 'p1'")
    lake.land("moved__parcels", [parcel(3, "p3", DAYS[4], 7)])
    messages = built(lake, *days)
    return Outcome(first, lake.rows("silver.daily", "day", "weight"), messages)


def built(lake: Lake, *days: str) -> dict[str, list[str]]:
    """Build all; gives how many batches of each model were built and skipped, in words."""
    said: dict[str, list[str]] = {}

    def note(event: Any) -> None:
        if event.info.name == "LogBatchResult":
            said.setdefault(event.data.node_info.node_name, []).append(event.data.status)

    answer = lake.dbt("build", *days, note=note)
    results: Any = answer.result
    assert answer.success, answer.exception or [one.message for one in results]
    return said


def test_a_batch_replaces_rows_of_its_own_time_only(outcome: Outcome) -> None:
    assert outcome.first == [(DAYS[2], 5), (DAYS[7], 6)]
    # The day that has no rows any longer keeps none.
    assert outcome.second == [(DAYS[4], 7), (DAYS[7], 6)]


def test_batches_without_rows_are_skipped(outcome: Outcome) -> None:
    assert sorted(outcome.messages["daily"]) == [*["OK"] * 3, *["empty batch"] * 6]


def test_an_input_without_time_may_have_rows_for_any_batch(outcome: Outcome) -> None:
    assert outcome.messages["with_lookup"] == ["OK"] * 9
