"""What a change of models changes in their tables, on the last days of bronze.

The project of a git revision is built on a lake beside the real one, from the rows of bronze that
landed in those days; then what is modified and what is below it is built again by the project as it
is, and each table is compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ingest.contracts.revisions import checked_out
from ingest.errors import InputError
from ingest.serve.models import KINDS
from ingest.trials.comparison import TableChange, compared
from ingest.trials.frames import read, write
from ingest.trials.project_tables import ProjectTables
from ingest.trials.scratch import Project, Scratch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Impact:
    """Tables of what was built again, and exposures with those of them that change."""

    tables: Sequence[TableChange]
    exposures: Mapping[str, Sequence[str]]


def impact(revision: str, days: timedelta, say: Callable[[str], None]) -> Impact:
    """Compare the models of the project with those of a revision.

    Raises RevisionUnknown, InputError, and TerminalError where a model is not built.
    """
    with Scratch.beside("check") as scratch, checked_out(scratch.root, revision) as before:
        if before is None:
            raise InputError(f"{revision} has no dbt project here: name a later revision")
        theirs = scratch.parse(before, f"{scratch.target}/before", writes=True)
        ours = scratch.parse()
        old, new = ProjectTables(theirs.manifest), ProjectTables(ours.manifest)
        modified = _modified(scratch, ours, theirs)
        # As they are built.
        changed = [one for one in new.nodes if one in modified]
        models = new.models(changed)
        if not models:
            return Impact((), {})
        common = [one for one in changed if one in old.nodes]
        first = old.with_inputs(common)
        second = {*changed, *(new.with_inputs(changed) - first)}
        bronze = sorted(old.bronze(first) | new.bronze(second))
        scratch.check_landed(bronze)
        say(f"copying {days.days} days of {', '.join(bronze)}")
        spark = scratch.spark(ours)
        _copy(spark, scratch, bronze, days)
        kept: dict[str, DataFrame] = {}
        if common:
            say(f"building {_names(old, common)} as at {revision}, and what they read")
            scratch.build(theirs, first)
            kept = {
                one: spark.table(old.table(one)).localCheckpoint() for one in old.models(common)
            }
        say(f"building {_names(new, changed)} as they are")
        scratch.build(ours, second)
        changes = {
            one: compared(new.table(one), kept.get(one), spark.table(new.table(one)), new.key(one))
            for one in models
        }
    seen = {one for one, change in changes.items() if not change.is_none}
    return Impact(list(changes.values()), new.exposures(seen))


def _modified(scratch: Scratch, ours: Project, theirs: Project) -> set[str]:
    """Nodes that are modified, or below one that is, by dbt's ids."""
    kinds = [word for kind in KINDS for word in ("--resource-type", kind)]
    state = ["--select", "state:modified+", "--state", theirs.target]
    listed = ["ls", *kinds, *state, "--output", "json", "--output-keys", "unique_id"]
    return {json.loads(one)["unique_id"] for one in scratch.dbt(listed, ours)}


def _names(tables: ProjectTables, nodes: Sequence[str]) -> str:
    return ", ".join(map(tables.name, nodes))


def _copy(spark: SparkSession, scratch: Scratch, bronze: Sequence[str], days: timedelta) -> None:
    """Copy the last days of tables of bronze, and what builds read of `ops`."""
    scratch.copy_ops(spark, bronze)
    for table in bronze:
        rows = read(spark, scratch.real.bronze(table))
        if not table.endswith("__current"):
            seconds = int(days.total_seconds())
            rows = rows.where(f"_ingested_at >= current_timestamp() - interval {seconds} seconds")
        write(rows, scratch.lake.bronze(table), is_new=True)
