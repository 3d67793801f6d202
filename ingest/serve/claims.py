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
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Names of the views; macros/serve has them too.
SERVED = "headwater_serve"
CLAIM, GIVEN = "headwater_claim_", "headwater_given_"
_LOOK_EVERY = 0.2
# A dbt that has said nothing for so many seconds has been killed: dbt sends its next statement at
# once, and a statement at work counts.
_SILENCE = 20.0


@dataclass(slots=True)
class Claim:
    """Models that a dbt has asked for. `heard` is when it was last heard of, in seconds."""

    id: str
    models: frozenset[str]
    heard: float
    is_given: bool = False


class Claims:
    """Gives models to one builder at a time, in the order in which they are asked for."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._lock = threading.Lock()
        self._claims: dict[str, Claim] = {}
        self._at_work: frozenset[str] = frozenset()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._look, name="claims", daemon=True)

    def start(self) -> None:
        """Answer claims from now on."""
        self._show(SERVED)
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

    @contextlib.contextmanager
    def own(self, models: Set[str]) -> Iterator[bool]:
        """Build these models; False where somebody has claimed one of them meanwhile."""
        with self._lock:
            free = not any(claim.models & models for claim in self._claims.values())
            self._at_work = frozenset(models) if free else frozenset()
        try:
            yield free
        finally:
            with self._lock:
                self._at_work = frozenset()

    def _look(self) -> None:
        while not self._stopping.wait(_LOOK_EVERY):
            try:
                with self._lock:
                    self._take_in(set(self._views(CLAIM)))
                    self._give()
            except Exception as error:  # a view that went away while it was read, for one
                log.debug("claims: %s", error)

    def _take_in(self, asked: set[str]) -> None:
        """Learn of new claims, and forget those that are over."""
        now = time.monotonic()
        for one in asked - self._claims.keys():
            text = str(self._spark.table(f"global_temp.{CLAIM}{one}").first()["models"])  # type: ignore[index]
            self._claims[one] = Claim(one, frozenset(text.split()), now)
        if not self._claims:
            return
        statements = self._statements()
        for claim in list(self._claims.values()):
            said = [end for text, end in statements if claim.id in text.replace("-", "_")]
            if None in said:
                claim.heard = now
            elif said:
                claim.heard = max(claim.heard, now - (time.time() - max(filter(None, said))))
            is_dead = now - claim.heard > _SILENCE
            if is_dead:
                log.warning("a dbt that builds on the SQL endpoint has gone silent: %s", claim.id)
            if is_dead or claim.id not in asked:
                self._hide(f"{CLAIM}{claim.id}")
                self._hide(f"{GIVEN}{claim.id}")
                del self._claims[claim.id]

    def _give(self) -> None:
        """Answer the claims whose models nobody builds, the oldest first."""
        busy = set(self._at_work)
        for one in self._claims.values():
            if not one.is_given and not busy & one.models:
                self._show(f"{GIVEN}{one.id}")
                one.is_given = True
            busy |= one.models

    def _statements(self) -> list[tuple[str, float | None]]:
        """What the endpoint's clients have asked of late, and when it ended; None: not yet."""
        jvm: Any = self._spark._jvm
        context: Any = self._spark.sparkContext._jsc
        store = jvm.org.apache.spark.sql.hive.thriftserver.ui.HiveThriftServer2AppStatusStore(
            context.sc().statusStore().store()
        )
        found = store.getExecutionList()
        told = [found.apply(place) for place in range(found.size())]
        return [(one.statement(), one.finishTimestamp() / 1000 or None) for one in told]

    def _views(self, start: str) -> list[str]:
        java: Any = self._spark._jsparkSession
        names = java.sharedState().globalTempViewManager().listViewNames(f"{start}*")
        return [names.apply(place).removeprefix(start) for place in range(names.size())]

    def _show(self, name: str) -> None:
        self._spark.range(1).createOrReplaceGlobalTempView(name)

    def _hide(self, name: str) -> None:
        self._spark.catalog.dropGlobalTempView(name)
