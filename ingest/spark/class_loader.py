"""One class loader for Spark's driver and its tasks, where both are one process.

Spark keeps compiled code by the class loader that it was compiled for (SPARK-44795). Tasks have one
of their own, so in one process each query's code would be compiled twice: by the driver, which only
tries it, and by the first task, which waits for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS = "Executor task launch worker"


def share_class_loader(spark: SparkSession) -> None:
    """Have the driver's threads, and those that they start, load classes as tasks do.

    To be called before anything runs: pools of threads inherit what the first that asks them has.
    """
    context: Any = spark.sparkContext._jsc
    if not context.isLocal():
        return
    # A thread that has run a task keeps its class loader, a child of the driver's own.
    context.parallelize([1]).count()
    jvm: Any = spark._jvm
    driver = jvm.Thread.currentThread().getContextClassLoader()
    threads = list(jvm.Thread.getAllStackTraces().keySet())
    tasks = next(one for one in threads if one.getName().startswith(_TASKS))
    loader = tasks.getContextClassLoader()
    for one in threads:
        if driver.equals(one.getContextClassLoader()):
            one.setContextClassLoader(loader)
