"""What to generate: a seed, a size, and which part of the day has arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SIZES: Final = {"tiny": 2_000, "small": 20_000, "medium": 200_000, "large": 1_000_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One world, and the parts of its landing that a call writes.

    The world depends on `seed` and `events` alone. Its files are cut by the hour in which they were
    closed into `parts` equal spans of the day; a call writes the files of the parts `first_part` to
    `last_part` and tells the truth about all files up to `last_part`. Files that are closed after
    the day belong to the last part.
    """

    seed: int = 7
    events: int = SIZES["small"]
    parts: int = 1
    first_part: int = 1
    last_part: int = 1

    def __post_init__(self) -> None:
        if self.events < 1_000:
            raise ValueError(f"size {self.events}: a day needs at least 1000 events")
        if not 1 <= self.parts <= 24:
            raise ValueError(f"{self.parts} parts: a day is cut into 1 to 24")
        if not 1 <= self.first_part <= self.last_part <= self.parts:
            raise ValueError(
                f"parts {self.first_part} to {self.last_part} do not lie within 1 to {self.parts}"
            )

    @property
    def sessions(self) -> int:
        """How many visits make about as many events as asked for."""
        return max(1, self.events * 10 // 107)

    @property
    def customers(self) -> int:
        """How many customers the shop's database holds when the day begins."""
        return max(60, self.events // 30)

    @property
    def vehicles(self) -> int:
        """How many vehicles the shop's database holds when the day begins."""
        return max(120, self.events // 20)

    @property
    def past_orders(self) -> int:
        """How many orders of earlier days the full load holds."""
        return max(20, self.events // 150)

    @property
    def trucks(self) -> int:
        """How many trucks deliver."""
        return min(40, 3 + self.events // 3_000)

    def part_of(self, closed_hour: int) -> int:
        """The part to which a file belongs that was closed at this hour of the day."""
        return min(self.parts, max(1, -(-closed_hour * self.parts // 24)))


def size_named(text: str) -> int:
    """The number of application events that a size on the command line stands for.

    ValueError where it stands for none.
    """
    digits = text.replace("_", "")
    if text not in SIZES and not digits.isdecimal():
        raise ValueError(f"size {text!r}: give a number of events, or one of {', '.join(SIZES)}")
    return SIZES[text] if text in SIZES else int(digits)
