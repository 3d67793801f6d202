"""How the rows of a table differ between two builds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ingest.spark.sql import quoted
from ingest.trials.frames import as_json, json_of, shown_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Columns of a sum before and after.
_SIDES = ("before", "after")
# Types whose sums a person understands.
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """In how many rows a column changes; its sums before and after, of a number."""

    rows: int
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChange:
    """How the rows of a table change.

    `changed` counts rows whose key stays; without a key a changed row is one removed and one added.
    `before` is None of a table that the revision does not have.
    """

    table: str
    before: int | None
    after: int
    added: int = 0
    removed: int = 0
    changed: int = 0
    columns: Mapping[str, ColumnChange] = field(default_factory=dict)
    columns_added: Sequence[str] = ()
    columns_removed: Sequence[str] = ()

    @property
    def is_none(self) -> bool:
        """Whether readers see no difference."""
        seen = (self.added, self.removed, self.changed, self.columns_added, self.columns_removed)
        return self.before is not None and not any(seen)


def compared(
    table: str, before: DataFrame | None, after: DataFrame, key: Sequence[str]
) -> TableChange:
    """How the rows of a table change: by a key where that is one, otherwise whole rows."""
    if before is None:
        return TableChange(table=table, before=None, after=after.count())
    old, new = shown_columns(before), shown_columns(after)
    common = [one for one in old if one in new]
    whole = TableChange(
        table=table,
        before=before.count(),
        after=after.count(),
        columns_added=[one for one in new if one not in old],
        columns_removed=[one for one in old if one not in new],
    )
    if key and _is_key(before, whole.before, key) and _is_key(after, whole.after, key):
        return _by_key(whole, before, after, key, [one for one in common if one not in key])
    ours, theirs = (as_json(one.select(*map(quoted, common))) for one in (after, before))
    added, removed = ours.exceptAll(theirs).count(), theirs.exceptAll(ours).count()
    return replace(whole, added=added, removed=removed)


def _is_key(frame: DataFrame, rows: int | None, key: Sequence[str]) -> bool:
    """Whether rows have columns that no two have the same values of; a null is one, too."""
    if not set(key) <= set(frame.columns):
        return False
    return frame.select(*map(quoted, key)).distinct().count() == rows


def _by_key(
    whole: TableChange,
    before: DataFrame,
    after: DataFrame,
    key: Sequence[str],
    columns: Sequence[str],
) -> TableChange:
    numbers = _numbers(before) & _numbers(after)
    joined = _joined(before, after, key, columns)
    [found] = joined.selectExpr(*_counts(columns, numbers)).collect()
    changes = {}
    for number, name in enumerate(columns):
        if rows := found[f"rows_{number}"]:
            sums = [found[f"{side}_{number}"] for side in _SIDES] if name in numbers else []
            changes[name] = ColumnChange(rows, *sums)
    return replace(
        whole,
        added=found["added"],
        removed=found["removed"],
        changed=found["changed"],
        columns=changes,
    )


def _numbers(frame: DataFrame) -> set[str]:
    return {name for name, kind in frame.dtypes if kind.split("(")[0] in _NUMBERS}


def _joined(
    before: DataFrame, after: DataFrame, key: Sequence[str], columns: Sequence[str]
) -> DataFrame:
    """Rows side by side, by key: structs `b` and `a`; null where the other has none."""
    fields = ", ".join(quoted(one) for one in (*key, *columns))
    old = before.selectExpr(f"struct({fields}) as b")
    new = after.selectExpr(f"struct({fields}) as a")
    same = " and ".join(f"b.{quoted(one)} <=> a.{quoted(one)}" for one in key)
    return old.join(new, F.expr(same), "full_outer")


def _counts(columns: Sequence[str], numbers: Set[str]) -> Iterator[str]:
    yield "coalesce(count_if(b is null), 0) as added"
    yield "coalesce(count_if(a is null), 0) as removed"
    # As JSON, for a map or a variant compares with nothing.
    texts = [json_of([f"{side}.{quoted(one)}"]) for one in columns for side in "ba"]
    differ = [
        f"not ({one} <=> {other})" for one, other in zip(texts[::2], texts[1::2], strict=True)
    ]
    both = "a is not null and b is not null"
    yield f"count_if({both} and ({' or '.join(differ) or 'false'})) as changed"
    for number, name in enumerate(columns):
        yield f"count_if({both} and {differ[number]}) as rows_{number}"
        if name in numbers:
            yield f"sum(cast(b.{quoted(name)} as double)) as before_{number}"
            yield f"sum(cast(a.{quoted(name)} as double)) as after_{number}"
