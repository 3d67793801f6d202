"""Waiting for what other processes and threads do."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(is_so: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until something is so, at most so long."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, "it does not come about"
        time.sleep(0.2)
