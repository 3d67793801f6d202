"""What a model is made from: the models below it and the streams at the bottom."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt.artifacts.resources.types import NodeType

from ingest.errors import InputError

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# Materializations whose tables an increment may leave other than a full refresh.
_KEPT = ("incremental", "apply_changes")
_QUOTES = re.compile("[\"']")


@dataclass(frozen=True, slots=True)
class Inputs:
    """A model and what it is made from.

    built   dbt's ids of the model and of all models and seeds below it
    kept    of those, tables that increments change, the model's own last
    bronze  tables of streams that they read
    texts   what is between quotes in their SQL, such as the names of event types
    """

    model: str
    built: frozenset[str]
    kept: Sequence[str]
    bronze: Sequence[str]
    texts: frozenset[str]


def inputs_of(manifest: Manifest, name: str) -> Inputs:
    """The inputs of a model. Raises InputError where it cannot be tried."""
    found = [
        node
        for node in manifest.nodes.values()
        if node.resource_type == NodeType.Model and node.name == name
    ]
    if not found:
        raise InputError(f"there is no model {name}: see `dbt ls --resource-type model`")
    nodes: dict[str, None] = {}
    add_inputs(found[0].unique_id, manifest.parent_map, nodes)
    bronze = []
    for unique_id in nodes:
        source = manifest.sources.get(unique_id)
        if source is None:
            continue
        table = source.identifier or source.name
        if source.schema != "bronze" or table.endswith("__current"):
            raise InputError(
                f"{name} reads {source.schema}.{table}, to which no stream appends: "
                "only models of streams can be tried"
            )
        bronze.append(table)
    if not bronze:
        raise InputError(f"{name} reads no stream")
    kept = [
        f"{node.schema}.{node.alias}"
        for node in (manifest.nodes.get(one) for one in nodes)
        if node is not None and node.config.materialized in _KEPT
    ]
    if not kept:
        raise InputError(f"{name} and what it reads are built whole each time")
    built = frozenset(one for one in nodes if one in manifest.nodes)
    texts = {text for one in built for text in _QUOTES.split(manifest.nodes[one].raw_code)}
    return Inputs(name, built, kept, sorted(set(bronze)), frozenset(texts))


def inputs_of_all(manifest: Manifest) -> list[Inputs]:
    """The inputs of each model that increments change and that can be tried, by name."""
    names = sorted(
        node.name
        for node in manifest.nodes.values()
        if node.resource_type == NodeType.Model and node.config.materialized in _KEPT
    )
    found = []
    for name in names:
        with contextlib.suppress(InputError):
            found.append(inputs_of(manifest, name))
    return found


def add_inputs(unique_id: str, parents: Mapping[str, Sequence[str]], into: dict[str, None]) -> None:
    """Add a node behind all that it reads, by dbt's ids."""
    for parent in parents.get(unique_id, ()):
        if parent not in into:
            add_inputs(parent, parents, into)
    into[unique_id] = None
