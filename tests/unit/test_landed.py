"""Each record that was read is in bronze or in quarantine, or the stream stops."""

from __future__ import annotations

import pytest

from ingest.errors import RecordsMissing
from ingest.landing.result import BatchResult


def landed(read: int, bronze: int, quarantine: int) -> BatchResult:
    """A batch with one file that could not be read, which is a row of quarantine, too."""
    return BatchResult(batch_id=6, files=2, records=read, landed=bronze, quarantined=quarantine + 1)


@pytest.mark.parametrize(
    ("batch", "may_drop"),
    [
        (landed(10, 8, 2), False),
        # Two that left quarantine are taken off there, and are no records of the batch.
        (landed(10, 12, -2), False),
        (landed(10, 7, 2), True),
    ],
)
def test_a_batch_that_is_whole_passes(batch: BatchResult, may_drop: bool) -> None:
    assert batch.checked("shop.orders", 1, may_drop=may_drop, removed=lambda: 0) is batch


@pytest.mark.parametrize(
    ("batch", "may_drop", "kept", "removed"),
    [
        (landed(10, 7, 2), False, 9, 0),
        (landed(10, 6, 2), False, 8, 1),
        (landed(10, 9, 2), False, 11, 1),
        (landed(10, 9, 2), True, 11, 0),
    ],
)
def test_unwritable_batch_is_reported(
    batch: BatchResult, may_drop: bool, kept: int, removed: int
) -> None:
    told = rf"shop\.orders: batch 6: 10 records were read, and {kept} came to be"
    with pytest.raises(RecordsMissing, match=told):
        batch.checked("shop.orders", 1, may_drop=may_drop, removed=lambda: removed)


def test_messages_removed_before_the_second_read_count_as_never_read() -> None:
    batch = landed(10, 7, 1).checked("shop.orders", 1, may_drop=False, removed=lambda: 2)
    assert batch == landed(8, 7, 1)
