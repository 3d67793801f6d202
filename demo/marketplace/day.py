"""A day of the marketplace, hour by hour, and the files that come of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from demo.marketplace import replication
from demo.marketplace.clock import HOUR, closings
from demo.marketplace.landing import line_files, write
from demo.marketplace.router import Router
from demo.marketplace.shop import Shop
from demo.marketplace.trucks import Trucks
from demo.marketplace.truth import Truth
from demo.marketplace.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from demo.marketplace.plan import Plan

# Beside the streams' folders, in none of them: which day it is that has landed here.
MARK: Final = "_marketplace.json"


class AnotherDayLanded(Exception):
    """The landing folder holds a day of another seed or size."""

    def __init__(self, landing: Path, found: dict[str, Any]) -> None:
        self.landing = landing
        self.found = found
        super().__init__(
            f"{landing} holds the day of seed {found['seed']}, size {found['events']}; "
            "ask for that one, or start over with empty landing and lake folders (make clean)"
        )


def landed_before(plan: Plan, landing: Path) -> bool:
    """Whether all of this day has landed here. Raises AnotherDayLanded."""
    mark = landing / MARK
    if not mark.is_file():
        return False
    found: dict[str, Any] = json.loads(mark.read_text(encoding="utf-8"))
    if (found["seed"], found["events"]) != (plan.seed, plan.events):
        raise AnotherDayLanded(landing, found)
    return bool(found["last_part"] * plan.parts >= plan.last_part * found["parts"])


def generate(plan: Plan, landing: Path, truth_folder: Path) -> dict[str, Any]:
    """Write the planned parts of the day and the truth up to their end; returns the truth.

    Raises AnotherDayLanded.
    """
    landed_before(plan, landing)
    truth = Truth()
    for part, path, data in _files(plan, truth):
        if part >= plan.first_part:
            write(landing, path, data())
    told = truth.write(plan, truth_folder)
    mark = {key: told[key] for key in ("seed", "events", "parts", "last_part")}
    write(landing, MARK, json.dumps(mark).encode())
    return told


def _files(plan: Plan, truth: Truth) -> Iterator[tuple[int, str, Any]]:
    """Every file up to the last part, as (part, path, bytes when called); the truth reads along."""
    router = Router(plan.seed)
    shop = Shop(plan)
    visits = Visits(plan, shop, router)
    trucks = Trucks(plan, shop, router)
    for window, closed in enumerate(closings()):
        if closed <= 24:
            visits.play(closed - 1)
            trucks.dispatch(closed * HOUR)
        events, positions = router.arrivals.close(window), trucks.arrivals.close(window)
        part = plan.part_of(closed)
        if part > plan.last_part:
            continue
        for file in line_files("app_events", "app-events", closed, events, may_compress=True):
            truth.read_app_events(file.lines)
            yield part, file.path, file.data
        for file in line_files("positions", "positions", closed, positions, may_compress=False):
            truth.read_positions(file.lines)
            yield part, file.path, file.data
    shop.close_books()
    for dms in replication.files(shop.database, plan.seed):
        if plan.part_of(dms.closed_hour) <= plan.last_part:
            truth.read_rows(dms.table, dms.rows)
            yield plan.part_of(dms.closed_hour), dms.path, dms.data
