"""Settings of Spark sessions: of all, of this machine, of a cluster; the user's own win."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ingest import settings
from ingest.errors import InputError
from ingest.spark import internals, jvm_options, s3, shell

MASTER = "spark.master"
CLASS_PATH = "spark.driver.extraClassPath"
EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath"
# An environment of Python that executors unpack, and its Python.
ARCHIVES = "spark.archives"
PYTHON = "spark.pyspark.python"
# Spark puts these in front of spark.driver.extraJavaOptions, which stay the user's.
JAVA_OPTIONS = "spark.driver.defaultJavaOptions"

# Database of the catalog, as Hive's client names it.
CATALOG_URL = "spark.hadoop.javax.jdo.option.ConnectionURL"
# What Spark sets by itself for the embedded database only.
_OF_POSTGRES = {
    "spark.hadoop.javax.jdo.option.ConnectionDriverName": "org.postgresql.Driver",
    "spark.hadoop.hive.metastore.schema.verification": "false",
}

# Tables and their values are the same whatever Spark writes them.
COMMON = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # Bronze has instants before the Gregorian calendar as they were sent.
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    # After each row Spark computes the size of the batch for Python, which takes as long as the
    # batch has rows where a column is null in most of them.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
    # For messages that name a line of ours, PySpark makes eight calls of Java at each column of a
    # query and looks for IPython: five sixths of the time that it takes to write a query.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # A batch takes about a hundred classes of generated code, the default size of this cache.
    "spark.sql.codegen.cache.maxEntries": "5000",
    # Past this many fields, nested ones too, Spark stops compiling a query as a whole.
    "spark.sql.codegen.maxFields": "1000",
    # Spark stores the text of each query's plan for its UI.
    "spark.sql.ui.explainMode": "simple",
    "spark.redaction.regex": "(?i)secret|password|token|jaas|access[.]?key",
    # This rule removes the part of a finished plan that found no rows, and with it what was
    # observed there: an Observation would wait for ever.
    "spark.sql.adaptive.optimizer.excludedRules": (
        "org.apache.spark.sql.execution.adaptive.AQEPropagateEmptyRelation"
    ),
}

# One process on a machine of few cores, which no other machine reaches.
LOCAL = {
    MASTER: "local[*]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # The optimum on two cores.
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    # Each job broadcasts some kilobytes, for which Spark allocates a whole block of heap: by
    # default 4 MB, a humongous object for G1, which then marks the heap every few seconds.
    "spark.broadcast.blockSize": "256k",
    # Nagle's algorithm makes a Python worker wait 40 ms in each task on a TCP socket.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # For the pages of a UI that is off, Spark stores a thousand queries.
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "1000",
    "spark.log.level": "ERROR",
}


@dataclass(frozen=True, slots=True)
class UserSettings:
    """What the user sets: in `spark-defaults.conf`, and in the file of HEADWATER_SPARK_CONF."""

    defaults: Mapping[str, str]
    conf: Mapping[str, str]

    @classmethod
    def read(cls) -> UserSettings:
        """What the environment names. Raises InputError."""
        folder = shell.cleaned(settings.environment()).get("SPARK_CONF_DIR")
        defaults = Path(folder) if folder else _spark_home() / "conf"
        conf = settings.spark_conf()
        return cls(
            read_conf(defaults / "spark-defaults.conf"),
            read_conf(Path(conf), is_required=True) if conf else {},
        )

    def value(self, name: str) -> str | None:
        """What the user sets; None where the user does not."""
        return self.conf.get(name, self.defaults.get(name))

    def names(self) -> set[str]:
        """Names of all settings that the user sets."""
        return {*self.defaults, *self.conf}

    def merged_into(self, profile: Mapping[str, str]) -> dict[str, str]:
        """The settings to build a session with: those of a profile, unless the user sets them.

        Spark itself applies `spark-defaults.conf`. The class path is joined: Delta is on ours.
        """
        if (self.value(CATALOG_URL) or "").startswith("jdbc:postgresql:"):
            profile = {**_OF_POSTGRES, **profile}
        merged = {name: value for name, value in profile.items() if name not in self.defaults}
        merged |= self.conf
        if (own := profile.get(CLASS_PATH)) and (path := self.value(CLASS_PATH)):
            merged[CLASS_PATH] = f"{path}:{own}"
        return merged


def read_conf(path: Path, *, is_required: bool = False) -> dict[str, str]:
    """Settings in a file of the form of `spark-defaults.conf`; none where there is no file.

    Raises InputError where the file cannot be read, or is required and missing.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        if is_required:
            raise InputError(f"HEADWATER_SPARK_CONF: {path}: {error.strerror}") from error
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    found = (_SETTING.match(line.strip()) for line in lines)
    return {one["name"]: one["value"] for one in found if one}


# As Java reads properties: a name, then blanks, an equals sign or a colon, then the value.
_SETTING = re.compile(r"(?P<name>[^\s=:#!][^\s=:]*)(?:\s*[=:]\s*|\s+|$)(?P<value>.*)")


def _spark_home() -> Path:
    """PySpark's own folder: a process of ours starts no other Spark."""
    found = importlib.util.find_spec("pyspark")
    return Path(found.origin).parent if found and found.origin else Path()


def is_local() -> bool:
    """Whether a session that is started now runs in one process on this machine."""
    master = UserSettings.read().value(MASTER) or LOCAL[MASTER]
    return re.match(r"local\b", master) is not None


def builder_settings(lake: str, more: Mapping[str, str], java_options: str = "") -> dict[str, str]:
    """All settings that a session of the lake at `lake` is built with.

    `more` are settings, and `java_options` options of the JVM, of one kind of session. Raises
    InputError.
    """
    jars = settings.project_dir() / ".jars"
    if not any(jars.glob("*.jar")):
        raise InputError(f"{jars} holds no jars; run 'make setup' first")
    class_path = f"{jars}/*"
    options = f"{jvm_options.COMMON} {java_options}"
    client = s3_settings(lake, class_path)
    if is_local():
        profile = LOCAL | internals.local_settings()
        options += f" {jvm_options.CODE_CACHE} {internals.java_options(with_s3=bool(client))}"
    else:
        profile = of_executors(client.get(CLASS_PATH, class_path))
    own = {
        CLASS_PATH: class_path,
        "spark.driver.memory": settings.driver_memory(),
        "spark.sql.warehouse.dir": lake,
        JAVA_OPTIONS: f"{options} {settings.java_options()}",
    }
    return UserSettings.read().merged_into(COMMON | profile | own | client | dict(more))


def of_executors(class_path: str) -> dict[str, str]:
    """How executors of a cluster get the jars of a class path: Delta's classes above all.

    They have the project at the same path, or an environment of Python is sent to them, and then
    the jars are, too. Raises InputError.
    """
    if not UserSettings.read().value(ARCHIVES):
        return {EXECUTOR_CLASS_PATH: class_path}
    folders = (Path(one.removesuffix("/*")) for one in class_path.split(":"))
    jars = (str(jar) for folder in folders for jar in sorted(folder.glob("*.jar")))
    return {"spark.jars": ",".join(jars)}


def python_of_executors() -> str:
    """The Python that executors start. Raises InputError."""
    return UserSettings.read().value(PYTHON) or sys.executable


def s3_settings(lake: str, class_path: str) -> dict[str, str]:
    """What a session needs for S3, its class path included; none where nothing of it is on S3.

    `lake` is the root of its lake, and `class_path` what it has without S3. Raises InputError.
    """
    user = UserSettings.read().names()
    places = (lake, settings.landing())
    if not any(map(s3.is_on_s3, places)) and not s3.is_asked_for(user):
        return {}
    project = settings.project_dir()
    if not (project / s3.LOG_STORE_JAR).exists():
        raise InputError(f"{project / s3.CLIENT} holds no client of S3; run 'make setup' first")
    return {
        CLASS_PATH: f"{class_path}:{project / s3.CLIENT}/*",
        **s3.session_settings(
            settings.environment(),
            user,
            is_local=is_local(),
            has_conditional_put=settings.has_conditional_put(),
        ),
    }
