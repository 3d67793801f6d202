"""The models that are built continuously, and what stands below what, out of dbt's manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from ingest.declarations.stream import Stream
from ingest.errors import DeclarationInvalid

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# What `ingest serve` builds. Tests are for people and for CI.
KINDS = ("model", "seed", "snapshot")
# Models with this tag, and what they are built from, are built first.
LIVE = "live"
_PERIODS = {"minute": "minutes", "hour": "hours", "day": "days"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One node that is built: `pace` is the least time between two builds of it."""

    id: str
    name: str
    parents: frozenset[str] = frozenset()
    is_live: bool = False
    pace: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Models:
    """The chosen models, by id; `children` has all nodes of the project, also those between."""

    chosen: Mapping[str, Model]
    children: Mapping[str, Set[str]]

    def below(self, ids: Iterable[str]) -> set[str]:
        """The chosen models that are built from any of some nodes, directly or not."""
        found: set[str] = set()
        waiting = list(ids)
        while waiting:
            for child in self.children.get(waiting.pop(), ()):
                if child not in found:
                    found.add(child)
                    waiting.append(child)
        return found & self.chosen.keys()

    def live(self) -> set[str]:
        """Live models, and all that they are built from."""
        tagged = {model.id for model in self.chosen.values() if model.is_live}
        return {
            model.id
            for model in self.chosen.values()
            if model.is_live or tagged & self.below([model.id])
        }


def models_of(manifest: Manifest, chosen: Set[str]) -> Models:
    """The chosen nodes of a project. Raises DeclarationInvalid for a pace that is not kept."""
    nodes = {node.unique_id: node for node in manifest.nodes.values() if _is_built(node)}
    children: dict[str, set[str]] = {}
    for node in nodes.values():
        for parent in node.depends_on_nodes:
            children.setdefault(parent, set()).add(node.unique_id)
    wanted = {
        one.unique_id: Model(
            id=one.unique_id,
            name=one.name,
            parents=frozenset(one.depends_on_nodes),
            is_live=LIVE in one.tags,
            pace=_pace(one),
        )
        for one in nodes.values()
        if one.unique_id in chosen
    }
    return Models(wanted, children)


def sources_of(manifest: Manifest, streams: Iterable[Stream]) -> Mapping[str, frozenset[str]]:
    """The dbt sources that each stream writes, by the stream's name.

    Its quarantine and the table that it keeps current may be sources of their own.
    """
    tables: dict[str, set[str]] = {}
    for source in manifest.sources.values():
        if source.schema == "bronze":
            tables.setdefault(source.identifier, set()).add(source.unique_id)
    return {
        one.name: frozenset().union(*(tables.get(table, set()) for table in one.tables))
        for one in streams
    }


def _is_built(node: object) -> bool:
    return getattr(node, "resource_type", None) in KINDS


def _pace(node: object) -> timedelta:
    """dbt's own words for it: `freshness: {build_after: {count: 5, period: minute}}`."""
    config = getattr(node, "config", None)
    after = getattr(getattr(config, "freshness", None), "build_after", None)
    if after is None or not after.count or not after.period:
        return timedelta()
    if after.updates_on.value != "any":
        place = f"{getattr(node, 'original_file_path', '')}: {getattr(node, 'name', '')}"
        reason = "freshness.build_after.updates_on: only 'any' can be honoured, dbt's default"
        raise DeclarationInvalid([(place, reason)])
    return timedelta(**{_PERIODS[after.period.value]: after.count})
