"""Messages that were removed before they landed, by topic and partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingest.declarations.stream import KafkaSource
from ingest.errors import DataLost
from ingest.sources.known_topics import KnownTopic
from ingest.spark.kafka_admin import BrokerAdmin, Offsets

# Reasons: by retention or a person; the topic was created again; changes of a database that never
# came to the topic, for its slot was lost or its table was not followed.
REMOVED, REMADE = "removed", "remade"
SLOT, UNFOLLOWED = "slot", "unfollowed"
# Partitions that an error names.
_MOST = 5


@dataclass(frozen=True, slots=True)
class DataLoss:
    """Offsets of one partition that never landed; `last` is None where it is unknown.

    Of a database, changes that never came to the topic: all before `first` landed.
    """

    topic: str
    partition: int
    first: int
    last: int | None
    reason: str

    def __str__(self) -> str:
        where = f"{self.topic}, partition {self.partition}"
        if self.reason in (SLOT, UNFOLLOWED):
            return f"{where}: changes are missing behind what landed before offset {self.first}"
        if self.last is not None:
            return f"{where}: offsets {self.first} to {self.last} were removed before they landed"
        became = "deleted and made again" if self.reason == REMADE else "deleted"
        return (
            f"{where}: the topic was {became}, and offsets from {self.first} on went with it, "
            "if there were any"
        )


def found(admin: BrokerAdmin, begins: Offsets, known: Mapping[str, KnownTopic]) -> list[DataLoss]:
    """What the broker does not have any more of what comes next in partitions.

    Raises Kafka's errors as py4j has them.
    """
    ids = admin.topic_ids(begins)
    gone = {topic: REMOVED for topic in begins if topic not in ids}
    gone |= {one: REMADE for one in ids if one in known and known[one].id != ids[one]}
    there = {topic: partitions for topic, partitions in begins.items() if topic not in gone}
    earliest, latest = admin.first(there), admin.latest(there)
    gaps = []
    for topic, partitions in begins.items():
        for number, begin in sorted(partitions.items(), key=lambda one: int(one[0])):
            place = topic, int(number), begin
            if topic in gone:
                gaps.append(DataLoss(*place, None, gone[topic]))
            elif begin > latest[topic][number]:
                # Messages that were read are there no more.
                gaps.append(DataLoss(*place, None, REMADE))
            elif begin < earliest[topic][number]:
                gaps.append(DataLoss(*place, earliest[topic][number] - 1, REMOVED))
    return gaps


def lost(stream: str, source: KafkaSource, gaps: Sequence[DataLoss]) -> DataLost:
    """The error that names gaps, and what to do."""
    shown = [str(gap) for gap in gaps[:_MOST]]
    if len(gaps) > _MOST:
        shown.append(f"{len(gaps) - _MOST} partitions more")
    # Of several topics those that are there are read; a database's are made.
    is_sole = not (source.is_ordered or source.topic_pattern or source.database)
    is_deleted = is_sole and any(gap.last is None and gap.reason == REMOVED for gap in gaps)
    first = "make it again; then, " if is_deleted else ""
    return DataLost(
        f"{stream}: {'; '.join(shown)}. To go on from what there is: {first}"
        f"ingest recover --select source:{stream}"
    )
