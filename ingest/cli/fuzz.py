"""`ingest fuzz`."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ingest.cli import show
from ingest.trials.fuzz import Equal, Failed, Found, NoRows, Tried, tried

# Of each kind: what a person looks at first.
_SHOWN = 5
# Letters of a row.
_WIDTH = 200


def run(models: Sequence[str], cases: int, seed: int) -> None:
    """Print what was found; exit code 1 where a case differs or fails, 2 where a name had no rows.

    Raises InputError where a model cannot be tried.
    """
    show.step("reading the dbt project and starting Spark")
    found = []
    for model, outcome in tried(models, cases, seed, show.progress):
        found.append(outcome)
        for line in _lines(model, outcome, models, cases):
            show.line(line)
    if any(isinstance(one, Failed | Found) for one in found):
        raise typer.Exit(1)
    if models and any(isinstance(one, NoRows) for one in found):
        raise typer.Exit(2)


def _lines(model: str, found: Tried, models: Sequence[str], cases: int) -> list[str]:
    if isinstance(found, Equal):
        of_cases = f"{cases} case" if cases == 1 else f"{cases} cases"
        with_rows = f", {found.with_rows} with rows" if found.with_rows < cases else ""
        return [f"{model}: {of_cases}{with_rows}; increments equal a full refresh in each"]
    if isinstance(found, NoRows):
        tables = ", ".join(found.bronze)
        why = f"see what is selected of {tables}, or try more --cases"
        return [f"{model}: had no rows in any case: nothing was compared; {why}"]
    again = " ".join(["ingest fuzz", *models, f"--cases 1 --seed {found.seed}"])
    if isinstance(found, Failed):
        return [f"{model}: {found.error} ({again})"]
    return _difference(model, found, again)


def _difference(model: str, found: Found, again: str) -> list[str]:
    difference = found.difference
    lines = [f"{model}: increments differ from a full refresh in {difference.table} ({again})"]
    kinds = (("increments only", difference.increments), ("full refresh only", difference.refresh))
    for name, rows in kinds:
        shown = list(rows.items())[:_SHOWN]
        lines += [
            f"  {name}: {_short(row)}" + (f" ({times} times)" if times > 1 else "")
            for row, times in shown
        ]
        if len(rows) > _SHOWN:
            lines.append(f"  {name}: {len(rows) - _SHOWN} rows more")
    lines.append("the smallest input found:")
    for part, arrived in found.rows.items():
        null = f", {part.null} null" if part.null else ""
        lines.append(f"  build {part.build + 1}: {len(arrived)} of bronze.{part.table}{null}")
        lines += [f"    {_short(row)}" for row in arrived[:_SHOWN]]
    return lines


def _short(row: str) -> str:
    return row if len(row) <= _WIDTH else f"{row[:_WIDTH]} …"
