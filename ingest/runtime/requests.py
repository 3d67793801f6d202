"""What people ask of the process that lands a stream: files that it answers between batches.

So a stream goes on while its types are decided on, and its tables have one writer.
"""

from __future__ import annotations

import json
import logging
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ingest.event_types.event_type import Change, EventType
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
    _write(_path(lake, request.id, "json"), written)


def pending(lake: Lake, stream: str) -> Iterator[Request]:
    """A stream's requests, oldest first. A file that is none is put aside."""
    for path in sorted(lake.requests().glob("*.json")):
        try:
            written = json.loads(path.read_text("utf-8"))
            request = Request(**{**written, "change": Change(written["change"])})
        except (ValueError, TypeError, KeyError) as error:
            log.warning("%s is no request and is put aside: %s", path, error)
            path.rename(path.with_suffix(".refused"))
            continue
        if request.stream == stream:
            yield request


def answer(lake: Lake, request: Request, given: Answer) -> None:
    """Answer a request, which is gone then."""
    _write(_path(lake, request.id, "answer"), asdict(given))
    _path(lake, request.id, "json").unlink(missing_ok=True)


def awaited(lake: Lake, request: Request, seconds: float) -> Answer | None:
    """The answer, taken away; None where there is none after so many seconds."""
    path, until = _path(lake, request.id, "answer"), time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > until:
            return None
        time.sleep(0.1)
    given = Answer(**json.loads(path.read_text("utf-8")))
    path.unlink()
    return given


def _path(lake: Lake, request: str, ending: str) -> Path:
    return lake.requests() / f"{request}.{ending}"


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(value) + "\n", "utf-8")
    new.replace(path)
