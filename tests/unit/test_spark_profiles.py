"""Settings of a session: a profile's, unless the user sets them."""

from __future__ import annotations

import os
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

import dbt_headwater
from ingest import settings
from ingest.errors import InputError
from ingest.spark import internals, java, launch, metastore, profiles, s3, session
from ingest.spark.profiles import UserSettings, builder_settings, read_conf

# What a person may set of a Spark on this machine; the builder would set each of them.
TEN = {
    "spark.sql.shuffle.partitions": "64",
    "spark.databricks.delta.snapshotPartitions": "8",
    "spark.broadcast.blockSize": "4m",
    "spark.ui.enabled": "true",
    "spark.driver.memory": "7g",
    "spark.driver.host": "10.0.0.1",
    "spark.sql.parquet.compression.codec": "snappy",
    "spark.sql.codegen.cache.maxEntries": "77",
    "spark.python.daemon.module": "pyspark.daemon",
    "spark.log.level": "WARN",
}


@pytest.fixture
def conf_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with jars and no settings of Spark yet, and the folder that Spark reads them in."""
    (tmp_path / "dbt_project.yml").touch()
    (tmp_path / ".jars").mkdir()
    (tmp_path / ".jars" / "delta.jar").touch()
    monkeypatch.chdir(tmp_path)
    (tmp_path / s3.CLIENT).mkdir()
    (tmp_path / s3.LOG_STORE_JAR).touch()
    for name in os.environ:
        if name.startswith(("SPARK_", "HEADWATER_", "AWS_", "HADOOP_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path


def write(path: Path, settings: dict[str, str]) -> Path:
    path.write_text("".join(f"{name} {value}\n" for name, value in settings.items()), "utf-8")
    return path


def test_the_builder_sets_nothing_that_spark_defaults_sets(conf_dir: Path) -> None:
    assert set(builder_settings("/lake", {})) >= set(TEN)
    write(conf_dir / "spark-defaults.conf", TEN)
    assert not set(builder_settings("/lake", {})) & set(TEN)


def test_settings_of_the_named_file_win_over_profile_and_spark_defaults(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(conf_dir / "spark-defaults.conf", {"spark.driver.memory": "3g"})
    monkeypatch.setenv("HEADWATER_SPARK_CONF", str(write(conf_dir / "own.conf", TEN)))
    assert TEN.items() <= builder_settings("/lake", {}).items()


def test_settings_of_one_kind_of_session_are_the_users_too(conf_dir: Path) -> None:
    write(conf_dir / "spark-defaults.conf", {"spark.scheduler.mode": "FIFO"})
    assert "spark.scheduler.mode" not in builder_settings("/lake", {"spark.scheduler.mode": "FAIR"})


def test_delta_stays_on_the_users_class_path(conf_dir: Path) -> None:
    write(conf_dir / "spark-defaults.conf", {profiles.CLASS_PATH: "/opt/own.jar"})
    jars = builder_settings("/lake", {})[profiles.CLASS_PATH]
    assert jars == f"/opt/own.jar:{conf_dir}/.jars/*"


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host"])
def test_a_cluster_gets_nothing_of_this_machine(conf_dir: Path, master: str) -> None:
    write(conf_dir / "spark-defaults.conf", {"spark.master": master})
    built = builder_settings("/lake", {})
    assert not set(built) & (set(profiles.LOCAL) | set(internals.local_settings()))
    assert set(profiles.COMMON) <= set(built)
    assert built["spark.executor.extraClassPath"] == f"{conf_dir}/.jars/*"


def test_executors_that_unpack_an_environment_are_sent_the_jars(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = {
        "spark.master": "yarn",
        "spark.archives": "packed.tar.gz#environment",
        "spark.pyspark.python": "./environment/bin/python",
    }
    write(conf_dir / "spark-defaults.conf", packed)
    monkeypatch.setattr(java, "find_java", lambda _: java.Java(Path("/jdk"), 17))
    jar = str(conf_dir / ".jars" / "delta.jar")
    for built in (
        builder_settings("/lake", {}),
        dbt_headwater.session_settings({profiles.CLASS_PATH: ".jars/*"}),
    ):
        assert built["spark.jars"] == jar
        assert profiles.EXECUTOR_CLASS_PATH not in built
    assert launch.cleaned({})["PYSPARK_PYTHON"] == "./environment/bin/python"


def test_a_build_of_dbt_on_a_cluster_has_nothing_of_this_machine(conf_dir: Path) -> None:
    write(conf_dir / "spark-defaults.conf", {"spark.master": "spark://host:7077"})
    profile = {
        "spark.master": "local[*]",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        profiles.CLASS_PATH: ".jars/*",
    }
    built = dbt_headwater.session_settings(profile)
    assert not set(built) & set(profiles.LOCAL)
    assert built["spark.sql.session.timeZone"] == "UTC"
    assert built["spark.executor.extraClassPath"] == f"{conf_dir}/.jars/*"


def test_another_number_of_cores_is_still_this_machine(conf_dir: Path) -> None:
    write(conf_dir / "spark-defaults.conf", {"spark.master": "local[1]"})
    built = builder_settings("/lake", {})
    assert "spark.master" not in built
    assert built["spark.driver.host"] == "127.0.0.1"


def test_private_parts_are_off_by_one_setting(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (conf_dir / ".jars" / "classes.jsa").touch()
    on = builder_settings("/lake", {})
    assert "classes.jsa" in on[profiles.JAVA_OPTIONS]
    assert "spark.python.daemon.module" in on
    monkeypatch.setenv("HEADWATER_SPARK_INTERNALS", "off")
    off = builder_settings("/lake", {})
    assert "classes.jsa" not in off[profiles.JAVA_OPTIONS]
    assert set(on) - set(off) == {"spark.python.daemon.module"}


@pytest.mark.usefixtures("conf_dir")
def test_workers_start_as_pyspark_does_where_its_daemon_is_another_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other = ModuleSpec("pyspark.daemon", None, origin=__file__)
    monkeypatch.setattr(internals, "find_spec", lambda _: other)
    with caplog.at_level("INFO"):
        built = builder_settings("/lake", {})
    assert "spark.python.daemon.module" not in built
    assert len([one for one in caplog.records if "pyspark.daemon" in one.message]) == 1


@pytest.mark.parametrize(("master", "is_kept"), [("yarn", True), ("local[2]", False)])
def test_the_shell_names_a_cluster_where_spark_runs_on_one(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch, master: str, *, is_kept: bool
) -> None:
    write(conf_dir / "spark-defaults.conf", {"spark.master": master})
    environ = {"SPARK_CONF_DIR": str(conf_dir), "HADOOP_CONF_DIR": "/etc/hadoop"}
    monkeypatch.setattr(settings, "environment", lambda: environ)
    monkeypatch.setattr(java, "find_java", lambda _: java.Java(Path("/jdk"), 17))
    # As serving does: by itself, and by its session.
    for _ in range(2):
        launch.prepare_process()
    assert ("HADOOP_CONF_DIR" in environ, "SPARK_LOCAL_IP" in environ) == (is_kept, not is_kept)


def test_dbt_has_private_parts_only_where_they_are_on() -> None:
    """Where its own Spark has started (`dbt_headwater.prepare_session_once`)."""
    text = Path(profiles.__file__).parents[2].joinpath("profiles.yml").read_text("utf-8")
    assert "AbstractFileSystem" not in text


def test_a_file_of_settings_is_read_as_java_reads_properties(tmp_path: Path) -> None:
    path = tmp_path / "spark-defaults.conf"
    path.write_text("# a=b\n! c\n\n a  b c \nd=e\nf : g\nh\ni j\\\n  k\n", encoding="utf-8")
    assert read_conf(path) == {"a": "b c", "d": "e", "f": "g", "h": "", "i": "jk"}


def test_a_catalog_in_postgresql_needs_no_more_than_its_url(conf_dir: Path) -> None:
    with pytest.raises(InputError, match="no shared catalog is set"):
        metastore.shared_catalog()
    own = {
        profiles.CATALOG_URL: "jdbc:postgresql://db/catalog?ssl=true",
        "spark.hadoop.javax.jdo.option.ConnectionDriverName": "my.Driver",
    }
    write(conf_dir / "spark-defaults.conf", own)
    built = builder_settings("/lake", {profiles.CATALOG_URL: "jdbc:derby:x"})
    assert built["spark.hadoop.hive.metastore.schema.verification"] == "false"
    assert not own.keys() & built.keys()
    assert metastore.shared_catalog() == "jdbc:postgresql://db/catalog"


def test_a_named_file_that_is_missing_is_an_error(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_SPARK_CONF", str(conf_dir / "none.conf"))
    with pytest.raises(InputError, match=r"HEADWATER_SPARK_CONF: .*none\.conf"):
        UserSettings.read()


def test_settings_of_another_spark_go_with_it(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(conf_dir / "spark-defaults.conf", TEN)
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert UserSettings.read().value("spark.driver.memory") is None


S3A = "spark.hadoop.fs.s3a.endpoint.region"


def is_with_s3(built: dict[str, str]) -> bool:
    return s3.CLIENT in built[profiles.CLASS_PATH] and "spark.delta.logStore.s3a.impl" in built


def test_a_lake_on_this_machine_starts_without_s3(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (conf_dir / ".jars" / "classes.jsa").touch()
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    built = builder_settings("/lake", {})
    assert not is_with_s3(built)
    assert not [name for name in built if "s3a" in name]
    assert "classes.jsa" in built[profiles.JAVA_OPTIONS]


@pytest.mark.usefixtures("conf_dir")
def test_a_lake_on_s3_has_the_client_and_the_log_store() -> None:
    assert is_with_s3(builder_settings("s3a://bucket/lake", {}))


def test_so_has_a_lake_whose_landing_folder_is_on_s3(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_LANDING", "s3a://bucket/landing")
    assert is_with_s3(builder_settings("/lake", {}))
    write(conf_dir / "spark-defaults.conf", {"spark.master": "yarn"})
    assert s3.CLIENT in builder_settings("/lake", {})["spark.executor.extraClassPath"]


def test_so_has_one_whose_user_sets_s3(conf_dir: Path) -> None:
    write(conf_dir / "spark-defaults.conf", {S3A: "eu-west-1"})
    assert is_with_s3(builder_settings("/lake", {}))


def test_what_the_user_sets_of_s3_wins(conf_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    assert builder_settings("s3a://bucket/lake", {})[S3A] == "eu-central-1"
    write(conf_dir / "spark-defaults.conf", {S3A: "eu-west-1"})
    assert S3A not in builder_settings("s3a://bucket/lake", {})


@pytest.mark.usefixtures("conf_dir")
def test_delta_own_log_store_is_left_to_a_server_without_conditional_put(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADWATER_S3_CONDITIONAL_PUT", "off")
    built = builder_settings("s3a://bucket/lake", {})
    assert "spark.delta.logStore.s3a.impl" not in built
    assert s3.CLIENT in built[profiles.CLASS_PATH]
    monkeypatch.setenv("HEADWATER_S3_CONDITIONAL_PUT", "no")
    with pytest.raises(InputError, match="HEADWATER_S3_CONDITIONAL_PUT=no: allowed are on and off"):
        builder_settings("s3a://bucket/lake", {})


def test_the_archive_of_classes_is_left_out_where_the_lake_is_on_s3(conf_dir: Path) -> None:
    (conf_dir / ".jars" / "classes.jsa").touch()
    built = builder_settings("s3a://bucket/lake", {})
    # Java uses an archive with the class path only that it was made with.
    assert "classes.jsa" not in built[profiles.JAVA_OPTIONS]


def test_a_missing_client_of_s3_is_one_line(conf_dir: Path) -> None:
    (conf_dir / s3.LOG_STORE_JAR).unlink()
    with pytest.raises(InputError, match="make setup"):
        builder_settings("s3a://bucket/lake", {})


@pytest.mark.usefixtures("conf_dir")
def test_dbt_has_the_same_of_s3() -> None:
    lake = "s3a://bucket/lake"
    derby = "spark.hadoop.javax.jdo.option.ConnectionURL"
    profile = {
        profiles.CLASS_PATH: ".jars/*",
        "spark.sql.warehouse.dir": lake,
        derby: f"jdbc:derby:;databaseName={lake}/_catalog/metastore;create=true",
    }
    built = dbt_headwater.session_settings(profile)
    assert is_with_s3(built)
    named = {name for name in builder_settings(lake, {}) if "s3a" in name.lower()}
    assert named == {name for name in built if "s3a" in name.lower()}
    # Derby works on folders.
    folder = Path(settings.local_folder(lake), "_catalog")
    assert dbt_headwater.catalog_folder(built) == folder == session.catalog_folder(lake)


def test_dbt_on_a_local_lake_has_nothing_of_s3(conf_dir: Path) -> None:
    profile = {profiles.CLASS_PATH: ".jars/*", "spark.sql.warehouse.dir": str(conf_dir)}
    assert dbt_headwater.session_settings(profile) == {**profile, profiles.JAVA_OPTIONS: ""}
