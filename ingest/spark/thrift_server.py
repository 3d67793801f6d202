"""Spark's Thrift server in this driver, and what it knows of statements."""

from __future__ import annotations

import time
from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from ingest.errors import EndpointFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def start_thrift_server(spark: SparkSession, properties: Mapping[str, str]) -> Any:
    """A running server, which `stop` ends; the JVM gets `properties`. Raises EndpointFailed."""
    jvm: Any = spark._jvm
    for name, value in properties.items():
        jvm.java.lang.System.setProperty(name, value)
    servers = jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
    try:
        # False: its failure is not the end of the driver.
        return servers.startWithSparkSession(spark._jsparkSession, False)
    except Py4JJavaError as error:
        said = str(error.java_exception.getMessage())
        raise EndpointFailed(f"the SQL endpoint does not start: {said}") from error


def seconds_since_statement(spark: SparkSession, text: str) -> float | None:
    """Seconds since the newest statement that has `text` ended; 0 while one runs, None for none.

    Dashes of the statements count as underscores.
    """
    jvm: Any = spark._jvm
    context: Any = spark.sparkContext._jsc
    store = jvm.org.apache.spark.sql.hive.thriftserver.ui.HiveThriftServer2AppStatusStore(
        context.sc().statusStore().store()
    )
    found = store.getExecutionList()
    own = [
        one
        for one in (found.apply(place) for place in range(found.size()))
        if text in one.statement().replace("-", "_")
    ]
    if any(one.isExecutionActive() for one in own):
        return 0.0
    ended = [one.finishTimestamp() for one in own]
    return time.time() - max(ended) / 1000 if ended else None


def global_views(spark: SparkSession, beginning: str) -> Set[str]:
    """Names of global temporary views that begin so; no statement runs."""
    java: Any = spark._jsparkSession
    names = java.sharedState().globalTempViewManager().listViewNames(f"{beginning}*")
    return {names.apply(place) for place in range(names.size())}
