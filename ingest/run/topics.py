"""Where a stream of Kafka begins, after a recovery, and which topics it has read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ingest.run.broker_admin import Offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Where a new checkpoint begins, by topic and partition.

    Of the newest batch before, which has the number `batch_id`, what was landed may come again:
    as far as `landed` says.
    """

    starting_offsets: Offsets
    landed: Offsets = field(default_factory=dict)
    batch_id: int = -1

    @staticmethod
    def read(path: Path) -> Recovered | None:
        """What was saved; None for a stream that was never recovered."""
        there = _read(path)
        return Recovered(**there) if there else None

    def save(self, path: Path) -> None:
        """Save it."""
        save(path, asdict(self))

    def comes_again(self, starts: Offsets | None) -> bool:
        """Whether a batch that starts there may hold what was landed before the recovery."""
        begins = starts or self.starting_offsets
        return any(
            begins.get(topic, {}).get(number, 0) <= offset
            for topic, partitions in self.landed.items()
            for number, offset in partitions.items()
        )


def topic_ids(path: Path) -> Mapping[str, str]:
    """What told each topic from others of its name when it was read."""
    return _read(path) or {}


def save(path: Path, value: Mapping[str, Any]) -> None:
    """Write it so that a reader finds all of it or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(value) + "\n", "utf-8")
    new.replace(path)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    return found
