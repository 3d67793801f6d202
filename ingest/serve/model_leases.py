"""Who builds which models: continuous dbt, or a person's dbt on the SQL endpoint.

Two builds of one model at a time could leave a wrong row: the one that started first reads the
older rows, writes last, and the other's mark says that all is read. So a dbt that comes over the
SQL endpoint claims its models before it looks what is new (macros/serve). A claim is a global
temporary view, which lives in this process only and is seen by all of its sessions; so is the
answer. All models of a claim are given together, so nobody waits for one while holding another.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ingest.spark.thrift_server import global_views, seconds_since_statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Names of the views; macros/serve has them too.
SERVED = "headwater_serve"
CLAIM, GIVEN = "headwater_claim_", "headwater_given_"
_LOOK_EVERY = 0.2
# A dbt that has said nothing for so many seconds has been killed: dbt sends its next statement at
# once, and a statement at work counts.
SILENCE = 20.0


class Views(Protocol):
    """What Spark knows: views that all sessions see, and what was asked over the endpoint."""

    def claimed(self) -> Set[str]:
        """Ids of the claims that there are."""
        ...

    def models(self, claim: str) -> frozenset[str]:
        """The models of a claim."""
        ...

    def silence(self, claim: str) -> float | None:
        """Seconds since the dbt of a claim has asked something; None where that is forgotten."""
        ...

    def show(self, name: str) -> None:
        """Make a view that says something by being there."""
        ...

    def hide(self, name: str) -> None:
        """Take a view away, if it is there."""
        ...


@dataclass(slots=True)
class _Claim:
    """Models that a dbt has asked for. `heard` is when it was last heard of, in seconds."""

    id: str
    models: frozenset[str]
    heard: float
    is_given: bool = False


class ModelLeases:
    """Gives models to one builder at a time, in the order in which they are asked for."""

    def __init__(self, views: Views, clock: Callable[[], float] = time.monotonic) -> None:
        self._views, self._clock = views, clock
        self._lock = threading.Lock()
        self._claims: dict[str, _Claim] = {}
        self._news: set[str] = set()
        self._abandoned: set[str] = set()
        self._at_work: frozenset[str] = frozenset()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="claims", daemon=True)

    def start(self) -> None:
        """Answer claims from now on."""
        self._views.show(SERVED)
        self._thread.start()

    def stop(self) -> None:
        """Answer no more claims."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def taken(self) -> frozenset[str]:
        """Models that others build, or wait for."""
        with self._lock:
            return frozenset().union(*(claim.models for claim in self._claims.values()))

    def news(self) -> tuple[frozenset[str], frozenset[str]]:
        """Models that were claimed since this was asked last, and those of claims that died.

        To be asked before `taken`: what comes in between is taken, and news of the next time.
        """
        with self._lock:
            claimed, abandoned = frozenset(self._news), frozenset(self._abandoned)
            self._news.clear()
            self._abandoned.clear()
            return claimed, abandoned

    @contextlib.contextmanager
    def own(self, models: Set[str]) -> Iterator[bool]:
        """Build these models; False where somebody has claimed one of them meanwhile."""
        with self._lock:
            is_free = not any(claim.models & models for claim in self._claims.values())
            self._at_work = frozenset(models) if is_free else frozenset()
        try:
            yield is_free
        finally:
            with self._lock:
                self._at_work = frozenset()

    def look(self) -> None:
        """Learn of new claims, forget those that are over, and give what is free."""
        with self._lock:
            asked = self._views.claimed()
            for one in sorted(asked - self._claims.keys()):
                self._claims[one] = _Claim(one, self._views.models(one), self._clock())
                self._news |= self._claims[one].models
            for claim in list(self._claims.values()):
                self._keep_or_forget(claim, asked)
            busy = set(self._at_work)
            for claim in self._claims.values():
                if not claim.is_given and not busy & claim.models:
                    self._views.show(f"{GIVEN}{claim.id}")
                    claim.is_given = True
                busy |= claim.models

    def _keep_or_forget(self, claim: _Claim, asked: Set[str]) -> None:
        silence = self._views.silence(claim.id)
        if silence is not None:
            claim.heard = max(claim.heard, self._clock() - silence)
        is_dead = self._clock() - claim.heard > SILENCE
        if is_dead:
            log.warning("a dbt that builds on the SQL endpoint has gone silent: %s", claim.id)
            self._views.hide(f"{CLAIM}{claim.id}")
            self._abandoned |= claim.models
        if is_dead or claim.id not in asked:
            self._views.hide(f"{GIVEN}{claim.id}")
            del self._claims[claim.id]

    def _watch(self) -> None:
        while not self._stopping.wait(_LOOK_EVERY):
            try:
                self.look()
            except Exception as error:  # a view that went away while it was read, for one
                log.debug("claims: %s", error)


class DriverViews:
    """Views of the Spark that runs in this process."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def claimed(self) -> Set[str]:
        """Asked of the driver's memory: a statement each time would cost too much."""
        return {name.removeprefix(CLAIM) for name in global_views(self._spark, CLAIM)}

    def models(self, claim: str) -> frozenset[str]:
        """One text, with blanks between the ids."""
        row = self._spark.table(f"global_temp.{CLAIM}{claim}").first()
        return frozenset(str(row["models"]).split()) if row else frozenset()

    def silence(self, claim: str) -> float | None:
        """Each statement of a dbt has its invocation id in a comment (dbt_project.yml)."""
        return seconds_since_statement(self._spark, claim)

    def show(self, name: str) -> None:
        """A row, so that it is a view."""
        self._spark.range(1).createOrReplaceGlobalTempView(name)

    def hide(self, name: str) -> None:
        """Spark says whether it was there, which nobody asks."""
        self._spark.catalog.dropGlobalTempView(name)
