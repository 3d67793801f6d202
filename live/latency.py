"""How long events and changes take from where they were made to bronze, and to models.

By the times that their sources wrote into them: when an event was made, when PostgreSQL
committed a change.
"""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from demo.lake import Lake
from ingest.storage import layout

# Milliseconds of Unix time in which each stream's rows were made.
_MADE = {
    "customers": "source_ts_ms",
    "orders": "source_ts_ms",
    "events": "cast(time as bigint) / 1000.0",
    "page_views": "cast(viewed_at as bigint) / 1000.0",
    "positions": "cast(recorded_at as bigint) / 1000.0",
}
# The stream from which each model that is tagged `live` has its rows, as the graph goes.
_LIVE_MODELS = {
    "silver.live_page_view_events": "page_views",
    "silver.live_orders_current": "orders",
    "gold.agg_live_page_views_minutely": "page_views",
}
_MODELS = {**_LIVE_MODELS, "silver.live_trucks_current": "positions"}
# Which parts of the rows took no longer, as they are told of a distribution.
PARTS = (0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a row's own time to the commit that has it.

    `parts`: what each of PARTS of the rows took at most, then the greatest. `by_minute`: the 95th
    percentile of rows by the minute in which they were made, the first one's first.
    """

    what: str
    parts: tuple[float, ...]
    by_minute: tuple[float, ...]

    @property
    def text(self) -> str:
        """All of it in a line."""
        names = [*(f"p{part * 100:.0f}" for part in PARTS), "most"]
        parts = ", ".join(f"{name} {one:.1f}" for name, one in zip(names, self.parts, strict=True))
        minutes = " ".join(f"{one:.1f}" for one in self.by_minute)
        return f"{self.what}: {parts} s; p95 by minute: {minutes}"


def latencies(lake: str, since: float) -> Iterator[Latency]:
    """Those of rows that were made after `since`, in seconds of Unix time."""
    made = {name: _made(lake, name, since) for name in _MADE}
    for name, rows in made.items():
        committed = _commits(lake, f"bronze.live__{name}")
        ages = [(at, committed[batch] - at) for batch, at in rows if batch in committed]
        yield from _told(f"live.{name}: made to bronze", since, ages)
    marks = _marks(lake)
    of_graph = {}
    for model, name in _MODELS.items():
        batches, recorded = marks.get(model, ([], []))
        times = _written(lake, model, recorded)
        places = [(bisect.bisect_left(batches, batch), at) for batch, at in made[name]]
        found = [(place, at) for place, at in places if place < len(times)]
        if model in _LIVE_MODELS:
            ages = [(at, times[place] - at) for place, at in found]
            yield from _told(f"{model}: made to model", since, ages)
        # The last model of a stream counts: where it is done, all are.
        of_graph[name] = [(at, recorded[place] - at) for place, at in found]
    whole = [*chain(*of_graph.values())]
    yield from _told("the whole graph: made to the end of a build", since, whole)


def is_up_to_date(lake: str, model: str) -> bool:
    """Whether a model has read all that its stream has landed."""
    asked = "select max(_batch_id) as newest from this"
    rows = _asked(lake, f"bronze.live__{_MODELS[model]}", asked)
    newest = rows[0]["newest"] if rows else None
    batches, _ = _marks(lake).get(model, ([], []))
    return newest is None or (bool(batches) and batches[-1] >= newest)


def _told(what: str, since: float, ages: Sequence[tuple[float, float]]) -> Iterator[Latency]:
    """Of rows by when they were made, and how many seconds they took."""
    minutes = defaultdict[int, list[float]](list)
    for at, seconds in ages:
        minutes[int((at - since) // 60)].append(seconds)
    if ages:
        by_minute = tuple(_part(minutes[minute], 0.95) for minute in sorted(minutes))
        took = [seconds for _, seconds in ages]
        yield Latency(what, (*(_part(took, part) for part in PARTS), max(took)), by_minute)


def _part(seconds: Sequence[float], part: float) -> float:
    return sorted(seconds)[int(len(seconds) * part)]


def _made(lake: str, name: str, since: float) -> list[tuple[int, float]]:
    """The batch of each row, and when it was made."""
    asked = f"select _batch_id, cast({_MADE[name]} as double) / 1000 as made from this"  # noqa: S608
    pairs = ((row["_batch_id"], row["made"]) for row in _asked(lake, f"bronze.live__{name}", asked))
    return [(batch, at) for batch, at in pairs if at is not None and at >= since]


def _commits(lake: str, table: str) -> dict[int, float]:
    """When the rows of each batch were committed, by their `_batch_id`."""
    found: dict[int, float] = {}
    for at, actions in _history(lake, table, ("WRITE", "STREAMING UPDATE")):
        for action in actions:
            stats = json.loads(action.get("add", {}).get("stats") or "{}")
            if (batch := stats.get("minValues", {}).get("_batch_id")) is not None:
                found.setdefault(batch, at)
    return found


def _written(lake: str, table: str, recorded: list[float]) -> list[float]:
    """When the rows of each mark could be read: the model's last commit before it was recorded.

    Marks are written down when all models of a build are done. One of a build that wrote nothing
    counts as it was recorded.
    """
    commits = [at for at, _ in _history(lake, table, ("WRITE", "MERGE", "DELETE"))]
    found = []
    for before, at in zip([0.0, *recorded], recorded, strict=False):
        place = bisect.bisect_right(commits, at)
        is_own = place and commits[place - 1] > before
        found.append(commits[place - 1] if is_own else at)
    return found


def _history(lake: str, table: str, operations: Sequence[str]) -> Iterator[tuple[float, list[Any]]]:
    """When each commit by one of these operations was made, and its actions, oldest first."""
    storage = layout.storage_at(layout.Lake(lake).table(*table.split(".")))
    names = sorted(one.name for one in storage.list(layout.LOG) if one.name.endswith(".json"))
    for name in names:
        actions = list(map(json.loads, (storage.read(f"{layout.LOG}/{name}") or b"").splitlines()))
        told: dict[str, Any] = next(
            (one["commitInfo"] for one in actions if "commitInfo" in one), {}
        )
        if told.get("operation") in operations:
            yield told["timestamp"] / 1e3, actions


def _marks(lake: str) -> Mapping[str, tuple[list[int], list[float]]]:
    """Up to which batch each model had read, and when that was written down."""
    asked = "select model, mark, recorded_at from this order by mark, recorded_at"
    found: dict[str, tuple[list[int], list[float]]] = {}
    for row in _asked(lake, "ops.model_marks", asked):
        batches, times = found.setdefault(row["model"], ([], []))
        if row["mark"] is not None and (not batches or row["mark"] > batches[-1]):
            batches.append(row["mark"])
            times.append(row["recorded_at"].timestamp())
    return found


def _asked(lake: str, table: str, question: str) -> list[dict[str, Any]]:
    tables = Lake(lake)
    return tables.rows(question, table) if tables.holds(table) else []
