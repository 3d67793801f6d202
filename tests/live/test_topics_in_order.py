"""Topics of one stream, in their order."""

from __future__ import annotations

import pytest

from ingest.errors import DataLost
from ingest.landing import batch
from tests.live.topics import Topics
from tests.waiting import wait_until


def test_a_later_topic_lands_when_the_earlier_one_was_read(topics: Topics) -> None:
    names = ["visits", "visits.v2"]
    declared = {"topic": names, "max_offsets_per_trigger": 4}
    topics.subscribe("visits", {"id": "bigint"}, **declared)
    for name, first in zip(names, (0, 100), strict=True):
        topics.make(name)
        topics.send(name, [{"id": first + number} for number in range(10)])
    topics.land("visits")
    batches = {(row["_source"], row["_batch_id"]) for row in topics.rows("visits", "*")}
    # Of ten messages four a batch, and behind the earlier topic's last ones room for two.
    assert sorted(batches) == [
        *(("visits", 0), ("visits", 2), ("visits", 4)),
        *(("visits.v2", 4), ("visits.v2", 6), ("visits.v2", 8)),
    ]
    # The earlier one still gets some, while the later one is far ahead.
    topics.send(names[1], [{"id": 110 + number} for number in range(9)])
    topics.send(names[0], [{"id": 10 + number} for number in range(3)])
    topics.land("visits")
    late = topics.table("visits").where("_batch_id > 8").groupBy("_source")
    firsts = {row[0]: row[1] for row in late.agg({"_batch_id": "min"}).collect()}
    assert firsts["visits"] == 10
    assert sorted(topics.values("visits", "id")) == [*range(13), *range(100, 119)]


@pytest.mark.long
def test_topics_in_order_keep_their_limit_and_may_grow_while_the_stream_runs(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["surges", "surges.v2"]
    topics.subscribe("surges", {"id": "bigint"}, topic=names, max_offsets_per_trigger=4)
    for name in names:
        topics.make(name)
    topics.send(names[0], [{"id": 0}])
    topics.land("surges")
    topics.send(names[0], [{"id": 1}])
    surges = [(names[1], range(100, 106)), (names[0], range(2, 8))]

    def failpoint(step: str) -> None:
        # While a batch is at work, much more comes.
        while step == "after_quarantine" and surges:
            name, ids = surges.pop()
            topics.send(name, [{"id": one} for one in ids])

    monkeypatch.setattr(batch, "failpoint", failpoint)
    with topics.running("surges") as told:
        wait_until(lambda: len(topics.values("surges", "id")) == 14)
        # It goes on as before, of a partition that is new, too.
        topics.widen(names[1], 2)
        topics.send(names[1], [{"id": 106}], partition=1)
        wait_until(lambda: len(topics.values("surges", "id")) == 15)
    assert told.result() == []
    batches = topics.table("surges").groupBy("_batch_id").agg({"id": "collect_list"}).collect()
    found = [sorted(ids) for _, ids in sorted(batches)]
    assert found == [
        *([0], [1], [2, 3, 4, 5], [6, 7, 100, 101]),
        *([102, 103, 104, 105], [106]),
    ]


@pytest.mark.long
def test_a_topic_of_several_may_come_later_and_go_earlier(topics: Topics) -> None:
    topics.subscribe("runs_off", {"id": "bigint"}, topic="runs.off")
    topics.make("runs.off")
    topics.send("runs.off", [{"id": 1}])
    topics.land("runs_off")
    topics.subscribe("runs_off", {"id": "bigint"}, topic=["runs.off", "runs.on"])
    topics.send("runs.off", [{"id": 2}])
    topics.land("runs_off")
    topics.make("runs.on")
    topics.send("runs.on", [{"id": 3}])
    topics.land("runs_off")
    topics.remove("runs.off")
    lost = r"runs\.off, partition 0: the topic was deleted, .* ingest recover --select source:test"
    with pytest.raises(DataLost, match=lost):
        topics.land("runs_off")
    topics.recover("runs_off")
    assert topics.gaps("runs_off") == [("runs.off", 0, 2, None, "removed")]
    topics.send("runs.on", [{"id": 4}])
    topics.land("runs_off")
    assert topics.values("runs_off", "id") == [1, 2, 3, 4]
