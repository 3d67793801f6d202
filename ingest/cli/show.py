"""Output of commands: tables with colour on a terminal, plain when piped."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence

from ingest.errors import DeclarationInvalid, HeadwaterError


def as_json(value: object) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def table(title: str, rows: Sequence[Mapping[str, object]], drop: Sequence[str] = ()) -> None:
    """Print rows as a table; tab-separated when piped."""
    names = [name for name in (rows[0] if rows else {}) if name not in drop]
    texts = [["" if row[name] is None else str(row[name]) for name in names] for row in rows]
    if not sys.stdout.isatty():
        for line in [names, *texts]:
            sys.stdout.write("\t".join(line) + "\n")
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title)
    for name in names:
        is_number = bool(rows) and isinstance(rows[0][name], int | float)
        drawn.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for line in texts:
        drawn.add_row(*line)
    Console().print(drawn)


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


def logging_to_stderr() -> None:
    """Log what streams do, one line each."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S", force=True
    )
    logging.getLogger("ingest").setLevel(logging.INFO)
