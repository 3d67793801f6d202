"""The materialization: what it refuses. test_incremental shows what it does."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.spark import checkpointed
from tests.build.lake import Lake, event, order


@pytest.mark.long
def test_a_type_that_does_not_fit_fails_that_model_alone(lake: Lake) -> None:
    lake.land("shop__orders", [order(1, 1)])
    lake.build("+orders_current", "+orders_history")
    lake.spark.sql(
        "create or replace table silver.orders_current using delta as "
        "select * except (order_status), date'2026-01-01' as order_status "
        "from silver.orders_current"
    )
    lake.land("shop__orders", [order(1, 2, status="paid")])
    answer: Any = lake.dbt("run", "--select", "orders_current", "orders_history").result
    messages = {result.node.name: str(result.message) for result in answer}

    assert "order_status is date in the table and string in the input" in messages["orders_current"]
    assert "cast it in the model, or rebuild the table" in messages["orders_current"]
    assert messages["orders_history"] == "1 upserted, 1 closed"


@pytest.mark.long
def test_what_a_build_reads_twice_is_kept_until_its_end(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []
    released: list[Any] = []
    keep, release = checkpointed.kept, checkpointed.release

    def noted_keep(rows: Any) -> Any:
        kept.append(keep(rows))
        return kept[-1]

    def noted_release(rows: Any) -> None:
        released.append(rows)
        release(rows)

    monkeypatch.setattr(checkpointed, "kept", noted_keep)
    monkeypatch.setattr(checkpointed, "release", noted_release)
    lake.land("shop__orders", [order(1, 1)])
    lake.build("+orders_current")
    lake.land("shop__orders", [order(1, 2)])
    lake.build("orders_current")
    assert len(kept) == 2
    # An input that is asked for its bounds before it is merged.
    lake.land("market__app_events", [event("a", "page_viewed")])
    lake.build("+app_events")
    lake.land("market__app_events", [event("b", "page_viewed")])
    lake.build("app_events")
    assert len(kept) == 3
    assert released == kept
