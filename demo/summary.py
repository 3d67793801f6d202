"""What came out, as tables that a person can read; plain text when piped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from demo.lake import LAYERS, Lake, TableUnreadable

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.console import Console

    from demo.commands import Finished
    from demo.comparison import Comparison

DIFFERENCES_SHOWN = 20


def show_rows(console: Console, lake: Lake) -> None:
    """Rows of every table, layer by layer, and what is in quarantine and why."""
    rows = Table("layer", "table", title="Rows", title_justify="left")
    rows.add_column("rows", justify="right")
    reasons = Table("stream", "reason", title="Quarantine", title_justify="left")
    reasons.add_column("records", justify="right")
    for layer in LAYERS:
        for name in lake.tables(layer):
            if name.endswith("__quarantine"):
                _add_reasons(reasons, lake, name)
            else:
                rows.add_row(layer, name, _count(lake, f"{layer}.{name}"))
        rows.add_section()
    console.print(rows)
    console.print(reasons if reasons.row_count else "Quarantine is empty.")


def show_steps(console: Console, steps: Iterable[Finished]) -> None:
    """How long each step took."""
    table = Table("step", title="Time", title_justify="left")
    table.add_column("seconds", justify="right")
    total = 0.0
    for step in steps:
        total += step.seconds
        table.add_row(step.name, f"{step.seconds:.1f}")
    table.add_section()
    table.add_row("all", f"{total:.1f}")
    console.print(table)


def show_comparison(console: Console, comparisons: Sequence[Comparison]) -> int:
    """The truth beside the tables; returns how many numbers differ."""
    table = Table("table", "compared with the truth", title="Truth", title_justify="left")
    table.add_column("numbers", justify="right")
    table.add_column("truth", justify="right")
    table.add_column("found", justify="right")
    table.add_column("result")
    differences: list[str] = []
    for each in comparisons:
        own = each.differences
        differences += own
        verdict = f"[red]{len(own)} different[/red]" if own else "[green]equal[/green]"
        numbers = max(1, len(each.expected.keys() | each.found.keys()))
        expected, found = sum(each.expected.values()), sum(each.found.values())
        table.add_row(each.table, each.what, f"{numbers}", f"{expected:,}", f"{found:,}", verdict)
    console.print(table)
    for line in differences[:DIFFERENCES_SHOWN]:
        console.print(line, style="red", markup=False, highlight=False)
    if len(differences) > DIFFERENCES_SHOWN:
        console.print(f"... and {len(differences) - DIFFERENCES_SHOWN} more", style="red")
    return len(differences)


def show_tests(console: Console, tests: Counter[str]) -> None:
    """How many dbt tests passed, and how the others ended."""
    others = ", ".join(f"{n} {status}" for status, n in sorted(tests.items()) if status != "pass")
    passed = f"Tests: {tests['pass']} passed"
    console.print(f"{passed}, {others}" if others else passed, highlight=False)


def show_places(console: Console, places: Iterable[tuple[str, str | Path]]) -> None:
    """Where to look next."""
    for what, path in places:
        console.print(f"{what}: {path}", soft_wrap=True, highlight=False, markup=False)


def _count(lake: Lake, table: str) -> str:
    try:
        return f"{lake.count(table):,}"
    except TableUnreadable as unreadable:
        return f"unreadable ({unreadable})"


def _add_reasons(reasons: Table, lake: Lake, name: str) -> None:
    sql = "select _reason_code as code, count(*) as n from this group by 1 order by 2 desc, 1"
    try:
        rows = lake.rows(sql, f"bronze.{name}")
    except TableUnreadable as unreadable:
        reasons.add_row(name, f"unreadable ({unreadable})", "")
        return
    for row in rows:
        reasons.add_row(name.removesuffix("__quarantine"), row["code"], f"{row['n']:,}")
