"""The table in the terminal: streams and models as they are now."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rich.table import Table

from ingest.runtime.progress import StreamProgress, read_totals
from ingest.serve.model_states import model_states
from ingest.storage.layout import Lake
from live.newest import age_when_landed

# The column in which each stream's source tells when a row was made.
STREAMS = {
    "customers": "source_ts_ms",
    "orders": "source_ts_ms",
    "events": "time",
    "page_views": "viewed_at",
    "positions": "recorded_at",
}
_COLUMNS = ("stream, model", "state", "rows/s", "rows", "lag", "latency", "quarantined", "last")


@dataclass(slots=True)
class Board:
    """Remembers the last look, for rates."""

    lake: Lake
    _before: dict[str, tuple[float, int]] = field(default_factory=dict)
    _rates: dict[str, float] = field(default_factory=dict)

    def totals(self) -> Mapping[str, StreamProgress]:
        """What each stream has done."""
        return {name: read_totals(self.lake, f"live.{name}", f"live__{name}") for name in STREAMS}

    def table(self) -> Table:
        """What is shown now; `latency` is that of the oldest row which the newest batch landed."""
        shown = Table(title="make live: Ctrl-C stops it all", title_justify="left")
        for name in _COLUMNS:
            shown.add_column(name, justify="left" if name == _COLUMNS[0] else "right")
        for name, one in self.totals().items():
            lag = "" if one.lag is None else f"{one.lag:,}"
            rate = f"{self._rate(name, one.landed):,.0f}"
            age = age_when_landed(self.lake.bronze(one.table), STREAMS[name])
            latency = "" if age is None else f"{age:,.1f} s"
            cells = (one.state, rate, f"{one.landed:,}", lag, latency, f"{one.quarantined:,}")
            shown.add_row(one.stream, *cells, _ago(one.last_batch_at))
        shown.add_section()
        for model in model_states(self.lake):
            seconds = "" if model.seconds is None else f"{model.seconds} s"
            shown.add_row(model.model, model.state, "", seconds, "", "", "", _ago(model.built_at))
        return shown

    def _rate(self, name: str, landed: int) -> float:
        """Rows a second, over the last ten seconds or so."""
        now = time.monotonic()
        at, before = self._before.setdefault(name, (now, landed))
        if now - at >= 10:
            self._rates[name] = (landed - before) / (now - at)
            self._before[name] = (now, landed)
        return self._rates.get(name, 0.0)


def _ago(at: str | None) -> str:
    if at is None:
        return ""
    seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    return f"{max(0.0, seconds):.0f} s ago"
