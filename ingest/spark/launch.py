"""The environment that Java, Python and Spark are started in."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

from ingest import settings
from ingest.spark import java, profiles, shell


def cleaned(environ: Mapping[str, str]) -> dict[str, str]:
    """Environment with the project's own Java, Python and Spark. Raises JavaMissing, InputError.

    A data engineer's shell often names another Spark, and PySpark would start that one.
    """
    home = java.find_java(environ).home
    if profiles.is_local():
        return shell.with_programs(environ, java_home=home, python=sys.executable)
    python = profiles.python_of_executors()
    clean = shell.with_programs(environ, java_home=home, python=python)
    return shell.for_cluster(environ, clean)


def prepare_process() -> None:
    """Point this process and its children there. Raises as `cleaned`."""
    environ = settings.environment()
    clean = cleaned(environ)
    for name in set(environ) - set(clean):
        del environ[name]
    environ.update(clean)
    # Python's own times follow the zone that is set there.
    time.tzset()
