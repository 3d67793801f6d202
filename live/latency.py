"""How long events and changes take from where they were made to bronze, and to models.

By the times that their sources wrote into them: when an event was made, when PostgreSQL
committed a change.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from ingest.lake import is_table

# Milliseconds of Unix time in which each stream's rows were made.
_MADE = {
    "customers": "source_ts_ms",
    "orders": "source_ts_ms",
    "events": "cast(time as bigint) / 1000.0",
    "page_views": "cast(viewed_at as bigint) / 1000.0",
    "positions": "cast(recorded_at as bigint) / 1000.0",
}
# The stream from which each model has its rows, as the graph goes.
_MODELS = {
    "silver.live_page_view_events": "page_views",
    "silver.live_orders_current": "orders",
    "gold.agg_live_page_views_minutely": "page_views",
}


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a row's own time to the commit that has it."""

    what: str
    median: float
    p95: float
    most: float


def latencies(lake: Path, since: float) -> Iterator[Latency]:
    """Those of rows that were made after `since`, in seconds of Unix time."""
    made = {name: _made(lake, name, since) for name in _MADE}
    for name, rows in made.items():
        committed = _commits(lake / "bronze" / f"live__{name}")
        seconds = [committed[batch] - at for batch, at in rows if batch in committed]
        yield from _told(f"live.{name}: made to bronze", seconds)
    marks = _marks(lake)
    of_graph = {}
    for model, name in _MODELS.items():
        batches, recorded = marks.get(model, ([], []))
        times = _written(lake.joinpath(*model.split(".")), recorded)
        places = [(bisect.bisect_left(batches, batch), at) for batch, at in made[name]]
        found = [(place, at) for place, at in places if place < len(times)]
        yield from _told(f"{model}: made to model", [times[place] - at for place, at in found])
        # The last model of a stream counts: where it is done, all are.
        of_graph[name] = [recorded[place] - at for place, at in found]
    yield from _told("the whole graph: made to the end of a build", [*chain(*of_graph.values())])


def is_up_to_date(lake: Path, model: str) -> bool:
    """Whether a model has read all that its stream has landed."""
    path = lake / "bronze" / f"live__{_MODELS[model]}"
    if not is_table(str(path)):
        return True
    newest = _asked(path, "select max(_batch_id) as newest from this")["newest"][0].as_py()
    batches, _ = _marks(lake).get(model, ([], []))
    return newest is None or (bool(batches) and batches[-1] >= newest)


def _told(what: str, seconds: list[float]) -> Iterator[Latency]:
    if seconds:
        seconds.sort()
        median, p95 = (seconds[int(len(seconds) * part)] for part in (0.5, 0.95))
        yield Latency(what, median, p95, seconds[-1])


def _made(lake: Path, name: str, since: float) -> list[tuple[int, float]]:
    """The batch of each row, and when it was made."""
    path = lake / "bronze" / f"live__{name}"
    if not is_table(str(path)):
        return []
    asked = f"select _batch_id, cast({_MADE[name]} as double) / 1000 as made from this"  # noqa: S608
    rows = _asked(path, asked)
    pairs = zip(rows["_batch_id"].to_pylist(), rows["made"].to_pylist(), strict=True)
    return [(batch, at) for batch, at in pairs if at is not None and at >= since]


def _commits(path: Path) -> dict[int, float]:
    """When the rows of each batch were committed, by their `_batch_id`."""
    found: dict[int, float] = {}
    for at, actions in _history(path, ("WRITE", "STREAMING UPDATE")):
        for action in actions:
            stats = json.loads(action.get("add", {}).get("stats") or "{}")
            if (batch := stats.get("minValues", {}).get("_batch_id")) is not None:
                found.setdefault(batch, at)
    return found


def _written(path: Path, recorded: list[float]) -> list[float]:
    """When the rows of each mark could be read: the model's last commit before it was recorded.

    Marks are written down when all models of a build are done. One of a build that wrote nothing
    counts as it was recorded.
    """
    commits = [at for at, _ in _history(path, ("WRITE", "MERGE", "DELETE"))]
    found = []
    for before, at in zip([0.0, *recorded], recorded, strict=False):
        place = bisect.bisect_right(commits, at)
        is_own = place and commits[place - 1] > before
        found.append(commits[place - 1] if is_own else at)
    return found


def _history(path: Path, operations: Sequence[str]) -> Iterator[tuple[float, list[Any]]]:
    """When each commit by one of these operations was made, and its actions, oldest first."""
    for file in sorted((path / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        told: dict[str, Any] = next(
            (one["commitInfo"] for one in actions if "commitInfo" in one), {}
        )
        if told.get("operation") in operations:
            yield told["timestamp"] / 1e3, actions


def _marks(lake: Path) -> Mapping[str, tuple[list[int], list[float]]]:
    """Up to which batch each model had read, and when that was written down."""
    path = lake / "ops" / "model_marks"
    if not is_table(str(path)):
        return {}
    rows = _asked(path, "select model, mark, recorded_at from this order by mark, recorded_at")
    found: dict[str, tuple[list[int], list[float]]] = {}
    for row in rows.to_pylist():
        batches, times = found.setdefault(row["model"], ([], []))
        if row["mark"] is not None and (not batches or row["mark"] > batches[-1]):
            batches.append(row["mark"])
            times.append(row["recorded_at"].timestamp())
    return found


def _asked(path: Path, question: str) -> pa.Table:
    answer = QueryBuilder().register("this", DeltaTable(str(path))).execute(question)
    return pa.table(answer.read_all())
