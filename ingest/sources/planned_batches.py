"""Topics that are one stream in their order: which batches it takes when it starts behind.

Spark gives each partition its share of a batch that is limited, whatever topic it is of. So the
batches of such a stream have no limit, and each has all that was in the earlier topics when it
began. Where more waits than a batch should hold, when a stream starts or a batch of it has landed,
batches are planned here, the earlier topics first, and put where Spark keeps those that were begun:
it runs them as they stand. A query at work that meets one ends, for Spark begins no batch twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingest.spark.kafka_admin import Offsets


def pattern(topics: Sequence[str]) -> str:
    """A Java pattern of exactly these topics: one that is gone, or not there yet, is no error."""
    return f"^(?:{'|'.join(map(re.escape, topics))})$"


def planned(
    topics: Sequence[str], starts: Offsets, earliest: Offsets, latest: Offsets, most: int
) -> Offsets | None:
    """Up to where the next batch reads, of at most `most` messages; None where no more wait.

    `starts` is where the stream stands; partitions that it does not know begin at `earliest`.
    Those that it knows stand in each batch, as Spark asks.
    """
    begins = {topic: {**earliest.get(topic, {}), **starts.get(topic, {})} for topic in latest}
    waiting = {
        topic: {n: max(0, end - begins[topic][n]) for n, end in latest[topic].items()}
        for topic in topics
        if topic in latest
    }
    if sum(sum(there.values()) for there in waiting.values()) <= most:
        return None
    ends = {topic: dict(there) for topic, there in starts.items()}
    left = most
    for topic, there in waiting.items():
        taken = _shared(there, left)
        left -= sum(taken.values())
        for number, count in taken.items():
            if count:
                ends.setdefault(topic, {})[number] = begins[topic][number] + count
        if sum(taken.values()) < sum(there.values()):
            break
    return ends


def _shared(waiting: dict[str, int], most: int) -> dict[str, int]:
    """How many messages of each partition a batch takes: of each the same part, up to `most`."""
    total, taken = sum(waiting.values()), {}
    for number, count in waiting.items():
        taken[number] = count if total <= most else -(-count * most // total)
        most, total = most - taken[number], total - count
    return taken
