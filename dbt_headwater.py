"""What makes plain `dbt` right in this project: its own Spark, and one catalog owner at a time.

dbt loads every top-level module whose name starts with `dbt_` as a plugin, after it has read
flags, profile and project and before it opens a connection. Commands that open a Spark session
of their own get the project's Java, Python and Spark whatever the shell says, and hold the
embedded catalog; a second one ends in one line; rows that a model reads twice they keep as
`ingest` does. Commands that only read the project are left alone, but for the check of the models'
options. Commands on a server only have its errors made short.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
from dbt.plugins.manager import dbtPlugin
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from ingest import settings
from ingest.errors import HeadwaterError, OptionsRefused, PythonModelFailed
from ingest.model_options.checks import check_options
from ingest.runtime import spark_errors
from ingest.spark import internals, launch, metastore, profiles, races
from ingest.spark.checkpointed import CheckpointCache
from ingest.spark.python_models import PythonModel, of_worker
from ingest.storage import embedded_catalog
from ingest.storage.layout import storage_at

_WAREHOUSE = "spark.sql.warehouse.dir"
# dbt's own names of its commands that open no connection.
READING_ONLY = {"clean", "deps", "init", "list", "ls", "parse", "serve"}


class HeadwaterPlugin(dbtPlugin):
    """Prepares this process when dbt is about to start Spark in it."""

    def initialize(self) -> None:
        context = click.get_current_context(silent=True)
        if context is None or not context.obj or context.obj["flags"].WHICH in READING_ONLY:
            return
        credentials = getattr(context.obj.get("profile"), "credentials", None)
        if getattr(credentials, "method", None) == "thrift":
            shorten_errors()
        if credentials is None or getattr(credentials, "method", None) != "session":
            return
        # dbt goes there too before it connects, and the profile's paths are relative to it.
        os.chdir(context.obj["project"].project_root)
        try:
            credentials.server_side_parameters = session_settings(
                credentials.server_side_parameters or {}
            )
            prepare(credentials.server_side_parameters)
            check_storage(lake_of(credentials.server_side_parameters))
            log_java(Path(settings.local_folder(lake_of(credentials.server_side_parameters))))
        except HeadwaterError as error:
            raise DbtRuntimeError(f"{error.code}: {error}") from None
        keep_rows()
        bind_values()

    def get_manifest_artifacts(self, manifest: Any) -> dict[str, Any]:
        """Check what dbt has parsed; it asks for files to write, of which there are none."""
        try:
            check_options(manifest)
        except OptionsRefused as error:
            lines = [f"{error.code}: {problem}" for problem in error.problems]
            raise DbtRuntimeError("\n".join(lines)) from None
        return {}

    # What `dbt_hook` sets, which would also put the method's name before each error.
    get_manifest_artifacts.is_dbt_hook = True  # type: ignore[attr-defined]


def prepare(parameters: Mapping[str, Any]) -> None:
    """Take the catalog that a profile's Spark settings name, then clean this process."""
    folder = catalog_folder(parameters)
    if folder is not None:
        embedded_catalog.hold(folder)
    if not _spark_runs():
        adopt(launch.cleaned(os.environ))


def check_storage(lake: str) -> None:
    """Ask a lake that is elsewhere for its folders: Spark would try for minutes what cannot be.

    Raises StorageFailed.
    """
    if settings.is_remote(lake):
        next(iter(storage_at(lake).list("")), None)


def session_settings(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A profile's Spark settings, unless the user sets them outside of the project.

    They are completed by what a lake on S3 needs, and by options of the JVM.
    """
    lake = lake_of(parameters)
    client = profiles.s3_settings(lake, str(parameters.get(profiles.CLASS_PATH, "")))
    profile = {**client, **parameters}
    if client:
        profile[profiles.CLASS_PATH] = client[profiles.CLASS_PATH]
    if settings.is_remote(lake):
        # The profile names the lake where it means the folder around the catalog.
        catalog = f"{settings.local_folder(lake)}/_catalog"
        for name, one in profile.items():
            profile[name] = str(one).replace(f"{lake}/_catalog", catalog)
    if profiles.is_local():
        archive = internals.java_options(with_s3=bool(client))
        options = f"{profile.get(profiles.JAVA_OPTIONS, '')} {archive}"
        profile[profiles.JAVA_OPTIONS] = options.strip()
    else:
        profile = on_cluster(profile)
    return profiles.UserSettings.read().merged_into(profile)


def on_cluster(profile: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a profile for this machine, for a cluster that the user's settings name."""
    kept = {name: one for name, one in profile.items() if name not in profiles.LOCAL}
    folders = str(profile.get(profiles.CLASS_PATH, "")).split(":")
    # Another machine has another working directory.
    class_path = ":".join(str(settings.project_dir() / one) for one in folders)
    return {**kept, **profiles.of_executors(class_path)}


def lake_of(parameters: Mapping[str, Any]) -> str:
    """The root of the lake that a profile's Spark settings name."""
    return str(parameters.get(_WAREHOUSE) or "lake")


def log_java(folder: Path) -> None:
    """Send what Java prints to `_logs/spark.log` in a folder: notes that no setting silences."""
    from pyspark.core import context
    from pyspark.errors import PySparkRuntimeError

    # PySpark's own logger prints a query's stack trace, which dbt reports in a line.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    whole: Any = context.launch_gateway
    if getattr(whole, "is_logged", False):
        return
    log = folder / "_logs" / "spark.log"

    def launch(conf: Any = None) -> Any:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            file = log.open("ab")
        except OSError as error:
            raise DbtRuntimeError(f"{log}: {error.strerror}; the lake must be writable") from error
        with file:
            try:
                return whole(conf, {"stdout": file, "stderr": file})
            except PySparkRuntimeError as error:
                raise DbtRuntimeError(f"Java did not start Spark; see {log}") from error

    launch.is_logged = True  # type: ignore[attr-defined]
    context.launch_gateway = launch  # type: ignore[assignment]


def catalog_folder(parameters: Mapping[str, Any]) -> Path | None:
    """The folder around the Derby database, or None where the catalog is not embedded."""
    for name, value in parameters.items():
        if name.endswith("javax.jdo.option.ConnectionURL"):
            found = re.match(r"jdbc:derby:(?:;databaseName=)?(?P<path>[^;]+)", str(value))
            return Path(found["path"]).parent if found else None
    return None


def adopt(environ: Mapping[str, str]) -> None:
    """Make `environ` this process's own. dbt's variables stay: it has read them already."""
    for name in set(os.environ) - set(environ):
        if not name.startswith("DBT_"):
            del os.environ[name]
    os.environ.update(environ)
    time.tzset()


def keep_rows() -> None:
    """Let what models that follow changes cache be checkpointed, as `ingest` does by itself.

    Run Python models. Let two builds that create the same thing at the same moment both succeed,
    and say in a line what Spark says of the lake's files and of a Python model's functions.
    """
    from dbt.adapters.spark.session import Cursor
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    whole = Cursor.execute
    if getattr(whole, "keeps", False):
        return
    keeper = CheckpointCache()
    # dbt-spark converts one kind of Spark's errors; PySpark does not know those of Delta.
    failures = (DbtRuntimeError, PySparkException, Py4JJavaError)

    def execute(self: Any, sql: str, *parameters: Any) -> None:
        def given(statement: str) -> Any:
            whole(self, statement)
            prepare_session_once()
            return self._df

        statement = sql % parameters if parameters else sql
        try:
            if found := PythonModel.in_statement(statement):
                found.run(SparkSession.active())
                return
            with in_a_line(failures):
                self._df = races.repeated(lambda: keeper.run(given, statement), statement, failures)
        except PythonModelFailed as error:
            raise DbtRuntimeError(f"{error.code}: {error}") from None

    def fetchall(self: Any) -> Any:
        with in_a_line(failures):
            return rows(self)

    rows = Cursor.fetchall
    execute.keeps = True  # type: ignore[attr-defined]
    Cursor.execute = execute  # type: ignore[method-assign]
    Cursor.fetchall = fetchall  # type: ignore[method-assign]


@contextlib.contextmanager
def in_a_line(failures: tuple[type[Exception], ...]) -> Iterator[None]:
    """Say in a line what one of these failures means, or what Spark says without its plan."""
    try:
        yield
    except failures as error:
        if said := spark_errors.of_build(str(error)) or of_worker(str(error)):
            raise DbtDatabaseError(f"{said.code}: {said}") from None
        text = error.msg if isinstance(error, DbtRuntimeError) else str(error)
        if (short := spark_errors.without_plan(text)) != text:
            raise DbtDatabaseError(short) from None
        raise


def bind_values() -> None:
    """Let values in statements of a Spark session be what they are, in any project's seeds.

    dbt-spark makes the text `None` of null, a float of each number, and quotes texts as they stand.
    Remove when tests/unit/test_dbt_bindings.py goes red.
    """
    from dbt.adapters.spark.session import SessionConnectionWrapper

    SessionConnectionWrapper._fix_binding = staticmethod(bound)  # type: ignore[method-assign]


def bound(value: Any) -> str:
    """A value as a literal of Spark SQL, in which a dollar sign and a brace begin no variable."""
    if value is None:
        return "null"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, int | float):
        return str(value)
    text = str(value).replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\{")
    return f"'{text}'"


@functools.cache
def prepare_session_once() -> None:
    """After the first statement, which starts Spark and runs nothing."""
    from pyspark.sql import SparkSession

    spark = SparkSession.active()
    internals.prepare(spark)
    try:
        metastore.check_lake(spark)
    except HeadwaterError as error:
        raise DbtRuntimeError(f"{error.code}: {error}") from None


def shorten_errors() -> None:
    """Let the errors of a Thrift server be what went wrong, without a hundred lines of Java.

    Remove when Spark's Thrift server sends no stack trace; tests/build/test_serve.py says when.
    """
    from dbt.adapters.spark.connections import PyhiveConnectionWrapper

    whole = PyhiveConnectionWrapper.execute
    if getattr(whole, "is_short", False):
        return

    def execute(self: Any, sql: str, bindings: Any = None) -> None:
        try:
            whole(self, sql, bindings)
        except DbtDatabaseError as error:
            raise DbtDatabaseError(shortened(str(error.msg))) from None

    execute.is_short = True  # type: ignore[attr-defined]
    PyhiveConnectionWrapper.execute = execute  # type: ignore[method-assign]


def shortened(said: str) -> str:
    """What a Thrift server said, without its stack trace; a lost conflict is one line."""
    if known := spark_errors.of_build(said):
        return f"{known.code}: {known}"
    text = spark_errors.without_plan(re.split(r"\n\s*at |\nCaused by: ", said)[0])
    text = re.sub(r"^[\w.]*HiveSQLException: Error running query: (?:\[\S+\] [\w.$]+: )?", "", text)
    if found := re.match(r"\s*(\[DELTA_CONCURRENT_\w+[\w.]*\][^\n]*)", text):
        return f"{found[1]} Another build wrote the table at the same time: run again."
    causes = re.findall(r"^\s*Caused by: [\w.$]+: (.+)$", said, re.MULTILINE)
    if causes and causes[-1] not in text:
        text += f"\n{causes[-1]}"
    return text.strip()


def _spark_runs() -> bool:
    """Whether this process, such as a long-lived driver, has started Spark already."""
    pyspark = sys.modules.get("pyspark")
    return pyspark is not None and pyspark.SparkContext._active_spark_context is not None


plugins = [HeadwaterPlugin]
