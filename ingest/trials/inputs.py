"""What a model is made from: the models below it and the streams at the bottom."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.artifacts.resources.types import NodeType

from ingest.errors import InputError
from ingest.nearest import nearest

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# Materializations whose tables an increment may leave other than a full refresh.
_KEPT = ("incremental", "apply_changes")
_QUOTES = re.compile("[\"']")


@dataclass(frozen=True, slots=True)
class Inputs:
    """A model and what it is made from.

    unique_id  dbt's id of the model
    model      its name, with its version where it has one
    built      dbt's ids of the model and of all models and seeds below it
    kept       of those, tables that increments change, the model's own last
    bronze     tables of streams that they read
    texts      what is between quotes in their SQL, such as the names of event types
    """

    unique_id: str
    model: str
    built: frozenset[str]
    kept: Sequence[str]
    bronze: Sequence[str]
    texts: frozenset[str]


def inputs_of_named(manifest: Manifest, names: Iterable[str]) -> list[Inputs]:
    """The inputs of models, each once; a name without a version is that of all versions.

    Raises InputError where there is no such model, or one cannot be tried.
    """
    found: dict[str, None] = {}
    for name in names:
        versions = [one for one, node in _models(manifest) if name in (node.name, node.search_name)]
        if not versions:
            near = nearest(name, {node.search_name for _, node in _models(manifest)})
            raise InputError(f"there is no model {name}{near}; see `dbt ls --resource-type model`")
        found.update(dict.fromkeys(versions))
    return [inputs_of(manifest, unique_id) for unique_id in found]


def inputs_of_all(manifest: Manifest) -> list[Inputs]:
    """The inputs of each model that increments change and that can be tried, by name."""
    found = []
    for unique_id, node in _models(manifest):
        if node.config.materialized in _KEPT:
            with contextlib.suppress(InputError):
                found.append(inputs_of(manifest, unique_id))
    return found


def _models(manifest: Manifest) -> list[tuple[str, Any]]:
    """Models by dbt's ids, in the order of their names."""
    models = [one for one in manifest.nodes.items() if one[1].resource_type == NodeType.Model]
    return sorted(models, key=lambda one: one[1].search_name)


def inputs_of(manifest: Manifest, unique_id: str) -> Inputs:
    """The inputs of a model, by dbt's id. Raises InputError where it cannot be tried."""
    name = manifest.nodes[unique_id].search_name
    inputs: dict[str, None] = {}
    add_inputs(unique_id, manifest.parent_map, inputs)
    nodes = [manifest.nodes[one] for one in inputs if one in manifest.nodes]
    for node in nodes:
        if node.resource_type == NodeType.Snapshot:
            raise InputError(
                f"{name} reads the snapshot {node.name}, whose rows say when it was built: only "
                "models of streams can be tried"
            )
    bronze = _streams(manifest, name, inputs)
    kept = [f"{one.schema}.{one.alias}" for one in nodes if one.config.materialized in _KEPT]
    if not kept:
        raise InputError(f"{name} and what it reads are built whole each time")
    built = frozenset(node.unique_id for node in nodes)
    texts = frozenset(text for node in nodes for text in _QUOTES.split(node.raw_code))
    return Inputs(unique_id, name, built, kept, bronze, texts)


def _streams(manifest: Manifest, name: str, inputs: Iterable[str]) -> Sequence[str]:
    """Tables of streams among the inputs of a model. Raises InputError for other sources."""
    bronze = set()
    for unique_id in inputs:
        source = manifest.sources.get(unique_id)
        if source is None:
            continue
        table = source.identifier or source.name
        if source.schema != "bronze" or table.endswith("__current"):
            raise InputError(
                f"{name} reads {source.schema}.{table}, to which no stream appends: "
                "only models of streams can be tried"
            )
        bronze.add(table)
    if not bronze:
        raise InputError(f"{name} reads no stream")
    return sorted(bronze)


def add_inputs(unique_id: str, parents: Mapping[str, Sequence[str]], into: dict[str, None]) -> None:
    """Add a node behind all that it reads, by dbt's ids."""
    for parent in parents.get(unique_id, ()):
        if parent not in into:
            add_inputs(parent, parents, into)
    into[unique_id] = None
