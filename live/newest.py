"""How old rows were when they landed, by the newest commit of their table alone."""

from __future__ import annotations

import heapq
import json
from datetime import datetime

from ingest.storage.layout import LOG, storage_at

# Digits of a commit's name: a checkpoint beside it has a longer one.
_DIGITS = 20
# Commits that are looked at, newest first: one that compacts files has no new rows.
_MOST = 5


def age_when_landed(table: str, column: str) -> float | None:
    """Seconds from their own time to the newest commit of rows, of the oldest row in it.

    `table` is its URL; `column` holds that time, as an instant or in milliseconds of Unix time.
    None where there is no such commit, or it does not tell.
    """
    storage = storage_at(table)
    names = (one.name for one in storage.list(LOG))
    commits = (name for name in names if name[_DIGITS:] == ".json")
    for commit in heapq.nlargest(_MOST, commits):
        actions = list(map(json.loads, (storage.read(f"{LOG}/{commit}") or b"").splitlines()))
        at = next((one["commitInfo"]["timestamp"] for one in actions if "commitInfo" in one), None)
        new = [one["add"] for one in actions if one.get("add", {}).get("dataChange")]
        if at is not None and new:
            least = [json.loads(one.get("stats") or "{}").get("minValues", {}) for one in new]
            times = [_unix_time(one[column]) for one in least if column in one]
            return max(0.0, at / 1e3 - min(times)) if times else None
    return None


def _unix_time(told: float | str) -> float:
    """Seconds of Unix time, of what statistics tell of a column."""
    if isinstance(told, str):
        return datetime.fromisoformat(told).timestamp()
    return told / 1e3
