"""How many cases a fuzz test draws, and from which seed; `make fuzz` sets both."""

from __future__ import annotations

import os


def cases(default: int) -> int:
    """The number of cases: `default` in a normal run, more by hand."""
    return default * int(os.environ.get("HEADWATER_FUZZ", "1"))


def seed() -> int:
    """The seed, which is fixed in a normal run."""
    return int(os.environ.get("HEADWATER_FUZZ_SEED", "0"))
