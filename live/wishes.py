"""What people ask for by Ctrl-C or SIGTERM: to close, and then to end at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Wishes:
    """The first wish sets `closing`; the next one raises KeyboardInterrupt where that does no harm.

    That is where nothing is started any more: what is started must be known to who stops it.
    """

    closing: threading.Event = field(default_factory=threading.Event)
    count: int = 0
    _may_cut: bool = False

    def hear(self) -> None:
        """Hear them from now on."""
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self._hear)

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Where a wish may cut something short: what comes behind is done whole."""
        try:
            yield
        finally:
            self._may_cut = False

    def cut_short(self) -> None:
        """From here on the next wish ends all; raises KeyboardInterrupt where two have come."""
        self._may_cut = True
        if self.count > 1:
            self._cut()

    def _hear(self, *_: object) -> None:
        self.count += 1
        self.closing.set()
        if self._may_cut:
            self._cut()

    def _cut(self) -> None:
        self._may_cut = False
        raise KeyboardInterrupt
