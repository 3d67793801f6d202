"""`ingest serve`: one process that lands streams, builds models and answers SQL."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest import settings
from ingest.declarations.project import declared_streams, parsed, selected
from ingest.declarations.stream import Stream
from ingest.errors import HeadwaterError
from ingest.model_options.checks import check_options
from ingest.runtime import runner
from ingest.runtime.progress import ProgressLog
from ingest.serve.build_queue import BuildQueue
from ingest.serve.continuous_dbt import ContinuousDbt
from ingest.serve.dbt_build import DbtBuild
from ingest.serve.driver_state import DriverState
from ingest.serve.fast_bookkeeping import FastBookkeeping
from ingest.serve.health import Health, HealthAddress, HealthEndpoint
from ingest.serve.model_leases import DriverViews, ModelLeases
from ingest.serve.models import KINDS, Models, models_of, sources_of
from ingest.serve.sql_endpoint import Address, SqlEndpoint, check_free
from ingest.spark import launch
from ingest.spark.session import catalog_folder, driver_session
from ingest.storage import embedded_catalog
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Seconds between two looks at whether Spark is alive.
_LOOK_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What the project says is to be done."""

    manifest: Manifest
    streams: Sequence[Stream]
    models: Models
    sources: Mapping[str, frozenset[str]]


def planned(streams: Sequence[str], build: Sequence[str]) -> Plan:
    """Read the project. Raises DeclarationInvalid, OptionsRefused, ProjectUnreadable, and more."""
    manifest = parsed()
    check_options(manifest)
    chosen = declared_streams(streams, manifest=manifest)
    models = models_of(manifest, selected(manifest, KINDS, build))
    return Plan(manifest, chosen, models, sources_of(manifest, chosen))


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the process answers, if it does."""

    sql: Address | None = None
    health: HealthAddress | None = None


def serve(
    lake: Lake, streams: Sequence[str], build: Sequence[str], at: Addresses, began: float
) -> list[HeadwaterError]:
    """Serve until asked to stop. Returns what went wrong, a stream each.

    `began` is when the command did, by the monotonic clock: to import dbt takes seconds, too.
    Raises AddressRefused, CatalogHeld, StreamLocked, EndpointFailed and what `planned` raises.
    """
    # Paths of dbt's profile are relative to the project, and dbt goes there, too.
    os.chdir(settings.project_dir())
    # First: it names another `ingest serve`, and waits until a killed one's Java has left the port.
    embedded_catalog.hold(catalog_folder(lake.root))
    sql, health = at.sql, Health()
    if sql:
        check_free(sql)
    with ExitStack() as stack:
        with runner.signals_held(), ThreadPoolExecutor(1) as reader:
            if at.health:
                # Before Spark, which takes its time, and until all else has ended.
                stack.enter_context(HealthEndpoint(at.health, health))
            launch.prepare_process()
            reading = reader.submit(planned, streams, build)
            spark = driver_session(lake.root, sql.settings() if sql else {})
            # Opens the catalog, which takes as long as dbt needs to read the project.
            spark.catalog.listDatabases()
            plan = reading.result()
            owned = runner.owned(lake, plan.streams, lambda: spark)
            _, stopping = stack.enter_context(owned)
        claims = ModelLeases(DriverViews(spark.newSession()))
        if sql:
            # Before anybody can ask: who finds no claims builds beside us.
            claims.start()
            stack.callback(claims.stop)
            health.endpoint = stack.enter_context(SqlEndpoint(spark.newSession(), sql))
        dbt = _continuous_dbt(spark, lake, plan, claims)
        dbt.start()
        stack.callback(dbt.wait)
        asked = threading.Thread(target=_pass_on, args=(stopping, dbt), daemon=True)
        asked.start()
        where = f", SQL on {sql.host}:{sql.port}" if sql else ""

        progress = ProgressLog(lake, dbt.grew)
        health.watch([one.name for one in plan.streams], progress, stopping)

        def begun() -> None:
            health.has_begun = True
            seconds = time.monotonic() - began
            log.info("serving after %.0f s: %d models%s", seconds, len(plan.models.chosen), where)

        return _land(spark, plan, dbt, progress, stopping, begun)


def _land(
    spark: SparkSession,
    plan: Plan,
    dbt: ContinuousDbt,
    progress: ProgressLog,
    stopping: threading.Event,
    begun: Callable[[], None],
) -> list[HeadwaterError]:
    """Streams, in a session of their own: dbt sets a profile's settings in the other one."""
    own = spark.newSession()
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", "streams")
    try:
        errors = runner.land_until_stopped(own, plan.streams, progress, stopping, begun)
        # Without a stream there are still models to try again, and people who ask.
        while not stopping.wait(_LOOK_EVERY):
            runner.refuse_death(spark, progress.lake)
        return errors
    finally:
        dbt.ask_to_stop()


def _pass_on(stopping: threading.Event, dbt: ContinuousDbt) -> None:
    """Let dbt end while streams end: who asked to stop waits for the slower of both only."""
    stopping.wait()
    dbt.ask_to_stop()


def _continuous_dbt(
    spark: SparkSession, lake: Lake, plan: Plan, claims: ModelLeases
) -> ContinuousDbt:
    backlog = BuildQueue(plan.models, time.monotonic)
    facts = DriverState(lake, declared_streams((), manifest=plan.manifest))
    build = DbtBuild(plan.manifest, facts, FastBookkeeping(lake, lambda: not claims.taken()))
    return ContinuousDbt(spark, lake, build, backlog, plan.sources, claims, facts)
