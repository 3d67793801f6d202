"""A standalone Spark cluster: a master and its workers, as PySpark has them."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from ingest.errors import StackFailed
from ingest.stack.service import OwnService, ServiceHome, answers

MASTER = "spark-master"
WORKERS = ("spark-worker-1", "spark-worker-2")
_PACKAGE = "org.apache.spark.deploy"
# Of one worker: a core, and memory of the executors on it.
_CORES, _MEMORY = "1", "2g"


class _Spark(OwnService):
    """Base of both."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def listens(self) -> Sequence[str]:
        return ("clients", "pages")

    def prepare(self, home: ServiceHome) -> None:
        """Write a file of settings, which its command line names."""
        try:
            # Finished applications and their files go after an hour.
            self._settings(home).write_text(
                "spark.worker.cleanup.enabled true\nspark.worker.cleanup.appDataTtl 3600\n"
                "spark.worker.ui.retainedExecutors 20\nspark.deploy.retainedApplications 20\n",
                "utf-8",
            )
        except OSError as error:
            raise StackFailed(f"{self.name}: {error.filename}: {error.strerror}") from error

    def is_healthy(self, home: ServiceHome) -> bool:
        """Whether its page answers."""
        return answers(home.ports["pages"], "/json/")

    def _command(self, home: ServiceHome, program: str, *arguments: str) -> Sequence[str]:
        found = importlib.util.find_spec("pyspark")
        if found is None or found.origin is None:
            raise StackFailed(f"{self.name}: PySpark is not installed")
        return (
            str(Path(found.origin).parent / "bin" / "spark-class"),
            f"{_PACKAGE}.{program}",
            *("--host", "127.0.0.1", "--port", str(home.ports["clients"])),
            *("--webui-port", str(home.ports["pages"])),
            *("--properties-file", str(self._settings(home))),
            *arguments,
        )

    def _settings(self, home: ServiceHome) -> Path:
        return home.folder / "spark.conf"


class SparkMaster(_Spark):
    """The master, to which drivers connect."""

    def __init__(self) -> None:
        super().__init__(MASTER)

    def command(self, home: ServiceHome) -> Sequence[str]:
        return self._command(home, "master.Master")


class SparkWorker(_Spark):
    """A worker of the master that was started before it."""

    def command(self, home: ServiceHome) -> Sequence[str]:
        if MASTER not in home.others:
            raise StackFailed(f"{self.name}: start {MASTER} first")
        master = f"spark://127.0.0.1:{home.others[MASTER].ports['clients']}"
        resources = ("--cores", _CORES, "--memory", _MEMORY, "--work-dir", f"{home.folder}/work")
        return self._command(home, "worker.Worker", *resources, master)
