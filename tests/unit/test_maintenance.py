"""Which files of a table are merged."""

from __future__ import annotations

import pytest

from ingest.landing.compaction import bound_of

KILO, MEGA = 2**10, 2**20


@pytest.mark.parametrize(
    ("sizes", "bound"),
    [
        ([], 0),
        ([3 * KILO] * 15, 0),
        ([3 * KILO] * 16, 4 * KILO),
        ([3 * KILO] * 15 + [50 * KILO] * 15, 0),
        # What is smaller is merged with them, what is larger is not.
        ([3 * KILO] + [50 * KILO] * 16 + [MEGA] * 15, 256 * KILO),
        ([100 * MEGA] * 16, 128 * MEGA),
        ([128 * MEGA] * 99, 0),
    ],
)
def test_files_are_merged_where_enough_are_alike(sizes: list[int], bound: int) -> None:
    assert bound_of(sizes, 16) == bound
