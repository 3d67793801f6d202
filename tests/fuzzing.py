"""How long fuzz tests run: a few seconds by default, longer with `make fuzz`."""

from __future__ import annotations

import os


def cases(default: int) -> int:
    """How many cases a fuzz test draws."""
    return default * int(os.environ.get("HEADWATER_FUZZ", "1"))


def seed() -> int:
    """What the cases follow from: the same ones at each run, unless another is asked for."""
    return int(os.environ.get("HEADWATER_FUZZ_SEED", "0"))
