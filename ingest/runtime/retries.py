"""When streams whose broker or registry was away are started again."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ingest.declarations.stream import Stream

# Seconds until the first try; each next one takes twice as long, up to the most.
_FIRST, _MOST = 1.0, 60.0
# After so many seconds of running, retries start from the first interval again.
_WELL = 300.0


@dataclass(slots=True)
class Retries:
    """Streams that wait, each longer than the last time."""

    _waiting: dict[str, tuple[float, Stream]] = field(default_factory=dict)
    _last: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def waiting(self) -> list[Stream]:
        """The streams that wait."""
        return [stream for _, stream in self._waiting.values()]

    def later(self, stream: Stream) -> float:
        """Let a stream wait; for how many seconds."""
        now = time.monotonic()
        until, seconds = self._last.get(stream.name, (now, 0.0))
        fresh = not seconds or now - until > _WELL
        seconds = _FIRST if fresh else min(2 * seconds, _MOST)
        self._last[stream.name] = (now + seconds, seconds)
        self._waiting[stream.name] = (now + seconds, stream)
        return seconds

    def due(self) -> list[Stream]:
        """Streams whose time has come; they wait no more."""
        now = time.monotonic()
        due = [stream for until, stream in self._waiting.values() if until <= now]
        for stream in due:
            del self._waiting[stream.name]
        return due
