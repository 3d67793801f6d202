"""Carries out what people have decided about types of events, and answers them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime

from ingest import settings
from ingest.declarations.stream import Stream
from ingest.event_types.catalog import EventTypes, rule_of
from ingest.event_types.event_type import Change
from ingest.failpoint import failpoint
from ingest.quarantine.release import release
from ingest.quarantine.requeue import Requeue
from ingest.runtime import requests
from ingest.runtime.requests import Answer, Request
from ingest.storage.layout import Lake
from ingest.storage.storage import BETWEEN_PAID_LOOKS

log = logging.getLogger(__name__)


class RequestAnswers:
    """Answers the requests about one stream, in the process that lands it, between two batches.

    `parked` are its messages in quarantine, where it has messages.
    """

    def __init__(
        self,
        lake: Lake,
        stream: Stream,
        types: EventTypes,
        parked: Requeue | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._lake, self._stream, self._types = lake, stream, types
        self._parked, self._clock = parked, clock
        self._every = BETWEEN_PAID_LOOKS if settings.is_remote(lake.root) else 0.0
        self._looked = -self._every

    @property
    def are_due(self) -> bool:
        """Whether it is time to look for requests; only types of events are decided about."""
        return self._stream.events.are_split and time.monotonic() - self._looked >= self._every

    def answer(self) -> None:
        """Carry out the requests that are there."""
        self._looked = time.monotonic()
        for request in requests.pending(self._lake, self._stream.name):
            requests.answer(self._lake, request, self._carried_out(request))

    def _carried_out(self, request: Request) -> Answer:
        known = self._types.types.get(request.event_type)
        if known is None:
            return Answer(False, f"{self._stream.name} has no type {request.event_type!r}")
        if not self._types.has_decided(request.id) and (wrong := request.refused_for(known)):
            return Answer(False, f"{known.name}{wrong}")
        decided = self._types.decide(
            known.name, request.change, request.version, now=self._clock(), request=request.id
        )
        failpoint("after_decision")
        count = 0
        if request.change is not Change.REVERTED:
            rule = rule_of(known.name)
            if self._parked:
                count = self._parked.ask(rule, request.id)
            else:
                count = release(self._lake, self._stream, rule, request.id)
        text = f"{known.name}: version {decided.version} ({request.change.value})"
        if count:
            text += f"; {count} events leave quarantine and land with the next batch"
        log.info("%s: %s", self._stream.name, text)
        return Answer(True, text)
