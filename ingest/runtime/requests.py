"""What people ask of the process that lands a stream: files that it answers between batches.

So a stream goes on while its types are decided on, and its tables have one writer.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from ingest.event_types.event_type import Change, EventType
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A decision on a type of a stream's events."""

    id: str
    stream: str
    event_type: str
    change: Change
    version: int | None
    made_at: str

    def refused_for(self, known: EventType) -> str | None:
        """Why it cannot be carried out on a type as it is, in words that follow the type's name."""
        if self.version is not None and self.version not in known.versions:
            versions = ", ".join(map(str, sorted(known.versions)))
            return f" has no version {self.version}, but {versions}"
        if self.change is Change.ACCEPTED and not (known.refused or known.rescued):
            return ": nothing waits for a decision"
        return None

    @staticmethod
    def made(stream: str, event_type: str, change: Change, version: int | None) -> Request:
        """A new request."""
        now = datetime.now(UTC)
        return Request(
            id=f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:8]}",
            stream=stream,
            event_type=event_type,
            change=change,
            version=version,
            made_at=now.isoformat(timespec="seconds"),
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request."""

    is_done: bool
    text: str


def leave(lake: Lake, request: Request) -> None:
    """Put a request where the owner of its stream finds it."""
    written = {**asdict(request), "change": request.change.value}
    write_json(lake.storage, _key(lake, request.id, "json"), written)


def pending(lake: Lake, stream: str) -> Iterator[Request]:
    """A stream's requests, oldest first. A file that is none is renamed to `.refused`."""
    storage = lake.storage
    names = sorted(one.name for one in storage.list(lake.requests()))
    for name in [one for one in names if one.endswith(".json")]:
        key = f"{lake.requests()}/{name}"
        try:
            written = read_json(storage, key)
            if written is None:
                # Its stream's owner has answered it.
                continue
            request = Request(**{**written, "change": Change(written["change"])})
        except (ValueError, TypeError, KeyError) as error:
            refused = f"{key.removesuffix('.json')}.refused"
            log.warning("%s is no request; it is kept as %s: %s", key, refused, error)
            storage.put(refused, storage.read(key) or b"")
            storage.delete(key)
            continue
        if request.stream == stream:
            yield request


def answer(lake: Lake, request: Request, given: Answer) -> None:
    """Answer a request, which is gone then."""
    write_json(lake.storage, _key(lake, request.id, "answer"), asdict(given))
    lake.storage.delete(_key(lake, request.id, "json"))


def awaited(lake: Lake, request: Request, seconds: float) -> Answer | None:
    """The answer, taken away; None where there is none after so many seconds."""
    key, until = _key(lake, request.id, "answer"), time.monotonic() + seconds
    while (given := read_json(lake.storage, key)) is None:
        if time.monotonic() > until:
            return None
        time.sleep(0.1)
    lake.storage.delete(key)
    return Answer(**given)


def _key(lake: Lake, request: str, ending: str) -> str:
    return f"{lake.requests()}/{request}.{ending}"
