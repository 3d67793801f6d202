"""Output of commands: tables with colour on a terminal, plain when piped."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence

from ingest.errors import DeclarationInvalid, HeadwaterError

# Columns of a terminal that is wider than all tables.
_ANY = 10_000


def as_json(value: object) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def table(title: str, rows: Sequence[Mapping[str, object]], drop: Sequence[str] = ()) -> None:
    """Print rows as a table, or as a list where the terminal is too narrow; tab-separated if piped.

    No rows: nothing if piped, a line that says so on a terminal.
    """
    names = [name for name in (rows[0] if rows else {}) if name not in drop]
    texts = [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
    if not sys.stdout.isatty():
        for line in [names, *texts] if rows else []:
            sys.stdout.write("\t".join(line) + "\n")
        return
    if not rows:
        sys.stdout.write(f"No {title or 'rows'}.\n")
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    drawn = Table(title=title)
    for name in names:
        is_number = isinstance(rows[0][name], int | float)
        drawn.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for line in texts:
        drawn.add_row(*line)
    if console.measure(drawn, options=console.options.update(max_width=_ANY)).maximum <= (
        console.width
    ):
        console.print(drawn)
        return
    # As psql's expanded display: a row is a block, a column a line of it.
    widest = max(map(len, names))
    for line in texts:
        for name, text in zip(names, line, strict=True):
            sys.stdout.write(f"{name:{widest}}  {text}".rstrip() + "\n")
        sys.stdout.write("\n")


def line(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")


def error(failed: HeadwaterError) -> None:
    """Print an error as one line (declarations: one line each) on standard error."""
    if isinstance(failed, DeclarationInvalid):
        lines = [f"{place}: {reason}" for place, reason in failed.problems]
    else:
        lines = [str(failed)]
    for line in lines:
        sys.stderr.write(f"error[{failed.code}]: {' '.join(line.split())}\n")


def warning(text: str) -> None:
    """Print a warning on standard error."""
    sys.stderr.write(f"warning: {' '.join(text.split())}\n")


def step(text: str) -> None:
    """Say on a terminal's standard error what takes long next."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{text} ...\n")


def progress(text: str) -> None:
    """Say on standard error how far a command is that may take hours, as a log of it needs."""
    sys.stderr.write(f"{text}\n")


def logging_to_stderr() -> None:
    """Log what streams do, one line each."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", force=True
    )
    logging.getLogger("ingest").setLevel(logging.INFO)
