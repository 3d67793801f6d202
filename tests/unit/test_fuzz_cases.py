"""Cases of `ingest fuzz`: drawn from a seed, and made smaller while they differ."""

from __future__ import annotations

from collections import Counter

import pytest

from ingest.trials.cases import BUILDS, Case, Sample, Slice, drawn, smallest

SAMPLES = {"orders": Sample(200, ["id", "amount"]), "empty": Sample(0, ["id"])}


def test_a_seed_gives_the_same_case_again() -> None:
    assert drawn(SAMPLES, 7) == drawn(SAMPLES, 7)
    assert drawn(SAMPLES, 7) != drawn(SAMPLES, 8)


def test_a_tables_slices_are_the_same_beside_other_tables() -> None:
    more = {**SAMPLES, "clients": Sample(50, ["name"])}
    for seed in range(10):
        beside = tuple(part for part in drawn(more, seed) if part.table == "orders")
        assert beside == drawn(SAMPLES, seed)


def test_cases_repeat_delay_reorder_spare_and_lack_values() -> None:
    cases = [drawn(SAMPLES, seed) for seed in range(50)]
    slices = [part for case in cases for part in case]
    assert {part.table for part in slices} == {"orders"}
    assert {part.build for part in slices} == set(range(BUILDS))
    assert {part.null for part in slices} == {None, "id", "amount"}
    assert all(0 <= row < 200 for part in slices for row in part.rows)
    repeated = [rows for case in cases for rows, times in counted(case).items() if times > 1]
    assert repeated
    apart = [part for part in slices if any(b - a > 1 for a, b in zip(part.rows, part.rows[1:]))]  # noqa: B905
    assert apart, "rows of a slice that do not come"


def test_half_of_the_slices_are_of_the_types_that_a_model_names() -> None:
    samples = {"orders": Sample(1000, [], named=[3, 500, 997])}
    slices = [part for seed in range(50) for part in drawn(samples, seed)]
    named = [part for part in slices if set(part.rows) <= {3, 500, 997}]
    assert 0.4 < len(named) / len(slices) < 0.6
    assert {row for part in named for row in part.rows} == {3, 500, 997}


def counted(case: Case) -> Counter[tuple[int, ...]]:
    return Counter(part.rows for part in case)


@pytest.mark.parametrize("row", [0, 5, 11])
def test_what_differs_is_made_small(row: int) -> None:
    case = tuple(Slice("orders", tuple(range(start, start + 12)), 0) for start in (0, 20, 40, 60))

    def differs(smaller: Case) -> bool:
        rows = {one for part in smaller for one in part.rows}
        return {row, row + 40} <= rows

    small = smallest(case, differs, 100)
    assert sorted(one for part in small for one in part.rows) == [row, row + 40]
    # With nothing tried, the case stays as it is.
    assert smallest(case, differs, 0) == case
