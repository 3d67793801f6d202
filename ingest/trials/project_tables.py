"""The tables of a project, by dbt's ids: their keys, what they are made from, who reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from dbt.artifacts.resources.types import NodeType
from dbt.contracts.graph.nodes import GenericTestNode

from ingest.serve.models import KINDS
from ingest.trials.inputs import add_inputs

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# Tests of several columns, this project's and dbt-utils', and how they name them.
_TOGETHER = ("unique_together", "unique_combination_of_columns")
_COLUMNS = ("columns", "combination_of_columns")


class ProjectTables:
    """Models, seeds and snapshots of a project that have a table or a view."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        nodes = {
            unique_id: node
            for unique_id, node in manifest.nodes.items()
            if node.resource_type in KINDS and node.config.materialized != "ephemeral"
        }
        # Each after those that it reads.
        self.nodes: Mapping[str, Any] = {
            one: nodes[one] for one in self._inputs(nodes) if one in nodes
        }

    def models(self, nodes: Iterable[str]) -> list[str]:
        """Those of some nodes that are models."""
        return [one for one in nodes if self.nodes[one].resource_type == NodeType.Model]

    def name(self, unique_id: str) -> str:
        """A node's name, with its version where it has one."""
        return str(self.nodes[unique_id].search_name)

    def table(self, unique_id: str) -> str:
        """A node's table."""
        node = self.nodes[unique_id]
        return f"{node.schema}.{node.alias}"

    def with_inputs(self, nodes: Iterable[str]) -> set[str]:
        """Nodes and all tables that they are made from."""
        return self.nodes.keys() & self._inputs(nodes)

    def bronze(self, nodes: Iterable[str]) -> set[str]:
        """Tables of bronze that nodes read, through others."""
        sources = (self._manifest.sources.get(one) for one in self._inputs(nodes))
        return {one.identifier for one in sources if one is not None and one.schema == "bronze"}

    def _inputs(self, nodes: Iterable[str]) -> Iterable[str]:
        inputs: dict[str, None] = {}
        for one in nodes:
            add_inputs(one, self._manifest.parent_map, inputs)
        return inputs

    def key(self, unique_id: str) -> Sequence[str]:
        """The columns of a model's key, by its options or tests; none where it has none."""
        node = self.nodes[unique_id]
        key = _listed(node.config.unique_key or _option(node, "keys"))
        if key and str(_option(node, "stored_as_scd_type")) == "2":
            # As macros/merge/key_of.sql has it: a row is a version.
            key.append(_option(node, "start_column") or "__START_AT")
        return key or self._tested_key(node)

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

    def exposures(self, nodes: Set[str]) -> Mapping[str, Sequence[str]]:
        """Exposures that read some nodes themselves, with the names of those."""
        found = {
            exposure.label or exposure.name: [
                self.name(one) for one in exposure.depends_on.nodes if one in nodes
            ]
            for exposure in self._manifest.exposures.values()
        }
        return {name: read for name, read in sorted(found.items()) if read}


def _listed(key: str | Sequence[str] | None) -> list[str]:
    return [key] if isinstance(key, str) else list(key or ())


def _option(node: Any, name: str) -> Any:
    """An option of this project's macros, from `config` or its `meta` (`model_option`)."""
    return node.config[name] if name in set(node.config) else node.config.meta.get(name)
