"""Options of dbt models: which are read, and why some of dbt-databricks cannot be had.

dbt ignores a key of `config` that it does not know. A model that comes from elsewhere would lose
a meaning without a word, so an option that nothing reads is refused, by model and name.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ingest.errors import OptionsRefused
from ingest.model_options.known import ADAPTERS, APPLY_CHANGES, MERGE, OF_PYTHON, OURS
from ingest.model_options.merging import merge_problems
from ingest.model_options.refused import MATERIALIZED, OF_COLUMNS, REFUSED

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

_ON_SCHEMA_CHANGE = ("append_new_columns", "fail", "ignore", "sync_all_columns")
_KINDS = ("model", "seed", "snapshot", "test")
# Options that a materialization reads, and others do not.
_READ_BY = {
    "incremental": MERGE,
    "apply_changes": APPLY_CHANGES,
    **dict.fromkeys(("table", "view", "ephemeral"), frozenset[str]()),
}
_READ = re.compile(r"config\.(?:meta_)?(?:get|require)\(\s*['\"]([\w-]+)['\"]")


def check_options(manifest: Manifest) -> None:
    """Raise OptionsRefused if a model has an option that nothing reads, or that cannot be had."""
    store_snapshots_in_delta(manifest)
    names = defaultdict(list)
    known = _known(manifest)
    for node in manifest.nodes.values():
        if node.resource_type in _KINDS:
            for problem in _problems(node, known):
                names[problem].append(node.name)
    if names:
        raise OptionsRefused([f"{_listed(nodes)}: {text}" for text, nodes in names.items()])


def store_snapshots_in_delta(manifest: Any) -> None:
    """Make Delta the format of snapshots that name none; dbt-spark's is Parquet, which it refuses.

    In the manifest, because a key below `snapshots` of dbt_project.yml is an unused path, which
    dbt warns of, in a project that has no snapshots.
    """
    snapshots = [node for node in manifest.nodes.values() if node.resource_type == "snapshot"]
    for node in snapshots:
        if "file_format" not in set(node.config):
            node.config["file_format"] = "delta"
    if snapshots:
        manifest.build_flat_graph()


def _known(manifest: Manifest) -> frozenset[str]:
    """Options that macros read; this project's own only where its macros are."""
    macros = manifest.macros.values()
    read = {name for macro in macros for name in _read_by(macro)}
    ours = OURS if any(macro.name == "model_option" for macro in macros) else frozenset()
    return frozenset(read | ours | ADAPTERS)


def _read_by(macro: Any) -> Sequence[str]:
    # Of dbt's own macros, Spark runs some; what those read is in `ADAPTERS`.
    return () if macro.package_name in {"dbt", "dbt_spark"} else _READ.findall(macro.macro_sql)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _problems(node: Any, known: frozenset[str]) -> Iterator[str]:
    config = node.config
    fields = {field.name for field in dataclasses.fields(config)}
    yield from _unread(node, set(config) - fields, fields | known)
    if why := MATERIALIZED.get(config.materialized):
        yield f"materialized: {config.materialized}: {why}"
    if getattr(config, "grants", None):
        yield "grants: Spark has none outside of Databricks; storage says who reads a table"
    change = getattr(config, "on_schema_change", None)
    if change is not None and change not in _ON_SCHEMA_CHANGE:
        yield f"on_schema_change is {', '.join(_ON_SCHEMA_CHANGE)}, not {change}"
    for column in node.columns.values():
        for name, why in OF_COLUMNS.items():
            if name in {**column._extra, **column.config._extra}:
                yield f"column {column.name}: {name}: {why}"
    if node.resource_type == "model":
        yield from _misplaced(config)
        if config.materialized == "incremental" and config.incremental_strategy == "merge":
            yield from merge_problems(_given(config, MERGE), config.unique_key)


def _unread(node: Any, names: set[str], known: frozenset[str] | set[str]) -> Iterator[str]:
    """Keys of a node's `config` and `meta` that nothing reads."""
    # dbt notes which keys the code of a Python model reads.
    own = {*OF_PYTHON, *(node.config["config_keys_used"] or ())}
    read = known | own | set(_READ.findall(node.raw_code or ""))
    for name in sorted(names - read):
        if name not in REFUSED:
            yield f"nothing reads the option {name}{_nearest(name, known, 0.6)}"
        elif node.config[name]:
            yield f"{name}: {REFUSED[name]}"
    for name, value in node.config.meta.items():
        if name in OURS & names and node.config.get(name) != value:
            yield f"{name} is in config and in its meta, with different values"
        # Other keys of `meta` are the user's own.
        expected = known & _READ_BY.get(node.config.materialized, frozenset())
        if name not in known and (near := _nearest(name, expected, 0.85)):
            yield f"nothing reads meta.{name}{near}"


def _nearest(name: str, known: frozenset[str] | set[str], alike: float) -> str:
    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=alike)
    return f"; did you mean {found[0]}?" if found else ""


def _misplaced(config: Any) -> Iterator[str]:
    """Options of one materialization on a model of another."""
    if config.materialized not in _READ_BY:
        return
    # The project names these columns for a whole folder.
    read = {*_READ_BY[config.materialized], "start_column", "end_column"}
    others = (MERGE | APPLY_CHANGES) - read
    for name in sorted(others & set(config)):
        owner = "incremental" if name in MERGE else "apply_changes"
        yield f"{name} is an option of materialized: {owner}, not of {config.materialized}"
    strategy = config.incremental_strategy or "append"
    if config.materialized == "incremental" and strategy != "merge":
        for name in sorted(_given(config, MERGE)):
            yield f"{name} needs incremental_strategy merge, not {strategy}"


def _given(config: Any, names: frozenset[str]) -> dict[str, Any]:
    """Options that are set in `config` or its `meta`."""
    extra = {name: config.get(name) for name in set(config) & names}
    both = {**{name: config.meta[name] for name in names & set(config.meta)}, **extra}
    return {name: value for name, value in both.items() if value is not None}
