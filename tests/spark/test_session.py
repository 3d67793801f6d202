"""What a session is started with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ingest import settings
from ingest.errors import InputError
from ingest.spark import internals, session
from ingest.spark.jvm_options import CLASSES


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux tells what a process has mapped")
def test_java_has_the_classes_that_set_up_has_kept(spark: SparkSession) -> None:
    gateway: Any = spark.sparkContext._gateway
    jvm: Any = spark._jvm
    own = Path(jvm.java.lang.System.getProperty("java.home"), "lib", "server", "classes.jsa")
    if not own.exists():
        pytest.skip(f"no archive can be made on top of {own}, which this Java comes without")
    maps = Path(f"/proc/{gateway.proc.pid}/maps").read_text(encoding="utf-8")
    assert str(settings.project_dir() / CLASSES) in maps


def test_what_spark_generates_is_compiled_once(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    compiled = jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()
    # That of the tests generates none.
    own = spark.newSession()
    # The first brings what all queries have.
    for literal in (987_654_321, 987_654_322):
        before = compiled.getCount()
        own.sql(f"select id + {literal} as shifted from range(5)").collect()
    assert compiled.getCount() - before == 1


def test_files_have_no_checksum_files(spark: SparkSession, tmp_path: Path) -> None:
    """Hadoop starts a process for each, and Delta's log takes another file system of its."""
    table = str(tmp_path / "table")
    for number in range(2):
        spark.range(number + 1).write.format("delta").mode("append").save(table)
    written = {path.name for path in Path(table).rglob("*") if path.is_file()}
    assert "00000000000000000001.json" in written
    assert not [name for name in written if name.startswith(".")]


def test_a_file_may_have_checksums_of_what_it_was(spark: SparkSession, tmp_path: Path) -> None:
    """Those that another program has left of a file of Delta's log that was replaced."""
    (tmp_path / "hint").write_text("new\n", encoding="utf-8")
    (tmp_path / ".hint.crc").write_bytes(b"crc\0\0\0\2\0" + b"\1" * 4)
    assert [row.value for row in spark.read.text(str(tmp_path / "hint")).collect()] == ["new"]


@pytest.mark.parametrize("has_class", [True, False])
def test_checksum_files_are_left_out_where_hadoop_can(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    has_class: bool,
) -> None:
    context: Any = spark.sparkContext._jsc
    hadoop = context.hadoopConfiguration()
    name, there = internals._LOCAL_FILES, hadoop.get(internals._LOCAL_FILES)
    own = internals._RAW_LOCAL_FILES if has_class else "org.example.NoSuchClass"
    monkeypatch.setattr(internals, "_RAW_LOCAL_FILES", own)
    hadoop.set(name, "another")
    try:
        with caplog.at_level("INFO"):
            internals.use_raw_local_files(spark)
        assert hadoop.get(name) == (own if has_class else "another")
    finally:
        hadoop.set(name, there)
    assert len([one for one in caplog.records if own in one.message]) == (not has_class)


def test_hive_finds_all_of_its_functions(spark: SparkSession) -> None:
    """It looks at them where a session of the SQL endpoint ends, and that was an error."""
    jvm: Any = spark._jvm
    assert jvm.java.lang.Class.forName("org.apache.hadoop.hive.ql.exec.FunctionRegistry")


# As a person may write it for a machine of their own.
DEFAULTS = """\
spark.master                           local[1]
spark.driver.memory                    1300m
spark.sql.shuffle.partitions           7
spark.databricks.delta.snapshotPartitions=3
spark.broadcast.blockSize              1m
spark.sql.parquet.compression.codec    snappy
spark.sql.codegen.cache.maxEntries     77
spark.sql.ui.explainMode               formatted
spark.driver.bindAddress               127.0.0.2
spark.driver.extraJavaOptions          -Dof.the.user=yes
spark.python.daemon.module             pyspark.daemon
"""
ASK = """
import json, sys
from ingest.spark.session import session
spark = session("test", sys.argv[1])
found = {name: spark.conf.get(name) for name in sys.argv[2:]}
found["of.the.user"] = spark._jvm.java.lang.System.getProperty("of.the.user")
found["user.timezone"] = spark._jvm.java.lang.System.getProperty("user.timezone")
print(json.dumps(found))
"""


def test_what_the_user_sets_for_spark_wins(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(DEFAULTS, encoding="utf-8")
    expected = dict(line.replace("=", " ", 1).split(maxsplit=1) for line in DEFAULTS.splitlines())
    expected["spark.driver.extraJavaOptions"] = "-Dof.the.user=yes"
    answer = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "lake"), *expected],
        env=os.environ | {"SPARK_CONF_DIR": str(tmp_path)},
        check=True,
        stdout=subprocess.PIPE,
    )
    found = json.loads(answer.stdout)
    # Spark puts the default options in front.
    assert found.pop("spark.driver.extraJavaOptions").endswith("-Dof.the.user=yes")
    del expected["spark.driver.extraJavaOptions"]
    assert found == {**expected, "of.the.user": "yes", "user.timezone": "UTC"}


def test_an_active_session_is_used_and_left_as_it_is(spark: SparkSession) -> None:
    active = spark.newSession()
    active.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    own = session.adopt(active)
    assert own.conf.get("spark.sql.session.timeZone") == "UTC"
    assert active.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert own.sparkContext is spark.sparkContext


def test_an_active_session_without_delta_is_refused() -> None:
    other: Any = SimpleNamespace(conf={"spark.sql.extensions": "org.example.Other"})
    with pytest.raises(InputError, match="has no Delta"):
        session.adopt(other)


def test_a_session_that_was_handed_in_is_not_stopped(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_started_here", [])
    session.stop(session.session("test", "/nowhere"))
    assert spark.range(3).count() == 3
