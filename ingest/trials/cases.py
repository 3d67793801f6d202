"""Which rows of each table arrive in which build: drawn, and made smaller.

A sample of a table has its rows in the order in which they landed; a row is named by its place.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ingest.trials.related import Related, Value

# Builds of a case: the first fills empty tables.
BUILDS = 3
# Slices of a table that landed together: a case has at most so many.
_SLICES = 4
# Values of a case by which rows are found that belong together, each in all tables.
_SHARED = 4
# Rows of a slice at most: few rows find what many hide.
_ROWS = 12


@dataclass(frozen=True, slots=True)
class Sample:
    """How many rows of a table are there, and its columns that may hold null.

    `values` are those of each row, by which it belongs to others. `named` are places of rows of
    event types that a model names: of those more come.
    """

    rows: int
    columns: Sequence[str]
    values: Sequence[frozenset[Value]]
    named: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows of a table that arrive together in a build; one column may be null in them."""

    table: str
    rows: tuple[int, ...]
    build: int
    null: str | None = None


Case = tuple[Slice, ...]


def drawn(samples: Mapping[str, Sample], seed: int) -> Case:
    """Slices in the order in which they arrive: cut, and some of them changed.

    Each change is one that producers, networks and people cause: a slice comes again, comes late,
    comes before another, does not come, or lacks a value.
    """
    draw = random.Random(seed)  # noqa: S311 - nothing is secret
    slices: list[Slice] = []
    for table, sample in sorted(samples.items()):
        count = min(_SLICES, sample.rows)
        for number, rows in enumerate(sorted(_neighbours(sample, draw) for _ in range(count))):
            slices.append(Slice(table, rows, number * BUILDS // count))
    slices.extend(_related(samples, draw))
    changed = [one for part in slices for one in _changed(part, samples[part.table], draw)]
    # Within a build, slices come in any order.
    draw.shuffle(changed)
    return tuple(sorted((one for one in changed if one.rows), key=lambda one: one.build))


def _neighbours(sample: Sample, draw: random.Random) -> tuple[int, ...]:
    """Rows that come together, because they did: so changes of one key do."""
    rows = sample.named if sample.named and draw.random() < 0.5 else range(sample.rows)
    start = draw.randrange(len(rows))
    return tuple(rows[start : start + draw.randint(1, _ROWS)])


def _related(samples: Mapping[str, Sample], draw: random.Random) -> Iterator[Slice]:
    """Rows that share a value, in the order in which they landed, over the builds."""
    related = Related({table: sample.values for table, sample in samples.items()})
    tables = sorted(table for table, sample in samples.items() if sample.rows)
    for _ in range(_SHARED if tables else 0):
        table = draw.choice(tables)
        place = draw.choice(samples[table].named or range(samples[table].rows))
        for each, places in related.to(table, place, draw).items():
            rows = sorted(draw.sample(places, min(_ROWS, len(places))))
            ends = sorted(draw.randint(0, len(rows)) for _ in range(BUILDS - 1))
            for build, (start, end) in enumerate(pairwise([0, *ends, len(rows)])):
                if start < end:
                    yield Slice(each, tuple(rows[start:end]), build)


def _changed(whole: Slice, sample: Sample, draw: random.Random) -> Iterator[Slice]:
    match draw.randrange(6):
        case 0:
            # Again: in the same build or a later one.
            yield whole
            yield replace(whole, build=draw.randint(whole.build, BUILDS - 1))
        case 1:
            yield replace(whole, build=draw.randint(whole.build, BUILDS - 1))
        case 2:
            # Before those that it follows.
            yield replace(whole, build=draw.randint(0, whole.build))
        case 3:
            # A part does not come.
            yield replace(whole, rows=tuple(one for one in whole.rows if draw.random() < 0.5))
        case 4 if sample.columns:
            yield replace(whole, null=draw.choice(list(sample.columns)))
        case _:
            yield whole


def smallest(case: Case, differs: Callable[[Case], bool], trials: int) -> Case:
    """A part of a case that still differs, from which nothing more was found to be spared.

    Spares slices, then halves of their rows; asks `differs` at most `trials` times.
    """
    left = trials

    def still(smaller: Case) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and differs(smaller)

    size = max(1, len(case) // 2)
    while size:
        start = 0
        while start < len(case) > 1:
            smaller = case[:start] + case[start + size :]
            if smaller and still(smaller):
                case = smaller
            else:
                start += size
        size //= 2
    for number in range(len(case)):
        while len(case[number].rows) > 1:
            rows = case[number].rows
            halves = (rows[: len(rows) // 2], rows[len(rows) // 2 :])
            smaller_ones = (
                (*case[:number], replace(case[number], rows=half), *case[number + 1 :])
                for half in halves
            )
            found = next((one for one in smaller_ones if still(one)), None)
            if found is None:
                break
            case = found
    return case
