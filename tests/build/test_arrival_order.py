"""Arrival order changes nothing in the end, for every incremental model."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import pytest

from tests.build.lake import NOON, ROOT, Lake, Record, change, event, order

SLICES = 2
SEED = 7

pytestmark = pytest.mark.long


def incremental_models() -> list[str]:
    """Every table of silver and gold that is not rebuilt whole, as `schema.name`."""
    return [
        f"{path.relative_to(ROOT / 'models').parts[0]}.{path.stem}"
        for path in sorted((ROOT / "models").rglob("*.sql"))
        # What is there only while it is played, on streams that cannot be files.
        if path.parent.name != "live"
        if not path.stem.startswith(("stg_", "dim_"))
    ]


def arrivals(draw: random.Random) -> list[tuple[str, Record]]:
    """Changes and events of a few keys, some twice, in no order at all."""
    found: list[tuple[str, Record]] = []
    for sequence in range(240):
        operation = draw.choice("IUUUD")
        found.append(
            (
                "shop__orders",
                order(
                    draw.randrange(20) + 1,
                    sequence,
                    operation,
                    status=draw.choice(["placed", "paid", "shipped", "cancelled"]),
                    amount=draw.randrange(1_000),
                ),
            )
        )
        vehicle = {"vehicle_id": draw.randrange(7), "make": draw.choice("ABC")}
        found.append(("shop__vehicles", change(1_000 + sequence, operation, **vehicle)))
        customer = {"customer_id": draw.randrange(5), "city": draw.choice(["Gent", "Köln"])}
        found.append(("shop__customers", change(2_000 + sequence, operation, **customer)))
    types = ("page_viewed", "vehicle_viewed", "checkout_started", "order_placed")
    for number in range(120):
        at = NOON + dt.timedelta(hours=number)
        found.append(("market__app_events", event(f"e{number}", types[number % 4], at)))
    for number in range(10):
        at = NOON + dt.timedelta(hours=number * 7)
        delivery: dict[str, Any] = {"order_id": number, "truck_id": f"t{number % 3}"}
        for kind, minutes in (("started", 0), ("delayed", 5), ("completed", 90)):
            when = at + dt.timedelta(minutes=minutes)
            record = event(f"d{number}{kind}", f"delivery_{kind}", when, **delivery)
            found.append(("market__app_events", record))
        for minutes in range(0, 90, 30):
            position = {**delivery, "recorded_at": at + dt.timedelta(minutes=minutes)}
            found.append(("fleet__positions", {**position, "latitude": 51.0, "longitude": 4.0}))
    found += draw.sample(found, len(found) // 20)
    draw.shuffle(found)
    return found


@pytest.fixture(scope="module")
def outcomes(shared_lake: Lake) -> dict[str, tuple[Any, Any]]:
    """Of every model, its rows after builds over slices and after one full refresh."""
    lake = shared_lake
    lake.empty()
    records = arrivals(random.Random(SEED))
    for number in range(SLICES):
        for table in sorted({table for table, _ in records}):
            lake.land(table, [record for name, record in records[number::SLICES] if name == table])
        lake.build()
    step_by_step = {model: lake.rows(model) for model in incremental_models()}
    lake.build(full_refresh=True)
    return {model: (step_by_step[model], lake.rows(model)) for model in incremental_models()}


@pytest.mark.parametrize("model", incremental_models())
def test_arrival_order_does_not_change_the_result(
    outcomes: dict[str, tuple[Any, Any]], model: str
) -> None:
    """Builds over shuffled slices equal one full refresh over all of it."""
    step_by_step, all_at_once = outcomes[model]
    assert all_at_once
    assert step_by_step == all_at_once
