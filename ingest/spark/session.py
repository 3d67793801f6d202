"""Spark sessions. The only module that builds one.

Each of `ingest`'s own commands works by path and opens no catalog (the embedded one admits
one process, which is dbt's).
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest import settings
from ingest.errors import InputError, StorageFailed
from ingest.spark import launch
from ingest.spark.class_loader import share_class_loader
from ingest.spark.java_names import keep_names

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The optimum on two cores; a cluster's own settings win through spark-defaults.
_LOCAL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    # Each job broadcasts some kilobytes, for which Spark takes a whole block of heap: 4 MB of zeros
    # by default, which G1 holds to be huge, and for which it marks the heap every few seconds.
    "spark.broadcast.blockSize": "256k",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    # Delta's log, too, has no files of checksums beside its own (`_started`).
    "spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs",
}
_ALWAYS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Bronze keeps what came, also instants before the Gregorian calendar.
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    # Spark asks after each row how large a piece for Python has become, which takes as long as
    # the piece has rows, where a column is null in most.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    "spark.python.daemon.module": "ingest.decoders.worker_daemon",
    # For messages that name a line of ours, PySpark asks Java eight things at each column of a
    # query and looks for IPython: five sixths of the time that it takes to write a query.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # The default one asks the shell's readlink twice and more for each file: half of a small
    # batch's time on a busy machine. One process writes a checkpoint (ingest/storage/locks.py).
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.FileSystemBasedCheckpointFileManager"
    ),
    # A batch takes about a hundred classes of generated code: as many as are kept by default.
    "spark.sql.codegen.cache.maxEntries": "5000",
    # Past this many fields, nested ones too, Spark stops compiling a query as a whole.
    "spark.sql.codegen.maxFields": "1000",
    # For pages of the UI that nobody sees, Spark keeps texts of the plans of a thousand queries.
    "spark.sql.ui.explainMode": "simple",
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "1000",
    "spark.redaction.regex": "(?i)secret|password|token|jaas|access[.]?key",
    "spark.log.level": "ERROR",
    # This rule throws away the part of a finished plan that found no rows, and with it what was
    # observed there: an Observation would wait for ever.
    "spark.sql.adaptive.optimizer.excludedRules": (
        "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    ),
}

# Spark's own format.
POOLS = Path(__file__).parent / "pools.xml"

# What Spark's Java process ends with where a task found no memory.
OUT_OF_MEMORY = 52
# Seconds that a Java process may be gone before that is known.
_TO_END = 0.5

# A driver that runs for long compiles new code at each build; where the default of 240 MB is full,
# Java throws away what it needs again.
_CODE_CACHE = "-XX:ReservedCodeCacheSize=512m"

# A driver that lands and builds runs ever new code. On few cores Java's second compiler waits for
# ten times the calls that it would: by then it has little but what each row goes through to do.
# And it takes less together at a time: of what plans queries, calls lie so deep within each other
# that a method of ten lines became twenty thousand bytes, in seconds.
_FEWER_COMPILATIONS = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000 "
    "-XX:MaxInlineLevel=4 -XX:MaxInlineSize=20 -XX:FreqInlineSize=100 -XX:InlineSmallCode=600 "
    "-XX:LoopUnrollLimit=16 -XX:-DoEscapeAnalysis"
)
# Java's usual collector marks the heap beside the work, which has no core to spare. This one has
# the work stop for it.
_STOPPING_COLLECTOR = "-XX:+UseParallelGC"
_ENOUGH_CORES = 4

# Arrow checks each value that Spark takes of it, which Spark has checked: a twentieth of landing.
_ARROW_UNCHECKED = (
    "-Darrow.enable_unsafe_memory_access=true -Darrow.enable_null_check_for_get=false"
)

# Where set-up keeps the classes that Spark loads, in the project. Java would warn where it
# cannot use them.
CLASSES = ".jars/classes.jsa"
_SILENTLY = "-Xlog:cds=off -Xlog:cds+dynamic=off"

# What a broken message of Avro says of its own size is not believed: the JVM would die of it.
_AVRO_LIMITS = (
    "-Dorg.apache.avro.limits.bytes.maxLength=67108864 "
    "-Dorg.apache.avro.limits.string.maxLength=67108864 "
    "-Dorg.apache.avro.limits.collectionItems.maxLength=10000000"
)


def session(name: str, lake: str) -> SparkSession:
    """A session without a catalog, for commands that work by path.

    The JVM's own messages go to `<lake>/_logs/spark.log`. Raises JavaMissing, InputError
    (jars missing), StorageFailed.
    """
    from pyspark.sql import SparkSession

    return _started(SparkSession.builder.appName(f"headwater {name}"), lake, {})


def driver_session(lake: str, more: Mapping[str, str]) -> SparkSession:
    """The session of the long-lived driver, with the embedded catalog, which the caller holds.

    dbt joins it; what else runs in the driver takes a `newSession()`, because dbt sets a
    profile's settings in this one. `more` are further settings. Raises as `session`.
    """
    from pyspark.sql import SparkSession

    # As profiles.yml names them for dbt, which opens the same catalog when no driver runs.
    catalog = {
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={catalog_folder(lake)}/metastore;create=true"
        ),
        # Streams, builds and people's questions take turns at the cores.
        "spark.scheduler.mode": "FAIR",
        "spark.scheduler.allocation.file": f"file:{POOLS}",
    }
    builder = SparkSession.builder.appName("headwater serve").enableHiveSupport()
    derby = f'"-Dderby.stream.error.file={catalog_folder(lake)}/derby.log"'
    return _started(builder, lake, {**catalog, **more}, f"{derby} {options_for_few_cores()}")


def options_for_few_cores() -> str:
    """Options of Java that a long-lived driver has beside the user's, where there are few cores."""
    has_few = (os.cpu_count() or 1) < _ENOUGH_CORES
    return sparing_options(settings.java_options()) if has_few else ""


def sparing_options(given: str) -> str:
    """Options of Java for few cores, beside those given: it refuses a second collector."""
    has_collector = re.search(r"-XX:\+Use\w+GC\b", given)
    return _FEWER_COMPILATIONS if has_collector else f"{_FEWER_COMPILATIONS} {_STOPPING_COLLECTOR}"


def exit_code(spark: SparkSession) -> int | None:
    """What the Java process of a session that was started here has ended with; None: it runs.

    Where a signal killed it, that is the signal's number below zero.
    """
    gateway: Any = spark.sparkContext._gateway
    try:
        return int(gateway.proc.wait(_TO_END))
    except subprocess.TimeoutExpired:
        return None


def kept_classes() -> str:
    """Options of Java that have it use the classes that set-up has kept; none where there are none.

    With an archive that is not there, Java would leave out its own, too.
    """
    archive = settings.project_dir() / CLASSES
    return f'"-XX:SharedArchiveFile={archive}" {_SILENTLY}' if archive.exists() else ""


def catalog_folder(lake: str) -> Path:
    """The folder around the embedded catalog of a lake."""
    return Path(lake, "_catalog")


def _started(
    builder: SparkSession.Builder, lake: str, more: Mapping[str, str], java_options: str = ""
) -> SparkSession:
    launch.prepare_process()
    jars = settings.project_dir() / ".jars"
    if not any(jars.glob("*.jar")):
        raise InputError(f"{jars} holds no jars; run 'make setup' first")
    builder = builder.master("local[*]")
    for key, value in (_ALWAYS | _LOCAL | dict(more)).items():
        builder = builder.config(key, value)
    builder = (
        builder.config("spark.driver.extraClassPath", f"{jars}/*")
        .config("spark.driver.memory", settings.driver_memory())
        .config("spark.sql.warehouse.dir", lake)
        .config(
            "spark.driver.extraJavaOptions",
            "-Dfile.encoding=UTF-8 -Dstdout.encoding=UTF-8 -Duser.timezone=UTC "
            f"{kept_classes()} {_CODE_CACHE} {_ARROW_UNCHECKED} {_AVRO_LIMITS} "
            f"{java_options} {settings.java_options()}",
        )
    )
    with _jvm_speaks_to(Path(lake, "_logs", "spark.log")):
        spark = builder.getOrCreate()
    # It prints a stack trace where the Java process is killed, which we report in a line.
    server: Any = spark.sparkContext._accumulatorServer
    server.handle_error = lambda *_: None
    jvm: Any = spark._jvm
    # Hadoop starts a process for each file that it writes to a local disk, to set its mode, and a
    # second one for the file of its checksums, which tables on other storage do not have. Of files
    # that Delta's log replaces, another program's checksums may be left.
    local = jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark._jsc.hadoopConfiguration())
    local.setWriteChecksum(False)
    local.setVerifyChecksum(False)
    keep_names(jvm)
    share_class_loader(spark)
    return spark


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"


@contextlib.contextmanager
def _jvm_speaks_to(log: Path) -> Iterator[None]:
    """Start a child with its standard output and error in a file, deaf to SIGTERM.

    A JVM prints notes at its start that no setting silences; a person reads our lines only. A
    SIGTERM to the group or the service is ours to answer: a JVM that starts with it ignored
    leaves it so, and ends with us, when its standard input does.
    """
    for name in ("py4j", "SQLQueryContextLogger"):
        # Their stack traces repeat what is raised.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Of a Java process that has gone, one of them speaks in the root's name.
    logging.getLogger().addFilter(_is_not_of_py4j)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("ab")
    except OSError as error:
        raise StorageFailed(f"{log}: {error.strerror}; the lake must be writable") from error
    sys.stdout.flush()
    sys.stderr.flush()
    with file:
        kept = os.dup(1), os.dup(2)
        heard = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            yield
        finally:
            signal.signal(signal.SIGTERM, heard)
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])
