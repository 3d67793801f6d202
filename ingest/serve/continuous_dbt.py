"""Continuous dbt: what stands below streams that grew is built, in this process, again and again.

One thread builds, because dbt allows one invocation at a time in a process. Streams report to it
which of them grew. A pass takes live models, or the others; a pass of the others makes room for
live models that have waited for a while. A model that fails keeps only what is below it from being
built, and is tried again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ingest.errors import HeadwaterError, ModelFailed
from ingest.serve.build_queue import BuildBatch, BuildQueue, Built, Outcome
from ingest.serve.dbt_build import DbtBuild, first_line
from ingest.serve.driver_state import Catalog, DriverState
from ingest.serve.model_leases import ModelLeases
from ingest.serve.model_states import ModelStates
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Seconds between two looks at what is due, unless something grows.
_LOOK_EVERY = 0.5
# Seconds that a pass of the other models has, before live ones that wait go first.
_SLICE = 10.0
# Passes between two compactions of the tables to which each pass adds rows.
_COMPACT_EVERY = 50
# Passes between two in which everything is registered in the catalog.
_TELL_ALL_EVERY = 20


class ContinuousDbt:
    """Builds until it is stopped; `sources` are the dbt sources of each stream, by its name."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        dbt: DbtBuild,
        backlog: BuildQueue,
        sources: Mapping[str, frozenset[str]],
        claims: ModelLeases,
        facts: DriverState,
    ) -> None:
        self._spark, self._dbt, self._backlog = spark, dbt, backlog
        self._sources, self._claims, self._facts = sources, claims, facts
        self._states = ModelStates(lake, backlog.models.chosen.values())
        self._lock = threading.Lock()
        self._news, self._stopping = threading.Event(), threading.Event()
        self._known_to_claim: frozenset[str] = frozenset()
        # What was last registered in the catalog, and how often streams had grown then.
        self._registered: tuple[Catalog, int] | None = None
        # Whether a model has failed since, be it for a table that the catalog has lost.
        self._is_doubted = False
        self._growths = 0
        self._passes = 0
        self._thread = threading.Thread(target=self._run, name="continuous dbt")

    def start(self) -> None:
        """Build from now on, first whatever has landed before."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """End after the models at work; does not wait for them."""
        self._stopping.set()
        self._news.set()

    def wait(self) -> None:
        """Until the last model at work is built and recorded."""
        if self._thread.is_alive():
            self._thread.join()

    def grew(self, stream: str, batch_id: int | None = None, /) -> None:
        """A stream has landed rows, of a batch, or filled tables with them."""
        if batch_id is not None:
            self._facts.landed(stream, batch_id)
        with self._lock:
            self._growths += 1
            self._backlog.grew(self._sources.get(stream, ()))
        self._news.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._news.clear()
            try:
                if not self._turn():
                    self._news.wait(_LOOK_EVERY)
            except Exception as error:  # dbt's, Spark's or the disk's: none ends the process
                log.debug("continuous dbt", exc_info=True)
                log.error("continuous dbt: %s", first_line(error))
                self._stopping.wait(_LOOK_EVERY)

    def _turn(self) -> bool:
        """Build what is due; False where nothing is."""
        taken = self._taken()
        with self._lock:
            chosen = self._backlog.next(taken)
        if chosen is None:
            return self._register()
        began = time.monotonic()
        built: Mapping[str, Built] = {}
        try:
            with self._claims.own(chosen.models) as is_free:
                if is_free:
                    built = self._build(chosen)
        finally:
            nothing = Built(outcome=Outcome.LEFT)
            outcomes = {model: built.get(model, nothing).outcome for model in chosen.models}
            with self._lock:
                self._backlog.ended(began, outcomes)
        self._tell(chosen, built, time.monotonic() - began)
        return True

    def _build(self, chosen: BuildBatch) -> Mapping[str, Built]:
        first: list[float] = []

        def ends() -> bool:
            """Asked before each model. dbt's hooks before the first take a while, too."""
            if self._stopping.is_set():
                return True
            first.append(time.monotonic())
            if chosen.is_live or first[-1] - first[0] < _SLICE:
                return False
            with self._lock:
                return self._backlog.is_live_waiting(self._known_to_claim)

        growths, catalog = self._growths, self._facts.catalog()
        try:
            built = self._dbt.build(chosen.models, ends, self._surely_registered())
        except HeadwaterError as error:
            # Said once, not for each model.
            log.error("error[%s]: %s; trying again", error.code, error)
            self._is_doubted = True
            built = dict.fromkeys(chosen.models, Built(outcome=Outcome.FAILED, error=str(error)))
            self._save(built)
            return built
        self._registered = catalog, growths
        self._is_doubted = any(one.outcome is Outcome.FAILED for one in built.values())
        self._passes += 1
        if self._passes % _COMPACT_EVERY == 0:
            self._compact()
        return built

    def _surely_registered(self) -> Catalog | None:
        """What the catalog knows; None where something may have to be registered.

        Now and then everything is registered again: somebody may have dropped what no model reads.
        """
        is_due = self._passes % _TELL_ALL_EVERY == 0
        if not self._registered or is_due or self._is_doubted or self._dbt.is_waiting:
            return None
        return self._registered[0]

    def _taken(self) -> frozenset[str]:
        """Models that others build. What is below them is behind as soon as they are done."""
        claimed, abandoned = self._claims.news()
        with self._lock:
            self._backlog.grew(claimed)
            self._backlog.abandoned(abandoned)
        self._known_to_claim = self._claims.taken()
        return self._known_to_claim

    def _register(self) -> bool:
        """Show new tables and types of events at once, also those that no model reads."""
        growths, catalog = self._growths, self._facts.catalog()
        registered, growths_then = self._registered or (None, -1)
        if catalog != registered or (self._dbt.is_waiting and growths != growths_then):
            self._dbt.register()
            self._registered = catalog, growths
        return False

    def _tell(self, chosen: BuildBatch, built: Mapping[str, Built], seconds: float) -> None:
        """Keep what became of each model for a person, and say what is new."""
        names = self._backlog.models.chosen
        for model, one in built.items():
            if one.outcome is Outcome.FAILED and self._states.is_news(names[model].name, one):
                wait = self._backlog.seconds_to_retry(model)
                error = ModelFailed(f"{names[model].name}: {one.error}; again in {wait:.0f} s")
                log.error("error[%s]: %s", error.code, error)
        count = sum(one.outcome is Outcome.BUILT for one in built.values())
        self._save(built)
        kind = "live models" if chosen.is_live else "models"
        if count:
            log.info("dbt: %d of %d %s, %.1f s", count, len(chosen.models), kind, seconds)

    def _save(self, built: Mapping[str, Built]) -> None:
        names = self._backlog.models.chosen
        self._states.save({names[model].name: one for model, one in built.items()})

    def _compact(self) -> None:
        """Each pass adds a file to each of these, and reads one of them whole."""
        for table in ("ops.model_marks", "ops.model_runs"):
            self._spark.sql(f"optimize {table}")
