"""One build by dbt in this process, on the Spark session that runs in it.

dbt can end a build only when all of its models are done. This lets it end after the models at
work: the others are skipped, and dbt's hooks record what was built as after any other build.
Remove the subclass when dbt's runner can be asked to end; `tests/build/test_serve.py` says
whether this still does what it should.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt.cli.main import dbtRunner
from dbt.task import build as dbt_build

from ingest import settings
from ingest.errors import ModelFailed
from ingest.serve.build_queue import Built, Outcome
from ingest.serve.driver_state import Catalog, DriverState
from ingest.serve.fast_bookkeeping import FastBookkeeping
from ingest.serve.models import KINDS

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

log = logging.getLogger(__name__)

_OUTCOMES = {"success": Outcome.BUILT, "error": Outcome.FAILED, "partial success": Outcome.FAILED}
# Where macros find what this process knows and can do (macros/serve/driver_state.sql).
_FACTS = "headwater_driver"
# Where they say whether a type waits for its columns (macros/catalog/sync_types.sql).
_WAITING = "headwater_types_waiting"
# The profile's output that joins this process's session.
_SESSION = "local"


@dataclass(frozen=True, slots=True)
class DbtBuild:
    """Builds models of a project that has been parsed before."""

    manifest: Manifest
    facts: DriverState
    records: FastBookkeeping
    root: str = field(default_factory=lambda: str(settings.project_dir()))
    # Not dbt's own: it rewrites target/ at each command, and a person's may run beside us.
    target: str = "target/serve"

    def build(
        self,
        models: Set[str],
        ends: Callable[[], bool],
        registered: Catalog | None = None,
        *,
        full_refresh: bool = False,
    ) -> Mapping[str, Built]:
        """Build models, until done or until `ends` says so between two of them.

        `registered` is what Spark's catalog knows for sure, which is not registered again.
        Raises ModelFailed where dbt itself could not, so that nothing was built.
        """
        chosen = sorted(self._selector(model) for model in models)
        kinds = [word for kind in KINDS for word in ("--resource-type", kind)]
        refresh = ["--full-refresh"] if full_refresh else []
        command = ["build", *kinds, *refresh, "--select", *chosen]
        answer = self._invoke(command, ends, registered)
        if answer.result is None:
            raise ModelFailed(f"dbt build: {first_line(answer.exception)}")
        built = {}
        for one in answer.result.results:
            if one.node is not None and one.node.unique_id in models:
                outcome = _OUTCOMES.get(str(one.status), Outcome.LEFT)
                built[one.node.unique_id] = Built(
                    outcome=outcome,
                    seconds=one.execution_time,
                    error=first_line(one.message) if outcome is Outcome.FAILED else None,
                )
            elif str(one.status) == "error":
                raise ModelFailed(f"dbt build: {first_line(one.message)}")
        return built

    def register(self) -> None:
        """Tell the catalog of tables and types that have come, which each build does, too."""
        answer = self._invoke(["run-operation", "sync_catalog"], lambda: False)
        if not answer.success:
            raise ModelFailed(f"the catalog: {first_line(answer.exception)}")

    @property
    def is_waiting(self) -> bool:
        """Whether a type could not be shown yet, for its columns land next."""
        return bool(self.manifest.flat_graph.get(_WAITING))

    def _selector(self, model: str) -> str:
        return "fqn:" + ".".join(self.manifest.nodes[model].fqn)

    def _invoke(
        self,
        arguments: Sequence[str],
        ends: Callable[[], bool],
        registered: Catalog | None = None,
    ) -> Any:
        class Ending(dbt_build.BuildTask):
            """A build that skips the models that it has not begun when it is asked to end."""

            def call_runner(self, runner: Any) -> Any:
                if ends():
                    runner.do_skip()
                return super().call_runner(runner)

        # Macros keep what they learn in the same place, from one invocation to the next.
        self.manifest.flat_graph[_FACTS] = {
            **self.facts.for_macros(registered),
            "append": self.records.append,
            "last_commit": self.records.last_commit,
            "table_bytes": self.records.table_bytes,
            "affected_values": self.records.affected_values,
        }
        whole = dbt_build.BuildTask
        dbt_build.BuildTask = Ending  # type: ignore[misc]
        try:
            return dbtRunner(manifest=self.manifest).invoke([*arguments, *self._options()])
        finally:
            dbt_build.BuildTask = whole  # type: ignore[misc]

    def _options(self) -> list[str]:
        return [
            *("--project-dir", self.root, "--profiles-dir", self.root, "--target", _SESSION),
            *("--target-path", f"{self.root}/{self.target}"),
            *("--log-level", "none", "--log-level-file", "none", "--quiet", "--no-use-colors"),
            *("--no-write-json", "--no-send-anonymous-usage-stats"),
        ]


def first_line(said: object) -> str:
    """The line of dbt's or Java's words that says what went wrong."""
    if causes := re.findall(r"^\s*Caused by: [\w.$]+: (.+)$", str(said), re.MULTILINE):
        return str(causes[-1])[:400]
    lines = [line.strip(" :\t") for line in str(said).splitlines() if line.strip(" :\t")]
    # dbt says first what kind of error it is and where, each further in than the last.
    messages = [
        line
        for line in lines
        if not line.endswith("Error")
        and " Error in " not in line
        and not line.startswith("An error occurred while calling")
    ]
    return (messages or lines or [type(said).__name__])[0][:400]
