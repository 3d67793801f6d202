"""A lake beside the real one, its tables of bronze, and dbt on it, in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.artifacts.resources.types import NodeType
from dbt.cli.main import dbtRunner

from ingest import settings
from ingest.errors import InputError, TerminalError
from ingest.serve.dbt_build import first_line
from ingest.spark.sql import quoted
from ingest.storage.layout import Lake
from ingest.storage.storage import Lease, LeaseHeld, LeaseLost
from ingest.trials.fitting import fit_for_trials
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
_LEASE = "_locks/trial.lock"
_TYPES = "ops.event_types"
# What dbt calls the error of a batch of a microbatch model, in its events alone.
_OF_BATCH = "GenericExceptionOnRun"


@dataclass(frozen=True, slots=True)
class Project:
    """A dbt project, parsed: its folder, where dbt writes, and its models fit for trials."""

    root: str
    target: str
    manifest: Manifest


@dataclass(frozen=True, slots=True)
class Scratch:
    """The real lake and the one beside it, by whose name this process goes from then on.

    It stays, so that one can look at it; the next trial of that name empties its tables.
    """

    name: str
    root: str
    real: Lake
    lake: Lake
    lease: Lease

    @classmethod
    @contextlib.contextmanager
    def beside(cls, name: str) -> Iterator[Scratch]:
        """A lake for trials of a name, which no other trial uses meanwhile.

        Spark opens one warehouse in a process. Raises InputError, StorageFailed.
        """
        real, root = Lake(settings.lake()), str(settings.project_dir())
        settings.use_lake(place_of_trials(real.root, name, root))
        lake = Lake(settings.lake())
        with contextlib.ExitStack() as stack:
            try:
                lease = stack.enter_context(lake.storage.lease(_LEASE))
            except LeaseHeld as error:
                raise InputError(
                    f"{error.owner} uses {lake.root} for a trial: wait until that has ended"
                ) from None
            yield cls(name, root, real, lake, lease)

    @property
    def target(self) -> str:
        """Folder of what dbt writes, in the project."""
        return f"target/{self.name}"

    def check_lease(self) -> None:
        """Raises TerminalError where another trial may have taken the lake."""
        try:
            self.lease.check()
        except LeaseLost as error:
            raise TerminalError(f"{error.owner} uses {self.lake.root} for a trial now") from None

    def parse(self, root: str = "", target: str = "", *, writes: bool = False) -> Project:
        """A project as it is, by default the own one; `writes` its manifest for `--state`.

        Raises InputError.
        """
        root, target = root or self.root, f"{self.root}/{target or self.target}"
        manifest: Any = self._invoke(["parse"], root, target, writes=writes).result
        fit_for_trials(manifest)
        return Project(root, target, manifest)

    def dbt(self, arguments: Sequence[str], project: Project) -> Any:
        """What a command of dbt returns.

        Raises InputError where the project is wrong, TerminalError where a model is not built.
        """
        return self._invoke(arguments, project.root, project.target, project.manifest).result

    def build(self, project: Project, nodes: Set[str]) -> None:
        """Build nodes, by dbt's ids, as if they had not been built before. Raises TerminalError."""
        self.check_lease()
        known = project.manifest.nodes
        for one in nodes:
            if known[one].resource_type == NodeType.Snapshot:
                self._drop(known[one].schema, known[one].alias)
        selected = ["fqn:" + ".".join(known[one].fqn) for one in sorted(nodes)]
        without_tests = ("--exclude-resource-type", "test", "unit_test")
        self.dbt(["build", "--full-refresh", *without_tests, "--select", *selected], project)

    def _drop(self, schema: str, table: str) -> None:
        """Drop a snapshot's table, which keeps what earlier builds saw."""
        from pyspark.sql import SparkSession

        SparkSession.active().sql(f"drop table if exists {quoted(schema)}.{quoted(table)}")
        # Dropping a table that was registered by its folder leaves its files.
        self.lake.storage.delete_tree(f"{schema}/{table}")

    def _invoke(
        self,
        arguments: Sequence[str],
        root: str,
        target: str,
        manifest: Manifest | None = None,
        *,
        writes: bool = False,
    ) -> Any:
        options = [
            *("--project-dir", root, "--profiles-dir", self.root),
            *("--target", "local", "--target-path", target, "--log-path", target),
            *("--log-level", "none", "--quiet", *(() if writes else ["--no-write-json"])),
        ]
        errors: dict[str, str] = {}

        def note(event: Any) -> None:
            if event.info.name == _OF_BATCH:
                errors.setdefault(event.data.unique_id, event.data.exc)

        answer = dbtRunner(manifest, callbacks=[note]).invoke([*arguments, *options])
        if answer.success:
            return answer
        results: Any = getattr(answer.result, "results", None) or ()
        for one in results:
            if reason := why_not_built(one, errors):
                raise TerminalError(f"{one.node.search_name} was not built: {reason}")
        raise InputError(f"dbt {arguments[0]}: {first_line(answer.exception)}")

    def spark(self, project: Project) -> SparkSession:
        """The session that dbt starts."""
        from pyspark.sql import SparkSession

        self.dbt(["show", "--inline", "select 1"], project)
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
        """Copy what builds read of `ops`: which streams have tables, and types of their events.

        A type's own table stays in the real lake; the copy says that it has none, and dbt makes a
        view of bronze for it.
        """
        from pyspark.sql import functions as F

        tables = read(spark, self.real.ops("stream_tables"))
        ours = tables.where(F.col("table_name").isin([*bronze, _TYPES]))
        write(ours, self.lake.ops("stream_tables"), is_new=True)
        if self.real.is_table(self.real.ops("event_types")):
            types = read(spark, self.real.ops("event_types"))
            types = types.join(ours.select("stream").distinct(), "stream", "left_semi")
            for name in ("table_columns", "filled_layout"):
                types = types.withColumn(name, F.lit(None).cast("string"))
            write(types, self.lake.ops("event_types"), is_new=True)


def place_of_trials(lake: str, name: str, project: str) -> str:
    """Root of the lake for trials of a name: in the project, or where the real one's bucket is."""
    if not settings.is_remote(lake):
        return f"{project}/target/{name}/lake"
    # Appended to a bucket's name, it would name another bucket.
    is_bucket = "/" not in lake.partition("://")[2]
    return f"{lake}/_{name}" if is_bucket else f"{lake}_{name}"


def why_not_built(result: Any, errors: Mapping[str, str]) -> str | None:
    """Why dbt could not build a node; None where it could.

    `errors` has the first error of a batch by dbt's ids of microbatch models, whose results only
    say which batches failed.
    """
    if str(result.status) not in ("error", "partial success"):
        return None
    error = first_line(errors.get(result.node.unique_id, result.message))
    batches = getattr(result, "batch_results", None)
    if not batches or not batches.failed:
        return error
    first = min(batches.failed)[0]
    return f"{len(batches.failed)} of {len(batches)} batches, the first of {first:%F %R}: {error}"
