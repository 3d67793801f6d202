"""Randomness that is the same on every machine.

Only `random()` and `getrandbits()` are used, whose sequences Python promises to keep, and no
function of the C maths library, whose last digits differ between machines.
"""

from __future__ import annotations

import random
from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")


class Weighted(Generic[T]):
    """Things to draw from, some more often than others."""

    __slots__ = ("_bounds", "_things", "_total")

    def __init__(self, things: Iterable[tuple[T, int]]) -> None:
        pairs = list(things)
        self._things = [thing for thing, _ in pairs]
        self._bounds = list(accumulate(weight for _, weight in pairs))
        self._total = self._bounds[-1]

    def at(self, share: float) -> T:
        """The thing at a share from 0 to 1 of the total weight."""
        return self._things[bisect(self._bounds, int(share * self._total))]


class Draw:
    """One named sequence of random choices; who draws from their own disturbs nobody else."""

    __slots__ = ("bits", "share")

    def __init__(self, seed: int, name: str) -> None:
        # A text seed is hashed with SHA-512 by Python itself, so PYTHONHASHSEED has no say.
        source = random.Random(f"{seed}:{name}")
        self.share = source.random
        self.bits = source.getrandbits

    def below(self, bound: int) -> int:
        """A whole number from 0 up to but without `bound`."""
        return int(self.share() * bound)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both possible."""
        return low + int(self.share() * (high - low + 1))

    def chance(self, share: float) -> bool:
        """True in this share of the calls."""
        return self.share() < share

    def pick(self, things: Sequence[T]) -> T:
        """One of them, each as likely as the next."""
        return things[int(self.share() * len(things))]

    def favoured(self, things: Sequence[T]) -> T:
        """One of them, the first ones far more often."""
        share = self.share()
        return things[int(share * share * len(things))]

    def weighted(self, choice: Weighted[T]) -> T:
        """One of them by weight."""
        return choice.at(self.share())
