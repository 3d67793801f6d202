"""What tables that follow changes should hold, worked out change by change in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

UNAVAILABLE = "__debezium_unavailable_value"
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a key; without a sequence or a key it belongs nowhere."""

    case: int
    key: int | None
    sequence: int | None
    operation: str
    name: str | None = None
    city: str | None = None

    @property
    def is_delete(self) -> bool:
        """Whether the row is gone after it."""
        return self.operation == "D"


def in_order(changes: Iterable[Change]) -> dict[tuple[int, int], list[Change]]:
    """Changes by key, one a sequence; of a tie the delete counts."""
    found: defaultdict[tuple[int, int], dict[int, Change]] = defaultdict(dict)
    for change in changes:
        if change.key is None or change.sequence is None:
            continue
        known = found[change.case, change.key].get(change.sequence)
        if known is None or change.is_delete:
            found[change.case, change.key][change.sequence] = change
    return {
        key: [by_sequence[number] for number in sorted(by_sequence)]
        for key, by_sequence in found.items()
    }


def states(changes: list[Change], *, partial: bool) -> list[tuple[int, tuple[Any, Any] | None]]:
    """After each change of a key: the sequence, and name and city, or None where it is gone."""
    found: list[tuple[int, tuple[Any, Any] | None]] = []
    name = city = None
    for change in changes:
        assert change.sequence is not None
        if change.is_delete:
            name = city = None
            found.append((change.sequence, None))
            continue
        if not partial or change.name is not None:
            name = change.name
        if not partial or change.city not in (None, UNAVAILABLE):
            city = change.city
        found.append((change.sequence, (name, city)))
    return found


def current(changes: Iterable[Change], *, partial: bool = False) -> set[Row]:
    """Rows (case, key, name, city, sequence) of SCD 1."""
    rows = set()
    for (case, key), own in in_order(changes).items():
        sequence, values = states(own, partial=partial)[-1]
        if values is not None:
            rows.add((case, key, *values, sequence))
    return rows


def history(
    changes: Iterable[Change], *, partial: bool = False, tracked: tuple[int, ...] = (0, 1)
) -> set[Row]:
    """Rows (case, key, name, city, start, end) of SCD 2; `tracked` are places in (name, city)."""
    rows = set()
    for (case, key), own in in_order(changes).items():
        start: int | None = None
        shown: tuple[Any, Any] | None = None
        for sequence, values in [*states(own, partial=partial), (None, None)]:
            same = (
                shown is not None
                and values is not None
                and all(shown[place] == values[place] for place in tracked)
            )
            if not same:
                if shown is not None:
                    rows.add((case, key, *shown, start, sequence))
                start = sequence
            shown = values
    return rows
