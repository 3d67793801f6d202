"""Private parts of Spark, Hadoop and Java that make local sessions faster.

Another version may move them. Each one that is not found is left out, with a line in the log;
HEADWATER_SPARK_INTERNALS=off leaves all of them out.
"""

from __future__ import annotations

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from ingest import settings
from ingest.spark import jvm_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Starts Python workers, which have loaded what tasks use.
_DAEMON = "ingest.decoders.worker_daemon"
# What writes Delta's log and checkpoints to a local disk.
_LOCAL_FILES = "fs.AbstractFileSystem.file.impl"
_RAW_LOCAL_FILES = "org.apache.hadoop.fs.local.RawLocalFs"

# Contexts whose JVM was changed.
_prepared: list[Any] = []


def local_settings() -> dict[str, str]:
    """Settings that name private parts. Raises InputError."""
    if not settings.uses_spark_internals():
        return {}
    if not _has_daemon():
        log.info("pyspark.daemon has no manager(): Spark starts Python workers in its own way")
        return {}
    return {"spark.python.daemon.module": _DAEMON}


def java_options(*, with_s3: bool) -> str:
    """Options of the JVM that name private parts. Raises InputError.

    With the client of S3 on the class path Java would not use the archive of classes.
    """
    return jvm_options.class_archive() if settings.uses_spark_internals() and not with_s3 else ""


def prepare(spark: SparkSession) -> None:
    """Change parts of a Spark that was just started on this machine, once. Raises InputError."""
    context: Any = spark.sparkContext
    if context in _prepared or not context._jsc.isLocal() or not settings.uses_spark_internals():
        return
    _prepared.append(context)
    avoid_checksum_files(spark)
    use_raw_local_files(spark)
    share_class_loader(spark)


def avoid_checksum_files(spark: SparkSession) -> None:
    """Write no `.crc` file for each file on a local disk.

    Hadoop starts a process for each, to set its mode. Existing ones are not read: they may belong
    to an older version of a file that Delta's log has replaced.
    """
    jvm: Any = spark._jvm
    context: Any = spark.sparkContext._jsc
    local = jvm.org.apache.hadoop.fs.FileSystem.getLocal(context.hadoopConfiguration())
    local.setWriteChecksum(False)
    local.setVerifyChecksum(False)


def use_raw_local_files(spark: SparkSession) -> None:
    """Write no `.crc` files of Delta's log and of checkpoints either, unless the user sets how."""
    context: Any = spark.sparkContext
    if context.getConf().contains(f"spark.hadoop.{_LOCAL_FILES}"):
        return
    try:
        context._jvm.java.lang.Class.forName(_RAW_LOCAL_FILES)
    except Py4JJavaError:
        log.info("Hadoop has no %s: Delta's log has .crc files", _RAW_LOCAL_FILES)
    else:
        context._jsc.hadoopConfiguration().set(_LOCAL_FILES, _RAW_LOCAL_FILES)


def share_class_loader(spark: SparkSession) -> None:
    """Have the driver's threads, and those that they start, load classes as tasks do.

    Spark caches compiled code by the class loader that it was compiled for (SPARK-44795). Tasks
    have a loader of their own, so in one process each query's code would be compiled twice: by the
    driver, which only tries it, and by the first task, which waits for it. Call this before
    anything runs: pools of threads inherit the loader of the thread that first uses them.
    """
    # A thread that has run a task keeps its class loader, a child of the driver's own.
    context: Any = spark.sparkContext._jsc
    context.parallelize([1]).count()
    jvm: Any = spark._jvm
    driver = jvm.Thread.currentThread().getContextClassLoader()
    threads = [
        (thread, thread.getContextClassLoader())
        for thread in jvm.Thread.getAllStackTraces().keySet()
    ]
    tasks = (one for _, one in threads if one is not None and driver.equals(one.getParent()))
    if (loader := next(tasks, None)) is None:
        log.info("Spark's tasks have no class loader of their own: code may be compiled twice")
        return
    for thread, own in threads:
        if driver.equals(own):
            thread.setContextClassLoader(loader)


def _has_daemon() -> bool:
    """Whether PySpark has what `_DAEMON` calls; it is not loaded, which takes long."""
    found = find_spec("pyspark.daemon")
    return bool(
        found and found.origin and "\ndef manager(" in Path(found.origin).read_text("utf-8")
    )
