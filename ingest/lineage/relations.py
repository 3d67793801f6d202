"""What of some columns a table, a CTE or a subquery carries, and what a reference reads of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Parts of a column's name, from the record's root, in lower case.
Path = tuple[str, ...]


class Unresolvable(ValueError):
    """A query of which it is unknown what it reads."""


@dataclass(frozen=True, slots=True)
class Relation:
    """`carried` are the columns that come from those asked for.

    `names` are those of all its columns in their order; None where a star hides them.
    """

    carried: frozenset[Path] = frozenset()
    names: tuple[str, ...] | None = None
    # A semi or anti join only looks at it: its columns are in no star.
    is_shown: bool = True

    def lacks(self, name: str) -> bool:
        """Whether it is known to have no such column."""
        return self.names is not None and name not in self.names

    def touched(self, reference: Path) -> Iterator[Path]:
        """What a reference reads of what is carried: it, a struct around it, or a part of it."""
        for path in self.carried:
            if path[: len(reference)] == reference or reference[: len(path)] == path:
                yield path

    def renamed(self, name: str, reference: Path) -> Iterator[Path]:
        """What `reference as name` carries on."""
        for path in self.touched(reference):
            yield (name, *path[len(reference) :])

    def without(self, names: Iterable[str]) -> Relation:
        """As `* except (names)` gives it."""
        left_out = set(names)
        kept = frozenset(path for path in self.carried if path[0] not in left_out)
        names_left = (
            None if self.names is None else tuple(n for n in self.names if n not in left_out)
        )
        return Relation(kept, names_left)


def united(left: Relation, right: Relation) -> Relation:
    """What a union carries: names are those of the left, and columns match by their places."""
    carried = right.carried
    if left.names is not None and right.names is not None:
        places = dict(zip(right.names, left.names, strict=False))
        carried = frozenset((places.get(path[0], path[0]), *path[1:]) for path in carried)
    return Relation(left.carried | carried, left.names)
