"""Names in a query: which relation a reference means, and how far into a struct it goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from ingest.lineage.relations import Path, Relation


class Scope:
    """The relations that a query names."""

    def __init__(self) -> None:
        self.named: dict[str, Relation] = {}
        self.aliases: set[Path] = set()
        self._schemas: dict[str, str] = {}

    def add(self, written: exp.Expr, relation: Relation) -> None:
        """A relation under its alias, or its name."""
        name = written.alias_or_name.lower() or f"<{len(self.named)}>"
        self.named[name] = relation
        if isinstance(written, exp.Table) and written.db and not written.alias:
            self._schemas[name] = written.db.lower()

    def all(self) -> Iterable[Relation]:
        """All relations."""
        return self.named.values()

    def qualified(self, reference: Path) -> tuple[Relation, Path] | None:
        """The relation that a reference names, and the rest of it."""
        first, *rest = reference
        if rest and first in self.named:
            return self.named[first], tuple(rest)
        if len(rest) > 1 and self._schemas.get(rest[0]) == first:
            return self.named[rest[0]], tuple(rest[1:])
        return None


def renamed(reference: Path, name: str, scopes: tuple[Scope, ...]) -> Iterator[Path]:
    """What `reference as name` carries: of the nearest query that has such a column."""
    for scope in scopes:
        if found := scope.qualified(reference):
            yield from found[0].renamed(name, found[1])
            return
    for scope in scopes:
        relations = list(scope.all())
        there = [path for one in relations for path in one.renamed(name, reference)]
        if not there:
            there = list(Relation(frozenset(scope.aliases)).renamed(name, reference))
        yield from there
        if there or not all(one.lacks(reference[0]) for one in relations):
            return


def reference_of(expression: exp.Expr) -> Path | None:
    """The path that an expression is, if it is nothing but one."""
    inner = expression
    while isinstance(inner, exp.Dot | exp.Paren):
        inner = inner.this
    if not isinstance(inner, exp.Column) or isinstance(inner.this, exp.Star):
        return None
    return path_of(inner)


def path_of(column: exp.Column) -> Path:
    """A column's path, with what is taken out of it: fields, and keys of a JSON path."""
    path = [part.name.lower() for part in column.parts]
    inner: exp.Expr = column
    while isinstance(inner.parent, exp.Dot | exp.Bracket) and inner.arg_key == "this":
        inner = inner.parent
        if isinstance(inner, exp.Dot):
            path.append(inner.expression.name.lower())
    holder = inner.parent
    path_text = ""
    if isinstance(holder, exp.Anonymous) and holder.expressions[0] is inner:
        path_text = holder.expressions[1].name if len(holder.expressions) > 1 else ""
    if path_text.startswith("$."):
        # No further than the first part that is no plain name.
        path += path_text[2:].split("[")[0].lower().split(".")
    return tuple(path)
