"""Models below streams that stand at a gap: until it is repaired, nobody may call them complete."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.declarations.project import declared_streams, parsed
from ingest.errors import DataLost, GapFound
from ingest.runtime.progress import all_totals
from ingest.serve.model_states import ModelState
from ingest.serve.models import models_of, sources_of
from ingest.storage.layout import Lake

# With what a stream stops behind which something is gone.
_GAPS = (GapFound.code, DataLost.code)


def marked(lake: Lake, states: Sequence[ModelState]) -> Sequence[ModelState]:
    """States of models, of which those below a gap say so.

    Reads the project only where a stream stands at one. Raises ProjectUnreadable.
    """
    at_a_gap = {one.stream for one in all_totals(lake) if one.code in _GAPS}
    if not (states and at_a_gap):
        return states
    manifest = parsed()
    streams = [one for one in declared_streams((), manifest=manifest) if one.name in at_a_gap]
    models = models_of(manifest, manifest.nodes.keys())
    behind: dict[str, list[str]] = {}
    for stream, sources in sorted(sources_of(manifest, streams).items()):
        for below in models.below(sources):
            behind.setdefault(models.chosen[below].name, []).append(stream)
    return [_behind(one, behind.get(one.model, ())) for one in states]


def _behind(one: ModelState, streams: Iterable[str]) -> ModelState:
    if not streams:
        return one
    reason = f"behind a gap of {', '.join(streams)}"
    return replace(
        one,
        state="incomplete" if one.state == "built" else one.state,
        error=f"{reason}; {one.error}" if one.error else reason,
    )
