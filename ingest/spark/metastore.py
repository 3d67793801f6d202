"""The catalog that several processes share: Hive's metastore in a database of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from xml.etree import ElementTree

from py4j.protocol import Py4JJavaError

from ingest.errors import InputError, StorageFailed
from ingest.spark import profiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HADOOP = "spark.hadoop."
# As Hive's own ObjectStore sets them: names of tables and columns follow from them.
_AS_HIVE = {
    "javax.jdo.PersistenceManagerFactoryClass": (
        "org.datanucleus.api.jdo.JDOPersistenceManagerFactory"
    ),
    "datanucleus.identifierFactory": "datanucleus1",
    "datanucleus.connectionPoolingType": "None",
    "datanucleus.rdbms.initializeColumnInfo": "NONE",
    "datanucleus.schema.validateTables": "false",
    # Only here, never for a session.
    "datanucleus.schema.autoCreateAll": "true",
}
_FIRST_CLIENT = {"hive.metastore.schema.verification": "false"}
# The schema of bookkeeping.
_EACH_LAKE_HAS = "ops"
_CONNECTION = ("URL", "DriverName", "UserName", "Password")


def shared_catalog() -> str:
    """URL of the database of the catalog that the user's settings name. Raises InputError."""
    url = profiles.UserSettings.read().value(profiles.CATALOG_URL)
    if not url or url.startswith("jdbc:derby:"):
        raise InputError(
            f"no shared catalog is set: name its database as {profiles.CATALOG_URL} in the file "
            "of HEADWATER_SPARK_CONF"
        )
    return url.partition("?")[0]


def create(spark: SparkSession, url: str) -> None:
    """Create the metastore at `url` with the login of the session's settings, unless it is there.

    All tables at once: one that Hive makes when it is first needed waits for ever for the
    transaction that needs it. And what each first client would make, the database `default`:
    of two at a time one fails. Raises StorageFailed.
    """
    jvm: Any = spark._jvm
    connection = _connection(spark)
    properties = jvm.java.util.Properties()
    for name, value in {**_AS_HIVE, **connection}.items():
        properties.put(name, value)
    classes = jvm.java.util.HashSet()
    for name in _classes(jvm):
        classes.add(name)
    try:
        factory = jvm.javax.jdo.JDOHelper.getPersistenceManagerFactory(properties)
        store = factory.getNucleusContext().getStoreManager()
        store.createSchemaForClasses(classes, jvm.java.util.Properties())
        factory.close()
        conf = jvm.org.apache.hadoop.hive.conf.HiveConf()
        for name, value in {**_FIRST_CLIENT, **connection}.items():
            conf.set(name, value)
        conf.set("hive.metastore.warehouse.dir", spark.conf.get("spark.sql.warehouse.dir"))
        jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf).close()
    except Py4JJavaError as error:
        raise StorageFailed(f"the catalog in {url}: {_cause(error)}") from error


def check_lake(spark: SparkSession) -> None:
    """Raise InputError where the shared catalog of a session is another lake's than the session's.

    Its names would lead to tables of that lake, and two projects write one table.
    """
    conf: Any = spark.sparkContext.getConf()
    url = conf.get(profiles.CATALOG_URL, "")
    if not url or url.startswith("jdbc:derby:") or not spark.catalog.databaseExists(_EACH_LAKE_HAS):
        return
    own = _plain(spark.conf.get("spark.sql.warehouse.dir") or "")
    there = _plain(spark.catalog.getDatabase(_EACH_LAKE_HAS).locationUri).rpartition("/")[0]
    if own != there:
        raise InputError(
            f"the catalog in {url.partition('?')[0]} is of the lake {there}, and HEADWATER_LAKE is "
            f"{own}: name a database of its own as {profiles.CATALOG_URL}"
        )


def _plain(location: str) -> str:
    """A location of Hive's as the settings name it."""
    return unquote(re.sub("^file:/+", "/", location)).rstrip("/")


def _connection(spark: SparkSession) -> dict[str, str]:
    """How to connect, by the names of JDO."""
    conf: Any = spark.sparkContext.getConf()
    names = (f"javax.jdo.option.Connection{one}" for one in _CONNECTION)
    found = ((name, conf.get(f"{_HADOOP}{name}", None)) for name in names)
    return {name: value for name, value in found if value is not None}


def _cause(error: Py4JJavaError) -> str:
    """The first line of what went wrong first."""
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return str(cause.getMessage()).splitlines()[0]


def _classes(jvm: Any) -> list[str]:
    """Names of the classes that Hive keeps, as its jar lists them."""
    listed = jvm.java.lang.ClassLoader.getSystemResourceAsStream("package.jdo").readAllBytes()
    # It comes with Spark.
    tree = ElementTree.fromstring(listed)  # noqa: S314
    return [
        f"{package.get('name')}.{one.get('name')}"
        for package in tree.iter("package")
        for one in package.iter("class")
    ]
