"""Compile the project's own Java sources into one jar, beside the client of S3.

    python -m scripts.java_sources

Set-up does it after it has fetched the jars. The compiler comes as a jar, too, so a Java runtime is
enough, and the same compiler runs everywhere.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

from ingest.spark.java import find_java
from ingest.spark.s3 import CLIENT, LOG_STORE_JAR

ROOT = Path(__file__).resolve().parent.parent
SOURCES = "ingest/spark/java"
COMPILER = ".jars-compiler"
# The oldest Java that the project runs on.
_RELEASE = "17"
# Times of files in the jar are this one: it is the same from every set-up.
_EPOCH = (1980, 1, 1, 0, 0, 0)


class SourcesRefused(Exception):
    """The Java sources do not compile."""


def build(root: Path) -> None:
    """Write the jar of the project at `root`. Raises SourcesRefused, JavaMissing, OSError."""
    with tempfile.TemporaryDirectory() as folder:
        classes = Path(folder)
        _compile(root, classes)
        new = (root / LOG_STORE_JAR).with_suffix(".new")
        with zipfile.ZipFile(new, "w") as jar:
            for path in sorted(classes.rglob("*.class")):
                name = path.relative_to(classes).as_posix()
                jar.writestr(zipfile.ZipInfo(name, _EPOCH), path.read_bytes())
        new.replace(root / LOG_STORE_JAR)


def _compile(root: Path, classes: Path) -> None:
    libraries = [*_spark_jars().glob("hadoop-client-api-*.jar")]
    for folder in (".jars", CLIENT):
        libraries += [jar for jar in (root / folder).glob("*.jar") if jar != root / LOG_STORE_JAR]
    (compiler,) = (root / COMPILER).glob("*.jar")
    command = [str(find_java(os.environ).home / "bin" / "java"), "-jar", str(compiler)]
    command += ["-source", _RELEASE, "-target", _RELEASE, "-proc:none", "-encoding", "UTF-8"]
    command += ["-classpath", os.pathsep.join(map(str, libraries)), "-d", str(classes)]
    answer = subprocess.run(
        [*command, str(root / SOURCES)],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if answer.returncode:
        raise SourcesRefused(f"{SOURCES}: {answer.stdout.strip()}")


def _spark_jars() -> Path:
    found = find_spec("pyspark")
    if not found or not found.origin:
        raise SourcesRefused("pyspark is not installed")
    return Path(found.origin).parent / "jars"


if __name__ == "__main__":
    build(ROOT)
