"""What a session is started with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ingest import settings
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


def test_files_have_no_files_of_checksums_beside_them(spark: SparkSession, tmp_path: Path) -> None:
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


def test_hive_finds_all_of_its_functions(spark: SparkSession) -> None:
    """It looks at them where a session of the SQL endpoint ends, and that was an error."""
    jvm: Any = spark._jvm
    assert jvm.java.lang.Class.forName("org.apache.hadoop.hive.ql.exec.FunctionRegistry")


@pytest.fixture
def asked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Java is asked: to call something, or what a name is."""
    client: Any = spark._jvm._gateway_client  # type: ignore[union-attr]
    send, said = client.send_command, list[str]()

    def noting(command: str, *arguments: Any, **more: Any) -> Any:
        if command[0] in "cr":
            said.append(command)
        return send(command, *arguments, **more)

    monkeypatch.setattr(client, "send_command", noting)
    return said


def test_a_column_asks_java_for_itself_alone(asked: list[str]) -> None:
    """What it is called was asked before, and no message names our line."""
    for _ in range(2):
        asked.clear()
        F.col("a") + F.lit(1)
    assert len(asked) == 3, asked


def test_names_are_kept_and_values_are_not(spark: SparkSession, asked: list[str]) -> None:
    jvm: Any = spark._jvm
    for _ in range(2):
        asked.clear()
        assert jvm.java.lang.Integer.MAX_VALUE == 2**31 - 1
    assert len(asked) == 1, asked
