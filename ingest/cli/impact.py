"""`ingest check --against REVISION --data DAYS`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from ingest.cli import show
from ingest.errors import InputError
from ingest.trials.comparison import ColumnChange, TableChange
from ingest.trials.impact import Impact, impact


def check(revision: str | None, days: str, *, is_markdown: bool) -> None:
    """Print what changes. Raises InputError."""
    found = re.fullmatch(r"([1-9]\d*) ?d(?:ays?)?", days)
    if found is None:
        raise InputError(f"--data {days}: give days, such as 3d")
    if revision is None or revision == "registry":
        raise InputError("--data needs --against with a git revision, such as origin/main")
    show.step(f"comparing the dbt project with {revision}")
    changes = impact(revision, timedelta(days=int(found[1])), show.step)
    for line in as_markdown(changes) if is_markdown else as_text(changes):
        show.line(line)


def as_text(changes: Impact) -> Iterator[str]:
    """A line for each table, one for each of its columns that changes, and one an exposure."""
    if not changes.tables:
        yield "no model changes"
    for one in changes.tables:
        yield f"{one.table}: {_rows(one)}"
        for name, column in one.columns.items():
            yield f"  {name}: {_column(column)}"
    for name, read in changes.exposures.items():
        yield f"exposure {name}: {', '.join(read)}"


def as_markdown(changes: Impact) -> Iterator[str]:
    """A table of tables, and lists of columns and exposures."""
    if not changes.tables:
        yield "No model changes."
        return
    yield "| table | rows | what changes |"
    yield "|---|---|---|"
    for one in changes.tables:
        columns = "".join(
            f"<br>`{name}`: {_column(column)}" for name, column in one.columns.items()
        )
        yield f"| `{one.table}` | {one.after:,} | {_changes(one)}{columns} |"
    if changes.exposures:
        yield ""
        yield "Exposures that read these tables:"
        for name, read in changes.exposures.items():
            yield f"- **{name}** ({', '.join(read)})"


def _rows(one: TableChange) -> str:
    return f"{one.after:,} rows, {_changes(one)}"


def _changes(one: TableChange) -> str:
    if one.before is None:
        return "new"
    counts = ((one.added, "added"), (one.removed, "removed"), (one.changed, "changed"))
    said = [f"{count:,} {what}" for count, what in counts if count]
    if one.columns_added:
        said.append(f"new columns {', '.join(one.columns_added)}")
    if one.columns_removed:
        said.append(f"without columns {', '.join(one.columns_removed)}")
    return ", ".join(said) or "none changes"


def _column(change: ColumnChange) -> str:
    said = f"{change.rows:,} rows"
    if change.before is None or change.after is None:
        return said
    said += f", sum {change.before:,.10g} to {change.after:,.10g}"
    return f"{said} ({change.after / change.before - 1:+.2%})" if change.before else said
