"""How much fuzz tests try: a few seconds by default, longer by hand."""

from __future__ import annotations

import os


def cases(default: int) -> int:
    """How many cases a test tries, where `default` take a few seconds."""
    return default * int(os.environ.get("HEADWATER_FUZZ", "1"))


def seed() -> int:
    """What cases are drawn by."""
    return int(os.environ.get("HEADWATER_FUZZ_SEED", "0"))
