"""Where a stream of Kafka begins, after a recovery, and which topics it has read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ingest.spark.kafka_admin import Offsets
from ingest.spark.sql import text_literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Where a new checkpoint begins, by topic and partition.

    Batches that may have landed in part have the numbers `batches`, and their seconds; what was
    landed of them may come again, as far as `landed` says.
    """

    starting_offsets: Offsets
    landed: Offsets = field(default_factory=dict)
    batches: Sequence[int] = ()

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

    def is_behind(self, finished: Offsets) -> bool:
        """Whether all that came again is finished, where so much is."""
        return all(
            finished.get(topic, {}).get(number, -1) >= offset
            for topic, partitions in self.landed.items()
            for number, offset in partitions.items()
        )

    def was_landed(self) -> str:
        """SQL that is true of rows of bronze or quarantine that were landed before."""
        batches = ", ".join(str(one + more) for one in self.batches for more in (0, 1))
        places = " or ".join(
            f"(_source = {text_literal(topic)} and _partition = {number} and _offset <= {offset})"
            for topic, partitions in self.landed.items()
            for number, offset in partitions.items()
        )
        return f"_batch_id in ({batches}) and ({places})"


@dataclass(frozen=True, slots=True)
class KnownTopic:
    """Identity of a topic, and the first batch that has rows of it."""

    id: str
    since: int


def known_topics(path: Path) -> Mapping[str, KnownTopic]:
    """The topics that were read, by name."""
    return {name: KnownTopic(**one) for name, one in (_read(path) or {}).items()}


def save_topics(path: Path, topics: Mapping[str, KnownTopic]) -> None:
    """Save the topics that were read."""
    save(path, {name: asdict(one) for name, one in topics.items()})


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
