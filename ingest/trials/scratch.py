"""A lake beside the real one, its tables of bronze, and dbt on it, in this process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.cli.main import dbtRunner

from ingest import settings
from ingest.errors import InputError, TerminalError
from ingest.serve.dbt_build import first_line
from ingest.storage.layout import Lake
from ingest.trials.frames import read, write

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from pyspark.sql import SparkSession

# Many small queries: to compile each would take longer than to run it.
_FAST = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class Scratch:
    """The real lake and the one beside it, by whose name this process goes from then on.

    It stays, so that one can look at it; the next trial of that name empties its tables.
    """

    name: str
    root: str
    real: Lake
    lake: Lake

    @classmethod
    def beside(cls, name: str) -> Scratch:
        """A lake for trials of a name. Spark opens one warehouse in a process."""
        real, root = Lake(settings.lake()), str(settings.project_dir())
        is_remote = settings.is_remote(real.root)
        settings.use_lake(f"{real.root}_{name}" if is_remote else f"{root}/target/{name}/lake")
        return cls(name, root, real, Lake(settings.lake()))

    @property
    def target(self) -> str:
        """Folder of what dbt writes, in the project."""
        return f"target/{self.name}"

    def manifest(self) -> Manifest:
        """The project as it is. Raises InputError."""
        manifest: Any = self.dbt(["parse"]).result
        found: Manifest = manifest
        return found

    def dbt(
        self, arguments: Sequence[str], root: str = "", target: str = "", *, writes: bool = False
    ) -> Any:
        """A command of dbt on a project, by default the own one; `writes` its files of JSON.

        Raises InputError where the project is wrong, TerminalError where a model is not built.
        """
        target = f"{self.root}/{target or self.target}"
        options = [
            *("--project-dir", root or self.root, "--profiles-dir", self.root),
            *("--target", "local", "--target-path", target, "--log-path", target),
            *("--log-level", "none", "--quiet", *(() if writes else ["--no-write-json"])),
        ]
        answer = dbtRunner().invoke([*arguments, *options])
        if answer.success:
            return answer
        results: Any = getattr(answer.result, "results", None) or ()
        for one in results:
            if str(one.status) == "error":
                raise TerminalError(f"{one.node.name} was not built: {first_line(one.message)}")
        raise InputError(f"dbt {arguments[0]}: {first_line(answer.exception)}")

    def spark(self) -> SparkSession:
        """The session that dbt starts."""
        from pyspark.sql import SparkSession

        self.dbt(["show", "--inline", "select 1"])
        spark = SparkSession.active()
        for name, value in _FAST.items():
            spark.conf.set(name, value)
        return spark

    def check_landed(self, tables: Iterable[str]) -> None:
        """Raises InputError where a table of bronze is not there."""
        for table in tables:
            if not self.has_landed([table]):
                raise InputError(f"nothing has landed in bronze.{table} yet: run `ingest run`")

    def has_landed(self, tables: Iterable[str]) -> bool:
        """Whether tables of bronze are there."""
        return all(self.real.is_table(self.real.bronze(table)) for table in tables)

    def copy_ops(self, spark: SparkSession, bronze: Sequence[str]) -> None:
        """Copy what builds read of `ops`: which streams have tables, and types of their events."""
        from pyspark.sql import functions as F

        tables = read(spark, self.real.ops("stream_tables"))
        ours = tables.where(F.col("table_name").isin(list(bronze)))
        write(ours, self.lake.ops("stream_tables"), is_new=True)
        if self.real.is_table(self.real.ops("event_types")):
            types = read(spark, self.real.ops("event_types"))
            types = types.join(ours.select("stream").distinct(), "stream", "left_semi")
            write(types, self.lake.ops("event_types"), is_new=True)
