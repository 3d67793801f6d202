"""Topics that are one stream: what a batch takes where more waits than it should hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.sources.planned_batches import pattern, planned
from ingest.sources.query_checkpoint import checkpoint_of
from ingest.spark.kafka_admin import Offsets
from ingest.storage.layout import Lake

ORDER = ("old", "new")


@pytest.mark.parametrize(
    ("starts", "latest", "ends"),
    [
        # What fits into one batch needs no plan.
        ({"old": {"0": 5}}, {"old": {"0": 9}, "new": {"0": 6}}, None),
        # Of the earlier topic first; the later one waits, and is not named before it is read.
        ({"old": {"0": 5}}, {"old": {"0": 40}, "new": {"0": 6}}, {"old": {"0": 15}}),
        # What the checkpoint knows stands in each batch.
        (
            {"old": {"0": 5}, "new": {"0": 2}},
            {"old": {"0": 40}, "new": {"0": 6}},
            {"old": {"0": 15}, "new": {"0": 2}},
        ),
        # The end of the earlier one, and of the later one what there is room for.
        (
            {"old": {"0": 5}},
            {"old": {"0": 8}, "new": {"0": 60, "1": 20}},
            {"old": {"0": 8}, "new": {"0": 6, "1": 1}},
        ),
        # Room is shared by what waits; a partition that has less than its share gives it away.
        (
            {"old": {"0": 0, "1": 0, "2": 0}},
            {"old": {"0": 30, "1": 0, "2": 1}},
            {"old": {"0": 10, "1": 0, "2": 0}},
        ),
        # A topic that was deleted holds nobody up.
        (
            {"old": {"0": 5}, "new": {"0": 2}},
            {"new": {"0": 60}},
            {"old": {"0": 5}, "new": {"0": 12}},
        ),
    ],
)
def test_a_batch_takes_the_earlier_topics_first(
    starts: Offsets, latest: Offsets, ends: Offsets | None
) -> None:
    earliest = {topic: dict.fromkeys(there, 0) for topic, there in latest.items()}
    assert planned(ORDER, starts, earliest, latest, 10) == ends


def test_planned_batches_read_everything_in_order() -> None:
    latest = {"new": {"0": 23, "1": 4}, "old": {"0": 31, "1": 3}}
    earliest = {topic: dict.fromkeys(there, 0) for topic, there in latest.items()}
    starts: Offsets = earliest
    batches = 0
    while ends := planned(ORDER, starts, earliest, latest, 10):
        taken = sum(ends[one][n] - starts[one][n] for one in ends for n in ends[one])
        assert 0 < taken <= 10
        assert ends["new"] == starts["new"] or ends["old"] == latest["old"]
        starts, batches = ends, batches + 1
    assert batches == 6


def test_a_planned_batch_is_one_that_was_begun(tmp_path: Path) -> None:
    checkpoint = checkpoint_of(Lake(str(tmp_path)), "shop__orders")
    assert not checkpoint.exists
    checkpoint.plan(0, {"old": {"0": 7}}, 2)
    # A query has one id, whoever wrote it first.
    query = checkpoint.storage.read(f"{checkpoint.folder}/metadata")
    checkpoint.plan(0, {"old": {"0": 7}}, 2)
    assert query == checkpoint.storage.read(f"{checkpoint.folder}/metadata")
    assert checkpoint.is_unfinished
    assert checkpoint.offsets() == {"old": {"0": 7}}


def test_the_pattern_matches_names_as_they_stand() -> None:
    assert pattern(["orders", "orders.v2"]) == r"^(?:orders|orders\.v2)$"
