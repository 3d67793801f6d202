"""The log store in a Java process of its own, without Spark."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JJavaError

from ingest import settings
from ingest.spark import s3
from ingest.stack.s3 import BUCKET

_CONFLICT = "java.nio.file.FileAlreadyExistsException"
# Shorter than Spark's, so that a test that uses up its attempts ends soon.
_RETRIES = {
    "fs.s3a.attempts.maximum": "2",
    "fs.s3a.retry.interval": "20ms",
    "fs.s3a.retry.limit": "3",
}


class LogWriter:
    """Writes the log of a table as Delta does: `write` says whether this writer has won."""

    def __init__(self, environ: Mapping[str, str], log: Path) -> None:
        spark = find_spec("pyspark")
        assert spark
        assert spark.origin
        project = settings.project_dir()
        jars = (project / s3.CLIENT, project / ".jars", Path(spark.origin).parent / "jars")
        java = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]
        java += [":".join(f"{folder}/*" for folder in jars), "py4j.GatewayServer"]
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [*java, "--die-on-broken-pipe", "0"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | dict(environ),
            )
        assert self._process.stdout
        port = int(self._process.stdout.readline())
        self._gateway = JavaGateway(
            gateway_parameters=GatewayParameters(port=port, auto_convert=True)
        )
        jvm: Any = self._gateway.jvm
        self._configuration = jvm.org.apache.hadoop.conf.Configuration()
        for name, value in s3.session_settings(environ).items():
            self._configuration.set(name.removeprefix("spark.hadoop."), value)
        for name, value in _RETRIES.items():
            self._configuration.set(name, value)
        self._store = jvm.headwater.ConditionalPutLogStore(self._configuration)

    def write(self, key: str, lines: Sequence[Any], *, overwrite: bool = False) -> bool:
        """Write an object; False where another writer's stands. Raises what Java raises."""
        jvm: Any = self._gateway.jvm
        actions = jvm.java.util.ArrayList()
        for line in lines:
            actions.add(line)
        try:
            self._store.write(self._path(key), actions.iterator(), overwrite, self._configuration)
        except Py4JJavaError as error:
            if error.java_exception.getClass().getName() != _CONFLICT:
                raise
            return False
        return True

    def list_from(self, key: str) -> list[str]:
        """Names in the folder of an object, from its own on."""
        found = self._store.listFrom(self._path(key), self._configuration)
        names = []
        while found.hasNext():
            names.append(found.next().getPath().getName())
        return names

    def close(self) -> None:
        """End the process."""
        self._gateway.close()
        self._process.kill()
        self._process.wait()

    def _path(self, key: str) -> Any:
        jvm: Any = self._gateway.jvm
        return jvm.org.apache.hadoop.fs.Path(f"{s3.SCHEME}{BUCKET}/{key}")
