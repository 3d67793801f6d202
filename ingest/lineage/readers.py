"""Which models and exposures read columns of a table, however many models lie between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingest.lineage.queries import read_by, table_name
from ingest.lineage.relations import Path, Unresolvable

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

_QUERIES = ("model", "snapshot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Names of those that read a column, and of those of which it is unknown, with why."""

    models: tuple[str, ...] = ()
    exposures: tuple[str, ...] = ()
    unresolved: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.models or self.exposures or self.unresolved)


def readers_of(
    manifest: Manifest,
    rendered: Callable[[Any], Iterable[str]],
    tables: Mapping[str, frozenset[Path]],
) -> Readers:
    """Who reads columns, given by table (`schema.name`)."""
    return _Search(manifest, rendered, tables).found()


class _Search:
    """Goes through the models, each after those that it reads."""

    def __init__(
        self,
        manifest: Manifest,
        rendered: Callable[[Any], Iterable[str]],
        tables: Mapping[str, frozenset[Path]],
    ) -> None:
        self._manifest, self._rendered = manifest, rendered
        self._tables = {name: paths for name, paths in tables.items() if paths}
        # What each node carries of the columns that are looked for.
        self._carried: dict[str, frozenset[Path]] = {}
        self._reading: set[str] = set()
        self._unresolved: dict[str, str] = {}

    def found(self) -> Readers:
        """All who read."""
        for source in self._manifest.sources.values():
            self._carried[source.unique_id] = self._tables.get(_name(source), frozenset())
        for node in self._manifest.nodes.values():
            if node.resource_type in _QUERIES:
                self._visit(node)
        exposures, doubtful = [], {}
        for one in self._manifest.exposures.values():
            above = set(one.depends_on.nodes)
            if above & self._reading or any(self._carried.get(each) for each in above):
                exposures.append(one.name)
            elif doubted := above & self._unresolved.keys():
                doubtful[one.name] = f"it depends on {self._named(min(doubted))}"
        unresolved = {self._named(each): why for each, why in self._unresolved.items()}
        return Readers(
            models=tuple(sorted(self._named(each) for each in self._reading)),
            exposures=tuple(sorted(exposures)),
            unresolved=dict(sorted({**unresolved, **doubtful}.items())),
        )

    def _visit(self, node: Any) -> None:
        if node.unique_id in self._carried:
            return
        self._carried[node.unique_id] = frozenset()
        above = [self._manifest.nodes.get(each) for each in node.depends_on.nodes]
        for one in above:
            if one is not None and one.resource_type in _QUERIES:
                self._visit(one)
        if not any(self._carried.get(each) for each in node.depends_on.nodes):
            self._doubt(node)
            return
        try:
            is_read, carried = self._read(node)
        except Unresolvable as error:
            self._unresolved[node.unique_id] = str(error)
            return
        if is_read:
            self._reading.add(node.unique_id)
        else:
            self._doubt(node)
        self._carried[node.unique_id] = carried
        if carried:
            self._tables[_name(node)] = carried

    def _doubt(self, node: Any) -> None:
        """What reads a model of which nothing is known is doubtful itself."""
        for each in node.depends_on.nodes:
            if each in self._unresolved:
                self._unresolved[node.unique_id] = f"it reads {self._named(each)}"
                return

    def _read(self, node: Any) -> tuple[bool, frozenset[Path]]:
        is_read, carried = False, frozenset[Path]()
        for sql in self._rendered(node):
            reads, carries = read_by(sql, self._tables)
            is_read, carried = is_read or reads, carried | carries
        return is_read, carried | frozenset(_of_changes(node, carried))

    def _named(self, unique_id: str) -> str:
        return str(self._manifest.nodes[unique_id].name)


def _name(node: Any) -> str:
    """The name of a node's table in rendered SQL."""
    if node.resource_type != "source" and node.config.materialized == "ephemeral":
        return f"__dbt__cte__{node.name}"
    return table_name(node.relation_name)


def _of_changes(node: Any, carried: frozenset[Path]) -> Iterator[Path]:
    """The columns that `apply_changes` adds to those of a model's SQL."""
    if node.config.materialized != "apply_changes":
        return
    names = {path[0] for path in carried}
    if names & {str(one).lower() for one in _option(node, "sequence_by") or ()}:
        yield (str(_option(node, "start_column") or "__START_AT").lower(),)
        yield (str(_option(node, "end_column") or "__END_AT").lower(),)
    condition = _option(node, "apply_as_deletes")
    if condition and read_by(f"select {condition} from changes", {"changes": carried})[0]:  # noqa: S608
        yield ("is_deleted",)


def _option(node: Any, name: str) -> Any:
    """An option of this project's macros, from `config` or its `meta` (`model_option`)."""
    return node.config[name] if name in set(node.config) else node.config.meta.get(name)
