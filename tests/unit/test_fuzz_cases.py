"""Cases of `ingest fuzz`: drawn from a seed, and made smaller while they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from ingest.trials.cases import BUILDS, Case, Sample, Slice, drawn, smallest


def sample(rows: int, columns: Sequence[str], named: Sequence[int] = ()) -> Sample:
    """Rows that share no value."""
    return Sample(rows, columns, [frozenset({("id", str(row))}) for row in range(rows)], named)


SAMPLES = {"orders": sample(200, ["id", "amount"]), "empty": sample(0, ["id"])}


def test_a_seed_gives_the_same_case_again() -> None:
    assert drawn(SAMPLES, 7) == drawn(SAMPLES, 7)
    assert drawn(SAMPLES, 7) != drawn(SAMPLES, 8)


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


def test_half_of_the_rows_that_come_together_are_of_types_that_a_model_names() -> None:
    samples = {"orders": sample(1000, [], named=[3, 500, 997])}
    slices = [part for seed in range(50) for part in drawn(samples, seed)]
    # Rows that share a value with no other come alone.
    together = [part for part in slices if len(part.rows) > 1]
    named = [part for part in together if set(part.rows) <= {3, 500, 997}]
    assert 0.3 < len(named) / len(together) < 0.5
    assert {row for part in named for row in part.rows} == {3, 500, 997}


def test_rows_that_share_a_value_come_in_one_case_over_the_builds() -> None:
    # An order has two rows and a parcel, far apart; all rows of a table are of one kind.
    orders = [frozenset({("kind", "x"), ("order_id", str(row % 1000))}) for row in range(2000)]
    parcels = [frozenset({("kind", "y"), ("id", str(row))}) for row in range(1000)]
    samples = {"orders": Sample(2000, [], orders), "parcels": Sample(1000, [], parcels)}
    whole = 0
    for seed in range(20):
        found: dict[int, dict[tuple[str, int], set[int]]] = {}
        for part in drawn(samples, seed):
            for row in part.rows:
                order = found.setdefault(row % 1000, {})
                order.setdefault((part.table, row), set()).add(part.build)
        whole += any(
            len(one) == 3 and len(set().union(*one.values())) > 1 for one in found.values()
        )
    # Rows that land one after another never are a whole order.
    assert whole > 8


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
