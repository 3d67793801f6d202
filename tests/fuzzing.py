"""How long fuzz tests run, and from which seed: `make fuzz` runs them longer."""

from __future__ import annotations

import os


def cases(default: int) -> int:
    """How many cases a fuzz test tries."""
    return default * int(os.environ.get("HEADWATER_FUZZ", "1"))


def seed() -> int:
    """The seed of a fuzz test."""
    return int(os.environ.get("HEADWATER_FUZZ_SEED", "0"))
