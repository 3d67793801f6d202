"""The shell that a command was started from, without what would lead it astray.

A data engineer's shell often names another Spark, another dbt profile, other Java options or
another Python. Every process of the project starts from `cleaned`. Standard library only:
set-up uses it before anything is installed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# Names, or beginnings of names where they end in an underscore.
MISLEADING = (
    # another Spark, its settings, and the Hadoop and Hive settings that it would read
    "SPARK_",
    "PYSPARK_",
    "HADOOP_",
    "HIVE_",
    "YARN_",
    # another profile, target or project, or dbt's flags
    "DBT_",
    # options that every JVM picks up, and classes in front of ours
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
    "CLASSPATH",
    # modules in front of ours, or another standard library
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSAFEPATH",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "MYPYPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
)


# Names, in the same way, of what leads to a cluster and, on it, back to this machine.
OF_A_CLUSTER = ("HADOOP_", "YARN_", "SPARK_LOCAL_IP")


def is_misleading(name: str) -> bool:
    """Whether a variable of this name would lead Spark, dbt, Java or Python astray."""
    # What dbt leaves to projects, secrets above all, is the user's own.
    if name.startswith("DBT_ENV_"):
        return False
    return _is_among(name, MISLEADING)


def _is_among(name: str, entries: Sequence[str]) -> bool:
    return any(
        name.startswith(entry) if entry.endswith("_") else name == entry for entry in entries
    )


def cleaned(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` without what misleads: Spark on this machine only, in UTC and UTF-8."""
    kept = {name: value for name, value in environ.items() if not is_misleading(name)}
    # Settings of another Spark go with that one.
    if "SPARK_CONF_DIR" in environ and "SPARK_HOME" not in environ:
        kept["SPARK_CONF_DIR"] = environ["SPARK_CONF_DIR"]
    kept["SPARK_LOCAL_IP"] = "127.0.0.1"
    kept["TZ"] = "UTC"
    kept["PYTHONUTF8"] = "1"
    if not speaks_utf8(environ):
        # Java 17 names files in the locale's encoding.
        kept["LC_ALL"] = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
    return kept


def with_programs(
    environ: Mapping[str, str], *, java_home: Path, python: str | Path
) -> dict[str, str]:
    """`environ`, cleaned, with the Java and the Python that Spark starts."""
    return cleaned(environ) | {"JAVA_HOME": str(java_home), "PYSPARK_PYTHON": str(python)}


def for_cluster(environ: Mapping[str, str], clean: Mapping[str, str]) -> dict[str, str]:
    """A cleaned `environ` for a Spark on a cluster, with what names the cluster.

    Executors call the driver back: by the address that the user gives, or this machine has.
    """
    kept = {name: value for name, value in environ.items() if _is_among(name, OF_A_CLUSTER)}
    return {name: one for name, one in clean.items() if not _is_among(name, OF_A_CLUSTER)} | kept


def speaks_utf8(environ: Mapping[str, str]) -> bool:
    """Whether the locale's encoding is UTF-8, by the order in which C libraries look."""
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if environ.get(name):
            return re.search(r"utf-?8", environ[name], re.IGNORECASE) is not None
    return False
