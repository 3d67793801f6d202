"""What a query reads of some columns, and which of its own columns come from them.

A star passes columns on and reads none; what is named is read, wherever it stands. So a model
that names a column breaks without it, and one that only selects `*` has it in its table. No
schema is needed: a column that is asked for exists, so a bare name is its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ingest.lineage.relations import Path, Relation, Unresolvable, united
from ingest.lineage.scopes import Scope, path_of, reference_of, renamed

Tables = Mapping[str, frozenset[Path]]


def table_name(text: str) -> str:
    """A table's name as it is compared: schema and name, in lower case, without quotes."""
    return ".".join(part.strip('`"').lower() for part in text.split(".")[-2:])


def read_by(sql: str, tables: Tables) -> tuple[bool, frozenset[Path]]:
    """Whether a query reads a column that `tables` carry, and what its own columns carry.

    Raises Unresolvable.
    """
    query = _parsed(sql)
    reading = _Reading(tables)
    carried = reading.query(query, {}, ()).carried
    return reading.is_read or bool(carried), carried


@lru_cache(maxsize=10_000)
def _parsed(sql: str) -> exp.Query:
    try:
        query = sqlglot.parse_one(sql, dialect="spark")
    except (SqlglotError, RecursionError) as error:
        raise Unresolvable(str(error).splitlines()[0]) from error
    if not isinstance(query, exp.Query):
        raise Unresolvable(f"{query.key} is no query")
    return query


class _Reading:
    """One query being read; `is_read` once a column is named."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.is_read = False

    def query(
        self, query: exp.Expr, known: Mapping[str, Relation], around: tuple[Scope, ...]
    ) -> Relation:
        """What a query carries; `known` are CTEs, `around` the queries that it stands in."""
        known = {**known}
        clause = query.args.get("with_")
        if clause is not None and clause.args.get("recursive"):
            raise Unresolvable("it has a recursive CTE")
        for cte in clause.expressions if clause is not None else ():
            known[cte.alias.lower()] = self._aliased(self.query(cte.this, known, around), cte)
        if isinstance(query, exp.Subquery):
            return self._aliased(self.query(query.this, known, around), query)
        if isinstance(query, exp.SetOperation):
            left = self.query(query.left, known, around)
            right = self.query(query.right, known, around)
            if isinstance(query, exp.Union):
                return united(left, right)
            # What is taken away, or looked for, is not passed on.
            self.is_read |= bool(right.carried)
            return left
        if isinstance(query, exp.Select):
            return self._select(query, known, around)
        if isinstance(query, exp.Table):
            return self._table(query, known)
        raise Unresolvable(f"{query.key} is not understood")

    def _select(
        self, select: exp.Select, known: Mapping[str, Relation], around: tuple[Scope, ...]
    ) -> Relation:
        scope = Scope()
        scopes = (scope, *around)
        origin = select.args.get("from_")
        if origin is not None:
            scope.add(origin.this, self._origin(origin.this, known, scopes))
        for join in select.args.get("joins") or ():
            self._join(join, scope, known, scopes)
        for lateral in select.args.get("laterals") or ():
            scope.add(lateral, self._lateral(lateral, known, scopes))
        carried, names = self._projections(select, scope, known, scopes)
        for name, part in select.args.items():
            if name not in ("expressions", "from_", "joins", "laterals", "with_"):
                for one in part if isinstance(part, list) else [part]:
                    self._reads(one, known, scopes)
        return Relation(frozenset(carried), names)

    def _join(
        self,
        join: exp.Join,
        scope: Scope,
        known: Mapping[str, Relation],
        scopes: tuple[Scope, ...],
    ) -> None:
        relation = self._origin(join.this, known, scopes)
        if join.method == "NATURAL" and any(one.carried for one in (relation, *scope.all())):
            raise Unresolvable("it has a natural join")
        is_shown = join.kind not in ("SEMI", "ANTI")
        scope.add(join.this, Relation(relation.carried, relation.names, is_shown))
        for using in join.args.get("using") or ():
            path = (using.name.lower(),)
            self.is_read |= any(any(one.touched(path)) for one in scope.all())
        self._reads(join.args.get("on"), known, scopes)

    def _origin(
        self, origin: exp.Expr, known: Mapping[str, Relation], scopes: tuple[Scope, ...]
    ) -> Relation:
        if isinstance(origin, exp.Lateral):
            return self._lateral(origin, known, scopes)
        if isinstance(origin, exp.Subquery) or isinstance(origin.this, exp.Identifier):
            relation = self.query(origin, known, scopes[1:])
            if relation.carried and origin.args.get("pivots"):
                raise Unresolvable("it pivots")
            return relation
        if self._reads(origin, known, scopes):
            raise Unresolvable(f"{origin.key} is not understood")
        return Relation()

    def _table(self, table: exp.Table, known: Mapping[str, Relation]) -> Relation:
        if table.args.get("joins"):
            raise Unresolvable("it joins in parentheses")
        if not table.db and table.name.lower() in known:
            relation = known[table.name.lower()]
        else:
            name = table_name(f"{table.db}.{table.name}" if table.db else table.name)
            relation = Relation(self._tables.get(name, frozenset()))
        return self._aliased(relation, table)

    def _lateral(
        self, lateral: exp.Lateral, known: Mapping[str, Relation], scopes: tuple[Scope, ...]
    ) -> Relation:
        """Rows of a value: all their columns come from it."""
        if isinstance(lateral.this, exp.Subquery):
            return self._aliased(self.query(lateral.this, known, scopes), lateral)
        is_read = self._reads(lateral.this, known, scopes)
        alias = lateral.args.get("alias")
        columns = tuple(one.name.lower() for one in (alias.columns if alias else ()))
        if is_read and not columns:
            raise Unresolvable(f"columns without names: {lateral.sql('spark')}")
        return Relation(frozenset((one,) for one in columns if is_read), columns)

    @staticmethod
    def _aliased(relation: Relation, written: exp.Expr) -> Relation:
        """A relation under the names that `as t (a, b)` gives its columns."""
        alias = written.args.get("alias")
        columns = [one.name.lower() for one in (alias.columns if alias else ())]
        if not columns:
            return relation
        if relation.names is None and relation.carried:
            raise Unresolvable(f"names for columns that a star hides: {', '.join(columns)}")
        places = dict(zip(relation.names or (), columns, strict=False))
        carried = frozenset((places[path[0]], *path[1:]) for path in relation.carried)
        return Relation(carried, tuple(columns))

    def _projections(
        self,
        select: exp.Select,
        scope: Scope,
        known: Mapping[str, Relation],
        scopes: tuple[Scope, ...],
    ) -> tuple[set[Path], tuple[str, ...] | None]:
        carried: set[Path] = set()
        names: list[str] | None = []
        for number, one in enumerate(select.expressions):
            if _is_star(one):
                passed = self._starred(one, known, scopes)
                carried |= passed.carried
                is_known = names is not None and passed.names is not None
                names = [*(names or ()), *(passed.names or ())] if is_known else None
                continue
            inner = one.unalias()
            reference = reference_of(inner)
            is_read = self._reads(inner, known, scopes)
            name = (one.alias_or_name or f"<{number}>").lower()
            if reference is not None:
                found = set(renamed(reference, name, scopes))
            else:
                found = {(name,)} if is_read else set()
            carried |= found
            # A later projection may name it (lateral column aliases).
            scope.aliases |= found
            if names is not None:
                names.append(name)
        return carried, None if names is None else tuple(names)

    def _starred(
        self,
        star: exp.Expr,
        known: Mapping[str, Relation],
        scopes: tuple[Scope, ...],
    ) -> Relation:
        clause = star.this if isinstance(star, exp.Column) else star
        of = path_of(star)[:-1] if isinstance(star, exp.Column) else ()
        relations = _starred_relations(of, scopes)
        left_out = [one.name.lower() for one in clause.args.get("except_") or ()]
        for name in left_out:
            self.is_read |= any(any(one.touched((name,))) for one in relations)
        passed = [one.without(left_out) for one in relations]
        carried = frozenset(path for one in passed for path in one.carried)
        if clause.args.get("replace") or clause.args.get("rename"):
            for one in (*(clause.args.get("replace") or ()), *(clause.args.get("rename") or ())):
                if self._reads(one, known, scopes):
                    raise Unresolvable("a star that replaces or renames")
        names: tuple[str, ...] | None = ()
        for one in passed:
            is_known = names is not None and one.names is not None
            names = (*(names or ()), *(one.names or ())) if is_known else None
        return Relation(carried, names)

    def _reads(self, part: Any, known: Mapping[str, Relation], scopes: tuple[Scope, ...]) -> bool:
        """Whether an expression reads a column that is carried; subqueries are read, too."""
        if not isinstance(part, exp.Expr):
            return False
        is_read = False
        for node in part.walk(prune=lambda one: isinstance(one, exp.Query)):
            if isinstance(node, exp.Query):
                carried = self.query(node, known, scopes).carried
                is_read |= bool(carried) and not isinstance(node.parent, exp.Exists)
            elif isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
                of = path_of(node.parent)[:-1] if isinstance(node.parent, exp.Column) else ()
                is_read |= any(one.carried for one in _starred_relations(of, scopes))
            elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                is_read |= any(renamed(path_of(node), "", scopes))
        self.is_read |= is_read
        return is_read


def _is_star(projection: exp.Expr) -> bool:
    if isinstance(projection, exp.Column):
        projection = projection.this
    return isinstance(projection, exp.Star)


def _starred_relations(of: Path, scopes: tuple[Scope, ...]) -> list[Relation]:
    """What `of.*` stands for: a relation, or the fields of a struct; without a name, all."""
    if not of:
        return [one for one in scopes[0].all() if one.is_shown]
    for scope in scopes:
        if len(of) == 1 and of[0] in scope.named:
            return [scope.named[of[0]]]
    inside = [path[1:] for path in renamed(of, "", scopes)]
    if () in inside:
        raise Unresolvable(f"fields of {'.'.join(of)}")
    return [Relation(frozenset(inside))]
