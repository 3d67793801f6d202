"""Kill this process at a named step, where a fault test asks for it."""

from __future__ import annotations

import os
import signal

from ingest import settings


def failpoint(step: str) -> None:
    """SIGKILL this process, as an outage would, where `HEADWATER_FAILPOINT` names `step`."""
    if settings.failpoint() == step:
        os.kill(os.getpid(), signal.SIGKILL)
