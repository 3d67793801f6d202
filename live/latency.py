"""How long events take from where they were made to bronze, by the source's own times."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a message's own time to the commit that landed it."""

    stream: str
    median: float
    p95: float
    most: float


def latencies(lake: Path, tables: Sequence[str], since: float) -> list[Latency]:
    """Those of messages that were made after `since`, in seconds of Unix time."""
    found = []
    for name in tables:
        path = lake / "bronze" / name
        if (path / "_delta_log").is_dir() and (seconds := _seconds(path, since)):
            seconds.sort()
            found.append(
                Latency(
                    name.replace("__", ".", 1),
                    seconds[len(seconds) // 2],
                    seconds[int(len(seconds) * 0.95)],
                    seconds[-1],
                )
            )
    return found


def _seconds(path: Path, since: float) -> list[float]:
    asked = "select _batch_id, _timestamp from this where _timestamp is not null"
    table = DeltaTable(str(path))
    rows = pa.table(QueryBuilder().register("this", table).execute(asked).read_all())
    committed = _commits(path)
    times = rows["_timestamp"].cast(pa.int64()).to_pylist()
    pairs = zip(rows["_batch_id"].to_pylist(), times, strict=True)
    return [
        committed[batch] - at / 1e6
        for batch, at in pairs
        if batch in committed and at / 1e6 >= since
    ]


def _commits(path: Path) -> dict[int, float]:
    """When the rows of each batch were committed, by their `_batch_id`."""
    found: dict[int, float] = {}
    for file in sorted((path / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        told: dict[str, Any] = next(
            (one["commitInfo"] for one in actions if "commitInfo" in one), {}
        )
        if told.get("operation") not in ("WRITE", "STREAMING UPDATE"):
            continue
        for action in actions:
            stats = json.loads(action.get("add", {}).get("stats") or "{}")
            if (batch := stats.get("minValues", {}).get("_batch_id")) is not None:
                found.setdefault(batch, told["timestamp"] / 1e3)
    return found
