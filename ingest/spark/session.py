"""Spark sessions. The only module that builds one.

Each of `ingest`'s own commands works by path and opens no catalog (the embedded one admits
one process, which is dbt's).
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest import settings
from ingest.errors import InputError
from ingest.spark import internals, jvm_output, launch, metastore, profiles

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

# Spark's own format.
POOLS = Path(__file__).parent / "pools.xml"

# The exit code of Spark's JVM where a task found no memory.
OUT_OF_MEMORY = 52
# Seconds until the end of a JVM is noticed.
_TO_END = 0.5

# Contexts that this module has started; others belong to the caller.
_started_here: list[SparkContext] = []


def session(name: str, lake: str) -> SparkSession:
    """A session without a catalog, for commands that work by path.

    Where the process has a session already, such as a notebook's, it is a new session of that
    Spark. The JVM's own messages go to `_logs/spark.log` in the lake's local folder. Raises
    JavaMissing, InputError (jars missing, or an active session without Delta), StorageFailed.
    """
    from pyspark.sql import SparkSession

    if active := _active_session():
        return adopt(active)
    return _start(SparkSession.builder.appName(f"headwater {name}"), lake, {})


def driver_session(lake: str, more: Mapping[str, str]) -> SparkSession:
    """The session of the long-lived driver, with the embedded catalog, which the caller owns.

    dbt joins it; what else runs in the driver takes a `newSession()`, because dbt sets a
    profile's settings in this one. `more` are further settings. Raises as `session`, and
    InputError where a shared catalog is of another lake.
    """
    from pyspark.sql import SparkSession

    # As profiles.yml names them for dbt, which opens the same catalog when no driver runs.
    catalog = {
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={catalog_folder(lake)}/metastore;create=true"
        ),
        # Streams, builds and SQL queries take turns at the cores.
        "spark.scheduler.mode": "FAIR",
        "spark.scheduler.allocation.file": f"file:{POOLS}",
    }
    builder = SparkSession.builder.appName("headwater serve").enableHiveSupport()
    derby = f'"-Dderby.stream.error.file={catalog_folder(lake)}/derby.log"'
    spark = _start(builder, lake, {**catalog, **more}, derby)
    metastore.check_lake(spark)
    return spark


def adopt(active: SparkSession) -> SparkSession:
    """A new session of a Spark that runs already, with the settings that bronze depends on.

    The active session stays as it is. Raises InputError where it has no Delta.
    """
    delta = profiles.COMMON["spark.sql.extensions"]
    if delta not in (active.conf.get("spark.sql.extensions", "") or ""):
        raise InputError(f"the active Spark session has no Delta: start it with {delta}")
    own = active.newSession()
    for name, value in profiles.UserSettings.read().merged_into(profiles.COMMON).items():
        if own.conf.isModifiable(name):
            own.conf.set(name, value)
    return own


def stop(spark: SparkSession) -> None:
    """Stop a session that was started here; one that was adopted belongs to its owner."""
    if spark.sparkContext in _started_here:
        _started_here.remove(spark.sparkContext)
        spark.stop()


def exit_code(spark: SparkSession) -> int | None:
    """The exit code of the JVM of a session; None while it runs, or where we did not start it.

    Where a signal killed it, that is the signal's number below zero.
    """
    gateway: Any = spark.sparkContext._gateway
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    try:
        return process.wait(_TO_END) if process else None
    except subprocess.TimeoutExpired:
        return None


def catalog_folder(lake: str) -> Path:
    """The folder around the embedded catalog of a lake."""
    return Path(settings.local_folder(lake), "_catalog")


def _active_session() -> SparkSession | None:
    """The session of a Spark that this process has started outside of this module."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    if context is None or context in _started_here:
        return None
    return SparkSession.builder.getOrCreate()


def _start(
    builder: SparkSession.Builder, lake: str, more: Mapping[str, str], java_options: str = ""
) -> SparkSession:
    launch.prepare_process()
    for name, value in profiles.builder_settings(lake, more, java_options).items():
        builder = builder.config(name, value)
    with jvm_output.redirected(Path(settings.local_folder(lake), "_logs", "spark.log")):
        spark = builder.getOrCreate()
    if spark.sparkContext not in _started_here:
        _started_here.append(spark.sparkContext)
    # It prints a stack trace where the JVM is killed, which is reported in a line.
    server: Any = spark.sparkContext._accumulatorServer
    server.handle_error = lambda *_: None
    internals.prepare(spark)
    return spark
