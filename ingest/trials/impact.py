"""What a change of models changes in their tables, on the last days of bronze.

The project of a git revision is built on a lake beside the real one, from the rows of bronze that
landed in those days; then what is modified and what is below it is built again by the project as it
is, and each table is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dbt.artifacts.resources.types import NodeType
from dbt.contracts.graph.nodes import GenericTestNode

from ingest.contracts.revisions import checked_out
from ingest.errors import InputError
from ingest.trials.comparison import TableChange, compared
from ingest.trials.frames import read, write
from ingest.trials.inputs import add_inputs
from ingest.trials.scratch import Scratch

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest
    from pyspark.sql import SparkSession

_BUILD = ("build", "--full-refresh", "--exclude-resource-type", "test", "unit_test", "--select")
# Tests of several columns, this project's and dbt-utils', and how they name them.
_TOGETHER = ("unique_together", "unique_combination_of_columns")
_COLUMNS = ("columns", "combination_of_columns")


@dataclass(frozen=True, slots=True)
class Impact:
    """Tables of what was built again, and exposures with those of them that change."""

    tables: Sequence[TableChange]
    exposures: Mapping[str, Sequence[str]]


def impact(revision: str, days: timedelta, say: Callable[[str], None]) -> Impact:
    """Compare the models of the project with those of a revision.

    Raises RevisionUnknown, InputError, and TerminalError where a model is not built.
    """
    scratch = Scratch.beside("check")
    with checked_out(scratch.root, revision) as before:
        if before is None:
            raise InputError(f"{revision} has no dbt project here: name a later revision")
        theirs = f"{scratch.target}/before"
        old = _Models(scratch.dbt(["parse"], before, theirs, writes=True).result)
        state = ["--select", "state:modified+", "--state", f"{scratch.root}/{theirs}"]
        listed = ["ls", "--resource-type", "model", "--output", "name"]
        modified = set(scratch.dbt([*listed, *state]).result)
        new = _Models(scratch.manifest())
        # As they are built.
        changed = [name for name in new.nodes if name in modified]
        if not changed:
            return Impact((), {})
        common = [name for name in changed if name in old.nodes]
        bronze = sorted({*old.bronze(common), *new.bronze(changed)})
        scratch.check_landed(bronze)
        say(f"copying {days.days} days of {', '.join(bronze)}")
        spark = scratch.spark()
        scratch.copy_ops(spark, bronze)
        for table in bronze:
            _copy_days(spark, scratch, table, days)
        kept = {}
        if common:
            say(f"building {', '.join(common)} as at {revision}, and what they read")
            scratch.dbt([*_BUILD, *(f"+{name}" for name in common)], before, theirs)
            kept = {name: spark.table(old.table(name)).localCheckpoint() for name in common}
    say(f"building {', '.join(changed)} as they are")
    above = "+" if len(common) < len(changed) else ""
    scratch.dbt([*_BUILD, *(f"{above}{name}" for name in changed)])
    tables = [
        compared(new.table(name), kept.get(name), spark.table(new.table(name)), new.key(name))
        for name in changed
    ]
    seen = {one.table for one in tables if not one.is_none}
    return Impact(tables, new.exposures({name for name in changed if new.table(name) in seen}))


class _Models:
    """The models of a project that have a table or a view."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        inputs: dict[str, None] = {}
        models = {
            unique_id: node
            for unique_id, node in manifest.nodes.items()
            if node.resource_type == NodeType.Model and node.config.materialized != "ephemeral"
        }
        for unique_id in models:
            add_inputs(unique_id, manifest.parent_map, inputs)
        # By name, each behind those that it reads.
        self.nodes: Mapping[str, Any] = {
            models[one].name: models[one] for one in inputs if one in models
        }

    def table(self, name: str) -> str:
        """A model's table."""
        node = self.nodes[name]
        return f"{node.schema}.{node.alias}"

    def key(self, name: str) -> Sequence[str]:
        """The columns of a model's key, by its options or tests; none where it has none."""
        node = self.nodes[name]
        found = (
            node.config.unique_key
            or node.config.get("keys")
            or node.config.meta.get("keys")
            or self._tested_key(node)
        )
        return [found] if isinstance(found, str) else found

    def _tested_key(self, model: Any) -> Sequence[str]:
        """What a test says is unique: a column, or columns together."""
        for node in self._manifest.nodes.values():
            if not isinstance(node, GenericTestNode) or node.attached_node != model.unique_id:
                continue
            test = node.test_metadata
            if test.name == "unique" and node.column_name:
                return [node.column_name]
            if test.name in _TOGETHER:
                return list(next(value for name, value in test.kwargs.items() if name in _COLUMNS))
        return ()

    def bronze(self, names: Iterable[str]) -> set[str]:
        """Tables of bronze that models read, through others."""
        inputs: dict[str, None] = {}
        for name in names:
            add_inputs(self.nodes[name].unique_id, self._manifest.parent_map, inputs)
        sources = (self._manifest.sources.get(one) for one in inputs)
        return {one.identifier for one in sources if one is not None and one.schema == "bronze"}

    def exposures(self, names: Set[str]) -> Mapping[str, Sequence[str]]:
        """Exposures that read some models themselves, with the names of those."""
        ids = {self.nodes[name].unique_id: name for name in names}
        found = {
            exposure.label or exposure.name: [
                ids[one] for one in exposure.depends_on.nodes if one in ids
            ]
            for exposure in self._manifest.exposures.values()
        }
        return {name: read for name, read in sorted(found.items()) if read}


def _copy_days(spark: SparkSession, scratch: Scratch, table: str, days: timedelta) -> None:
    rows = read(spark, scratch.real.bronze(table))
    if not table.endswith("__current"):
        seconds = int(days.total_seconds())
        rows = rows.where(f"_ingested_at >= current_timestamp() - interval {seconds} seconds")
    write(rows, scratch.lake.bronze(table), is_new=True)
