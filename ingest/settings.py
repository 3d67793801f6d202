"""Where things are. The one module that reads the environment.

    HEADWATER_LAKE      folder of all tables, or its URL   default: lake
    HEADWATER_LANDING   folder that producers write to, or its URL   default: landing
    HEADWATER_KAFKA_PROPERTIES  file of the Kafka client's properties: servers, security
    HEADWATER_SCHEMA_REGISTRY_PROPERTIES  file of the schema registry's: url, security
    HEADWATER_MASK_KEY  secret of the hashes that stand for masked values
    HEADWATER_SQL_PROPERTIES    file of the SQL endpoint's settings: login, TLS
    HEADWATER_CONNECT_URL   REST API of Kafka Connect      default: the stack's
    HEADWATER_DATABASES     file of the properties of databases, by dbt source
    HEADWATER_DRIVER_MEMORY  heap of a local Spark driver  default: 2g, 512m at least
    HEADWATER_BRONZE_WRITER  spark: Spark's writer alone; auto: quicker ones, too, where workers
                             and driver share a disk    default: auto
    HEADWATER_JAVA_OPTIONS   more options of its JVM       default: none
    HEADWATER_SPARK_CONF    file of Spark's settings, as spark-defaults.conf   default: none
    HEADWATER_SPARK_INTERNALS   off: use no private parts of Spark   default: on
    HEADWATER_S3_CONDITIONAL_PUT  off: the S3 server has no conditional put, so one Spark driver
                             may write a table   default: on
    HEADWATER_FAILPOINT names a step at which the process kills itself (fault tests)

Object stores are found by the variables of their own tools, such as AWS_ENDPOINT_URL and
AWS_ACCESS_KEY_ID, which ingest/storage/object_store.py reads.

Relative paths are relative to the project, which is the nearest folder at or above the
working directory that holds dbt_project.yml.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import MutableMapping
from pathlib import Path

from ingest.errors import InputError, ProjectUnreadable

# Spark does not start with less, in MiB; and how many of them a unit of the JVM has.
_SMALLEST_HEAP, _MEBIBYTES = 512, {"m": 1, "g": 1024}
_SCHEMES = ("s3a", "s3", "s3n", "abfss", "abfs", "gs", "hdfs", "file")


def project_dir() -> Path:
    """The folder of dbt_project.yml, at or above the working directory."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "dbt_project.yml").is_file():
            return folder
    raise ProjectUnreadable(f"no dbt_project.yml in {here} or above it; run this inside a project")


def located(path: str) -> str:
    """`path` as an absolute path of this machine, or a URL without a slash at its end.

    What begins with s3:// is the same as with s3a://, which Spark knows. Raises InputError for a
    URL that lacks a slash, which would be a folder.
    """
    scheme, colon, rest = path.partition(":")
    if rest.startswith("//"):
        # Of file:/// the slashes are the path.
        trimmed = rest.rstrip("/") or rest
        return f"{'s3a' if scheme == 's3' else scheme}:{trimmed}"
    if colon and scheme in _SCHEMES:
        raise InputError(f"{path}: a URL begins with {scheme}://")
    return str((project_dir() / Path(path).expanduser()).resolve())


def local_folder(lake: str) -> str:
    """Folder of what a lake has on this machine alone: the lake's own, where that is a folder."""
    if lake.startswith("file://"):
        return lake.removeprefix("file://")
    if "://" not in lake:
        return lake
    name = re.sub(r"[^\w.-]+", "-", lake)
    # The digest: `s3a://a-b/c` and `s3a://a/b/c` would have one name.
    digest = hashlib.sha256(lake.encode()).hexdigest()[:8]
    return str(project_dir() / ".local" / f"{name}-{digest}")


def lake() -> str:
    """Root of all tables, absolute."""
    return located(os.environ.get("HEADWATER_LAKE") or "lake")


def use_lake(root: str) -> None:
    """Let this process and those that it starts work on another lake."""
    os.environ["HEADWATER_LAKE"] = root


def landing() -> str:
    """Root of the landing folders, absolute."""
    return located(os.environ.get("HEADWATER_LANDING") or "landing")


def driver_memory() -> str:
    """Heap of a local Spark driver, in the JVM's notation. Raises InputError."""
    declared = os.environ.get("HEADWATER_DRIVER_MEMORY") or "2g"
    heap = re.fullmatch(r"(\d+)([mg])", declared.lower())
    if not heap or int(heap[1]) * _MEBIBYTES[heap[2]] < _SMALLEST_HEAP:
        raise InputError(
            f"HEADWATER_DRIVER_MEMORY={declared}: Spark needs {_SMALLEST_HEAP}m or more, such as 2g"
        )
    return declared


def java_options() -> str:
    """More options of a local Spark driver's JVM, as on its command line."""
    return os.environ.get("HEADWATER_JAVA_OPTIONS") or ""


def has_arrow_writer() -> bool:
    """Whether Spark's workers may write bronze's files themselves. Raises InputError."""
    declared = os.environ.get("HEADWATER_BRONZE_WRITER") or "auto"
    if declared not in ("auto", "spark"):
        raise InputError(f"HEADWATER_BRONZE_WRITER={declared}: allowed are auto and spark")
    return declared == "auto"


def spark_conf() -> str | None:
    """File of settings of Spark, absolute; None: only those of spark-defaults.conf."""
    declared = os.environ.get("HEADWATER_SPARK_CONF")
    return located(declared) if declared else None


def uses_spark_internals() -> bool:
    """Whether private parts of Spark may be used where they make it faster. Raises InputError."""
    return _is_on("HEADWATER_SPARK_INTERNALS")


def has_conditional_put() -> bool:
    """Whether the S3 server refuses to put an object where one is. Raises InputError."""
    return _is_on("HEADWATER_S3_CONDITIONAL_PUT")


def is_remote(path: str) -> bool:
    """Whether `path` is a URL of another place than this machine's folders."""
    return "://" in path and not path.startswith("file://")


def kafka_properties() -> str | None:
    """File of a Kafka client's properties, absolute; None: the stack's own broker."""
    declared = os.environ.get("HEADWATER_KAFKA_PROPERTIES")
    return located(declared) if declared else None


def schema_registry_properties() -> str | None:
    """File of a schema registry's properties, absolute; None: the stack's own registry."""
    declared = os.environ.get("HEADWATER_SCHEMA_REGISTRY_PROPERTIES")
    return located(declared) if declared else None


def mask_key() -> bytes:
    """Secret of the hashes that stand for masked values. Raises InputError."""
    key = os.environ.get("HEADWATER_MASK_KEY")
    if not key:
        raise InputError(
            "HEADWATER_MASK_KEY is not set: hashes of masked values need a secret, or they could "
            "be guessed"
        )
    return key.encode()


def sql_properties() -> str | None:
    """File of the SQL endpoint's settings, absolute; None: a loopback address without a login."""
    declared = os.environ.get("HEADWATER_SQL_PROPERTIES")
    return located(declared) if declared else None


def connect_url() -> str | None:
    """The REST API of Kafka Connect, with user and password; None: the stack's own."""
    return os.environ.get("HEADWATER_CONNECT_URL") or None


def databases() -> str | None:
    """File of the properties of databases, absolute; None: the stack's own PostgreSQL."""
    declared = os.environ.get("HEADWATER_DATABASES")
    return located(declared) if declared else None


def failpoint() -> str | None:
    """Name of the step at which this process has been asked to kill itself, for fault tests."""
    return os.environ.get("HEADWATER_FAILPOINT")


def environment() -> MutableMapping[str, str]:
    """All variables of this process, which its children are given."""
    return os.environ


def _is_on(name: str) -> bool:
    """Whether a switch is on, which it is by default. Raises InputError."""
    declared = os.environ.get(name) or "on"
    if declared not in ("on", "off"):
        raise InputError(f"{name}={declared}: allowed are on and off")
    return declared == "on"
