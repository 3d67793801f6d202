"""The environment that Java, Python and Spark are started in."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ingest import settings
from ingest.spark import java, profiles, shell


def prepare_process() -> None:
    """Point this process and its children at the project's own Java, Python and Spark.

    A data engineer's shell often names another Spark, and PySpark would start that one.
    Raises JavaMissing.
    """
    environ = settings.environment()
    home = java.find_java(environ).home
    clean = shell.with_programs(environ, java_home=home, python=Path(sys.executable))
    if not profiles.is_local():
        clean = shell.for_cluster(environ, clean)
    for name in set(environ) - set(clean):
        del environ[name]
    environ.update(clean)
    # Python's own times follow the zone that is set there.
    time.tzset()
