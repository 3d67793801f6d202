"""Small random histories of rows that move, over each documented pattern of a model.

After each build every table is compared with what Python makes of all records so far, and in
`make fuzz` at the end with a full refresh.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from tests import fuzzing
from tests.build.lake import Lake, Record
from tests.build.parcels import MODELS, parcel, parcel_project

STEPS: Final = 3
DAYS: Final = [None, *(dt.date(2026, 3, day) for day in range(1, 5))]
WEIGHTS: Final = [None, 1, 2, 3, 4]
MARKS: Final = "ops.model_marks"
# Histories that `make test-long` draws.
_USUAL: Final = 40

Rows = Counter[tuple[Any, ...]]

pytestmark = pytest.mark.long


def histories(draw: random.Random, number: int) -> list[list[Record]]:
    """For each step the records that land before its build, of many parcels, each with a history.

    Days, weights and lines are few, so that most changes move a row; some records are late, some
    come twice, in one build or in another.
    """
    steps: list[list[Record]] = [[] for _ in range(STEPS)]
    seq = 0
    for history in range(number):
        # Days of each history are its own, or every build would touch all of them.
        later = dt.timedelta(days=10 * (history % 20))
        for _ in range(draw.randrange(1, 6)):
            seq += 1
            day = draw.choice(DAYS)
            record = parcel(
                seq,
                f"h{history}-{draw.randrange(2)}",
                day + later if day else None,
                draw.choice(WEIGHTS),
                line=draw.choice([None, 1]),
                op=draw.choice("UUUD"),
            )
            for _ in range(draw.choice([1, 1, 1, 2])):
                steps[draw.randrange(STEPS)].append(record)
    for step in steps:
        draw.shuffle(step)
    return steps


def grouped(rows: Iterable[Record], by: str) -> Mapping[Any, list[Record]]:
    """Rows by the value of a column."""
    found: dict[Any, list[Record]] = defaultdict(list)
    for row in rows:
        found[row[by]].append(row)
    return found


def total(rows: Sequence[Record], column: str) -> int | None:
    """SQL's sum: nulls do not count, and of nulls alone it is null."""
    values = [row[column] for row in rows if row[column] is not None]
    return sum(values) if values else None


def versions_of(changes: list[Record]) -> int:
    """How many versions of a parcel its history has: one where it came or changed."""
    count, before = 0, None
    for change in changes:
        now = None if change["op"] == "D" else (change["line"], change["day"], change["weight"])
        count += now is not None and now != before
        before = now
    return count


def expected(records: Sequence[Record]) -> Mapping[str, Iterable[tuple[Any, ...]]]:
    """The rows of each table, by what the models say, from all records at once."""
    changes = sorted({one["seq"]: one for one in records}.values(), key=lambda one: one["seq"])
    latest = list({(one["parcel"], one["line"]): one for one in changes}.values())
    newest = {one["parcel"]: one for one in changes}
    current = [one for one in newest.values() if one["op"] != "D"]
    versions = {name: versions_of(some) for name, some in grouped(changes, "parcel").items()}
    heavy = [one for one in current if (one["weight"] or 0) > 2]
    facts = [{**one, "versions": versions[one["parcel"]]} for one in current]

    def by(rows: Sequence[Record], column: str, *of: Callable[[list[Record]], Any]) -> Any:
        return [(key, *(one(some) for one in of)) for key, some in grouped(rows, column).items()]

    def weight(rows: list[Record]) -> Any:
        return total(rows, "weight")

    def last_day(rows: list[Record]) -> Any:
        return max((row["day"] for row in rows if row["day"]), default=None)

    shown = ("parcel", "line", "day", "weight", "seq")
    return {
        "parcels_latest": [tuple(one[name] for name in shown) for one in latest],
        "latest_daily": by(latest, "day", weight, len),
        "latest_weights": by(latest, "weight", len),
        "parcels_current": [tuple(one[name] for name in shown) for one in current],
        "current_daily": by(current, "day", weight, len),
        "current_by_weight": [
            row for row in by(current, "weight", len, last_day) if row[0] is not None
        ],
        "heavy_parcels": [(one["parcel"], one["day"], one["weight"]) for one in heavy],
        "heavy_daily": by(heavy, "day", len),
        "parcel_facts": [(one["parcel"], one["day"], one["versions"]) for one in facts],
        "facts_daily": by(facts, "day", lambda rows: total(rows, "versions")),
        "parcel_events": [(one["seq"], one["day"]) for one in changes],
        "events_daily": by(changes, "day", len),
    }


def tables(lake: Lake) -> Mapping[str, Rows]:
    """The rows of each table, read by their paths."""
    return {
        name: Counter(tuple(row) for row in lake.rows(f"silver.{name}"))
        for name in MODELS
        if name not in ("latest_seen", "parcels_history")
    }


@pytest.mark.parametrize("number", [fuzzing.cases(_USUAL)])
def test_builds_over_parts_of_a_history_equal_a_full_refresh(
    shared_lake: Lake, tmp_path: Path, number: int
) -> None:
    shared_lake.empty()
    lake = parcel_project(shared_lake, tmp_path, MODELS)
    records: list[Record] = []
    for step, batch in enumerate(histories(random.Random(fuzzing.seed()), number)):
        # Two batches a build: what is read is cut elsewhere than what is built.
        lake.land("moved__parcels", batch[::2])
        lake.land("moved__parcels", batch[1::2])
        records += batch
        before = lake.version(MARKS) if step == 1 else None
        lake.build()
        wanted = {name: Counter(rows) for name, rows in expected(records).items()}
        assert tables(lake) == wanted, f"build {step}"
        if before is not None:
            # What a build that was killed before its marks were recorded leaves.
            lake.spark.sql(f"restore table {MARKS} to version as of {before}")
    if number > _USUAL:
        # Of few, the first build has shown what a full one makes.
        lake.build(full_refresh=True)
        assert tables(lake) == wanted
