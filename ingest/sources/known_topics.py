"""Where a stream of Kafka begins, after a recovery, and which topics it has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from ingest.spark.kafka_admin import Offsets
from ingest.spark.sql import text_literal
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake


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
    def read(lake: Lake, table: str) -> Recovered | None:
        """What was saved; None for a stream that was never recovered."""
        there = read_json(lake.storage, lake.recovered(table))
        return Recovered(**there) if there else None

    def save(self, lake: Lake, table: str) -> None:
        """Save it."""
        write_json(lake.storage, lake.recovered(table), asdict(self))

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


def known_topics(lake: Lake, table: str) -> Mapping[str, KnownTopic]:
    """The topics that the stream of `table` has read, by name."""
    there = read_json(lake.storage, lake.topics(table)) or {}
    return {name: KnownTopic(**one) for name, one in there.items()}


def save_topics(lake: Lake, table: str, topics: Mapping[str, KnownTopic]) -> None:
    """Save the topics that were read."""
    value = {name: asdict(one) for name, one in topics.items()}
    write_json(lake.storage, lake.topics(table), value)
