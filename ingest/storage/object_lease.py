"""A lease in an object store: an object that its holder renews, and others take when it does not.

Clocks of two machines are never compared. The holder counts from the moment at which it sent the
renewal that succeeded, and stops at the end of the lease. A process that wants the lease watches
the object, and takes it when it has not changed for a tenth longer than that, by a clock of its
own: so long as no clock runs a tenth faster than another, both never hold it. Of a holder on the
same machine the operating system knows whether it runs, so nobody waits. Each change is a
conditional put, so of several processes one succeeds.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError

from ingest.errors import StorageAway, StorageFailed
from ingest.storage.object_store import Bucket
from ingest.storage.processes import ProcessIdentity
from ingest.storage.storage import LeaseHeld, LeaseLost

if TYPE_CHECKING:
    from obstore import GetResult, ObjectMeta, UpdateVersion

log = logging.getLogger(__name__)

# How long a lease lasts that is not renewed. Each renewal is a request that is paid for.
SECONDS = 60.0
# Of that time, after which it is renewed; and what another process waits, as clocks differ.
_RENEWED_AFTER, _WATCHED_FOR = 0.25, 1.1
# Seconds for which a holder whose lease has run out tries to renew it, before it gives up.
_PATIENCE = 60.0
# Seconds between two looks at a lease that may end, at most.
_LOOK_EVERY = 2.0
# Buckets whose server is known to keep what is there.
_keeping: set[str] = set()


def _clock() -> float:
    """Seconds that also pass while the machine sleeps, where it knows them."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """What the object says. `id` is of one lease, and `renewal` makes each put another.

    `epoch` counts the processes that have had it, `seconds` is how long it lasts. `renewed_at` is
    of the holder's clock, for people alone.
    """

    id: str
    host: str
    pid: int
    started: str
    space: str
    epoch: int
    renewal: int
    seconds: float
    is_held: bool
    renewed_at: str

    @property
    def owner(self) -> str:
        """The holder, for people."""
        return f"process {self.pid} on {self.host}"

    def is_running(self) -> bool | None:
        """Whether the holder runs; None where that cannot be known, as on another machine."""
        return ProcessIdentity(self.space, self.pid, self.started).is_running()


@dataclass(frozen=True, slots=True)
class _Stored:
    content: _Content
    version: UpdateVersion
    age: float


class ObjectLease:
    """See Lease: that of the object at `path` of a bucket."""

    def __init__(
        self,
        bucket: Bucket,
        path: str,
        seconds: float,
        clock: Callable[[], float] = _clock,
    ) -> None:
        self._bucket, self._path, self._seconds, self._clock = bucket, path, seconds, clock
        process = ProcessIdentity.own()
        self._own = _Content(
            id=uuid4().hex,
            host=socket.gethostname(),
            pid=process.pid,
            started=process.started,
            space=process.space,
            epoch=0,
            renewal=0,
            seconds=seconds,
            is_held=True,
            renewed_at="",
        )
        self._version: UpdateVersion | None = None
        self._valid_until = 0.0
        self._lost_to: str | None = None
        # Held while the object is written: by the thread that renews it, or by who asks.
        self._writing = threading.Lock()
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease", daemon=True)

    def take(self) -> None:
        """Take the lease. Raises LeaseHeld, where need be after a while, and StorageFailed."""
        seen: UpdateVersion | None = None
        since = 0.0
        while True:
            there = _read(self._bucket, self._path)
            runs = there.content.is_running() if there else False
            is_own = there is not None and there.content.id == self._own.id
            if there and there.content.is_held and runs is not False and not is_own:
                if runs or (seen and there.version != seen):
                    raise LeaseHeld(there.content.owner)
                if not seen:
                    seen, since = there.version, self._clock()
                    log.info(
                        "%s/%s is held by %s: waiting %.0f s at most to see whether that runs",
                        self._bucket.url,
                        self._path,
                        there.content.owner,
                        there.content.seconds * _WATCHED_FOR,
                    )
                left = since + there.content.seconds * _WATCHED_FOR - self._clock()
                if left > 0:
                    time.sleep(min(left, _LOOK_EVERY, there.content.seconds / 10))
                    continue
            if self._took(there):
                self._refuse_server_that_overwrites()
                self._thread.start()
                return

    def _refuse_server_that_overwrites(self) -> None:
        """Raise StorageFailed where the server puts an object though one is there.

        Leases would protect nothing there, and Delta's commits overwrite each other. Asked once of
        a bucket by each process, with the lease that was just taken.
        """
        if self._bucket.url in _keeping:
            return
        try:
            self._put(self._own, None)
        except (PreconditionError, AlreadyExistsError):
            _keeping.add(self._bucket.url)
        except StorageAway as error:
            log.warning("%s", error)
        else:
            raise StorageFailed(
                f"{self._bucket.url}: the server ignores If-None-Match: *, and overwrites what is "
                "there, so writers would overwrite each other's commits: take one that honours it"
            )

    def check(self) -> None:
        """See Lease. One that has run out is renewed, where nobody has taken it meanwhile."""
        if self._lost_to is None and self._clock() < self._valid_until:
            return
        with self._writing:
            until = time.monotonic() + _PATIENCE
            while self._lost_to is None and self._clock() >= self._valid_until:
                try:
                    self._renew()
                except StorageAway:
                    if time.monotonic() > until:
                        raise
                    time.sleep(min(_LOOK_EVERY, self._seconds / 10))
            if self._lost_to is not None:
                raise LeaseLost(self._lost_to)

    def release(self) -> None:
        """Give the lease back, as far as the store can be reached."""
        self._released.set()
        with self._writing:
            if self._lost_to is None and self._version:
                given = self._next(is_held=False)
                with contextlib.suppress(
                    StorageFailed, PreconditionError, AlreadyExistsError, FileNotFoundError
                ):
                    self._put(given, self._version)

    def _took(self, there: _Stored | None) -> bool:
        """Try to write the object in the place of what was there; False where it has changed."""
        self._own = replace(self._own, epoch=there.content.epoch + 1 if there else 1)
        began = self._clock()
        try:
            self._write(self._next(), there.version if there else None, began)
        except (PreconditionError, AlreadyExistsError, FileNotFoundError):
            pass
        except StorageAway:
            # It may be there all the same.
            time.sleep(min(_LOOK_EVERY, self._seconds / 10))
        else:
            return True
        found = _read(self._bucket, self._path)
        if found is None or found.content.id != self._own.id:
            return False
        self._adopt(found.content, found.version, began)
        return True

    def _keep(self) -> None:
        """Renew the lease until it is released or lost."""
        rest = self._seconds * _RENEWED_AFTER
        while not self._released.wait(rest):
            rest = self._seconds * _RENEWED_AFTER
            with self._writing:
                if self._released.is_set():
                    return
                try:
                    self._renew()
                except StorageAway as error:
                    log.warning("%s", error)
                    rest = min(_LOOK_EVERY, self._seconds / 10)
                except StorageFailed as error:
                    log.warning("%s", error)
            if self._lost_to is not None:
                log.error("%s/%s was %s", self._bucket.url, self._path, LeaseLost(self._lost_to))
                return

    def _renew(self) -> None:
        """Renew it, or find out who has it. Raises StorageFailed."""
        began = self._clock()
        try:
            self._write(self._next(), self._version, began)
        except (PreconditionError, AlreadyExistsError, FileNotFoundError):
            found = _read(self._bucket, self._path)
            if found is None:
                # Somebody has deleted it.
                self._version = None
            elif found.content.id == self._own.id:
                # Written by a request whose answer was lost.
                self._own, self._version = found.content, found.version
            else:
                self._lost_to = found.content.owner
                return
            with contextlib.suppress(PreconditionError, AlreadyExistsError, FileNotFoundError):
                self._write(self._next(), self._version, began)

    def _next(self, *, is_held: bool = True) -> _Content:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return replace(self._own, renewal=self._own.renewal + 1, is_held=is_held, renewed_at=now)

    def _write(self, content: _Content, version: UpdateVersion | None, began: float) -> None:
        self._adopt(content, self._put(content, version), began)

    def _put(self, content: _Content, version: UpdateVersion | None) -> UpdateVersion:
        text = json.dumps(asdict(content)).encode()
        with self._bucket.reached(self._path, once=True) as store:
            put = obstore.put(store, self._path, text, mode=version or "create")
        return _version(put["e_tag"], put["version"])

    def _adopt(self, content: _Content, version: UpdateVersion, began: float) -> None:
        self._own, self._version = content, version
        self._valid_until = began + self._seconds


def is_leased(bucket: Bucket, path: str) -> bool:
    """Whether a lease is held and so young that its holder may run."""
    there = _read(bucket, path)
    return there is not None and there.content.is_held and there.age < 2 * there.content.seconds


def _read(bucket: Bucket, path: str) -> _Stored | None:
    try:
        meta, text = bucket.read(path, lambda store: _whole(obstore.get(store, path)))
    except FileNotFoundError:
        return None
    try:
        known: dict[str, Any] = json.loads(text)
        content = _Content(**known)
    except (ValueError, TypeError) as error:
        raise StorageFailed(
            f"{bucket.url}/{path} is no lease: delete it if no process uses this lake"
        ) from error
    age = (datetime.now(UTC) - meta["last_modified"]).total_seconds()
    return _Stored(content, _version(meta["e_tag"], meta["version"]), age)


def _whole(answer: GetResult) -> tuple[ObjectMeta, bytes]:
    return answer.meta, bytes(answer.bytes())


def _version(e_tag: str | None, version: str | None) -> UpdateVersion:
    """What a conditional put names: of the two the client takes no None."""
    found: UpdateVersion = {}
    if e_tag is not None:
        found["e_tag"] = e_tag
    if version is not None:
        found["version"] = version
    return found
