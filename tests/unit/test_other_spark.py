"""The other supported Spark is one set of lock files away."""

from __future__ import annotations

import re
from pathlib import Path

from scripts import jars, other_spark

ROOT = other_spark.ROOT


def test_a_copy_has_the_other_locks_in_place_of_the_default(tmp_path: Path) -> None:
    other_spark.copy_project(tmp_path)
    for name, other in other_spark.REPLACED.items():
        assert (tmp_path / name).read_bytes() == (ROOT / other).read_bytes()
    assert (tmp_path / "Makefile").read_bytes() == (ROOT / "Makefile").read_bytes()
    assert (tmp_path / "scripts" / "run").stat().st_mode & 0o100


def test_packages_and_jars_of_a_lock_are_of_one_spark() -> None:
    for packages, jar_lock in (
        ("requirements/dev.lock", "jgo.lock.toml"),
        (other_spark.REPLACED["requirements/dev.lock"], other_spark.REPLACED["jgo.lock.toml"]),
    ):
        found = re.search(r"^pyspark==(\d+\.\d+)", (ROOT / packages).read_text(), re.MULTILINE)
        assert found
        artifacts = {jar.artifact for jar in jars.locked_jars(ROOT / jar_lock)}
        assert f"delta-spark_{found[1]}_2.13" in artifacts


def test_a_copy_has_the_client_of_s3_of_its_hadoop() -> None:
    """Spark 4.0 has Hadoop 3.4.1, and Spark 4.2 has 3.5.0."""
    lock = "jgo.s3client.lock.toml"
    versions = [
        next(jar.version for jar in jars.locked_jars(ROOT / name) if jar.artifact == "hadoop-aws")
        for name in (lock, other_spark.REPLACED[lock])
    ]
    assert versions == ["3.5.0", "3.4.1"]


def test_the_locks_differ_in_what_the_other_spark_overrides_alone() -> None:
    pins = [
        set(re.findall(r"^\S+==\S+", (ROOT / name).read_text(), re.MULTILINE))
        for name in ("requirements/dev.lock", other_spark.REPLACED["requirements/dev.lock"])
    ]
    overrides = (ROOT / f"requirements/{other_spark.OTHER}.txt").read_text()
    overridden = set(re.findall(r"^[a-z]\w*", overrides, re.MULTILINE))
    assert {pin.partition("==")[0] for pin in pins[0] ^ pins[1]} == overridden
