"""What is left of a data engineer's shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.spark.shell import cleaned, for_cluster, with_programs

HOSTILE = {
    "SPARK_HOME": "/opt/spark",
    "SPARK_CONF_DIR": "/opt/spark/conf",
    "PYSPARK_PYTHON": "/nowhere/python",
    "PYSPARK_SUBMIT_ARGS": "--master yarn pyspark-shell",
    "PYTHONPATH": "/opt/spark/python",
    "PYTHONHOME": "/nowhere",
    "DBT_PROFILES_DIR": "/nowhere",
    "DBT_TARGET": "prod",
    "JAVA_TOOL_OPTIONS": "-Dx=y",
    "CLASSPATH": "/nowhere.jar",
    "HADOOP_CONF_DIR": "/etc/hadoop",
    # It counts more than the address that the SQL endpoint is told.
    "HIVE_SERVER2_THRIFT_BIND_HOST": "::",
    "VIRTUAL_ENV": "/nowhere",
    "CONDA_PREFIX": "/nowhere",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_misleads_is_dropped(name: str) -> None:
    assert name not in cleaned(HOSTILE)


@pytest.mark.parametrize("name", ["HEADWATER_LAKE", "PATH", "HOME", "DBT_ENV_SECRET_TOKEN"])
def test_what_is_the_users_own_is_kept(name: str) -> None:
    assert cleaned(HOSTILE | {name: "own"})[name] == "own"


def test_settings_of_spark_are_the_users_where_no_other_spark_is_named() -> None:
    assert cleaned({"SPARK_CONF_DIR": "/etc/spark"})["SPARK_CONF_DIR"] == "/etc/spark"


def test_of_a_cluster_its_settings_and_the_own_address_are_kept() -> None:
    own = {"HADOOP_CONF_DIR": "/etc/hadoop", "YARN_CONF_DIR": "/etc/yarn", "HADOOP_USER_NAME": "me"}
    environ = {**HOSTILE, **own, "SPARK_LOCAL_IP": "10.0.0.1"}
    shell = for_cluster(environ, cleaned(environ))
    assert {**own, "SPARK_LOCAL_IP": "10.0.0.1"}.items() <= shell.items()
    assert not {"SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "PYTHONPATH"} & set(shell)
    assert "SPARK_LOCAL_IP" not in for_cluster(HOSTILE, cleaned(HOSTILE))


def test_spark_stays_on_this_machine_and_in_utc() -> None:
    shell = cleaned({"TZ": "Asia/Tokyo", "SPARK_LOCAL_IP": "10.0.0.1"})
    assert (shell["TZ"], shell["SPARK_LOCAL_IP"]) == ("UTC", "127.0.0.1")


@pytest.mark.parametrize("environ", [{"LC_ALL": "C"}, {"LANG": "de_DE.ISO-8859-1"}, {}])
def test_a_locale_without_utf8_is_replaced(environ: dict[str, str]) -> None:
    assert "UTF-8" in cleaned(environ)["LC_ALL"]


def test_a_locale_with_utf8_is_kept() -> None:
    assert "LC_ALL" not in cleaned({"LANG": "de_DE.utf8"})


def test_spark_starts_our_java_and_our_python() -> None:
    shell = with_programs(HOSTILE, java_home=Path("/jdk"), python=Path("/venv/bin/python"))
    assert (shell["JAVA_HOME"], shell["PYSPARK_PYTHON"]) == ("/jdk", "/venv/bin/python")
