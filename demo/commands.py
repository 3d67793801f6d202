"""The commands that a newcomer would type, run one after the other with their output in view."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command, as typed and as run with this environment's own programs."""

    typed: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a step ended, and how long it took."""

    name: str
    exit_code: int
    seconds: float


_DBT: Final = str(Path(sys.executable).with_name("dbt"))
INGEST: Final = Command(typed="ingest run", arguments=(sys.executable, "-m", "ingest", "run"))
BUILD: Final = Command(typed="dbt build", arguments=(_DBT, "build"))
DOCS: Final = Command(
    typed="dbt docs generate --static", arguments=(_DBT, "docs", "generate", "--static")
)


def run(command: Command, folder: Path, say: Callable[[str], None]) -> Finished:
    """Run one command in the project's folder; it writes to this process's own terminal."""
    say(command.typed)
    start = time.monotonic()
    arguments = list(command.arguments)
    if arguments[0] == _DBT and not sys.stdout.isatty():
        # dbt colours its lines in a pipe, too.
        arguments.insert(1, "--no-use-colors")
    ended = subprocess.run(arguments, cwd=folder, check=False)
    return Finished(
        name=command.typed, exit_code=ended.returncode, seconds=time.monotonic() - start
    )


def tests_of_last_build(folder: Path) -> Counter[str]:
    """How the tests of the last dbt command ended: `pass`, `fail`, `warn`, `error`, `skipped`."""
    path = folder / "target" / "run_results.json"
    results: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["results"]
    kinds = ("test.", "unit_test.")
    return Counter(each["status"] for each in results if each["unique_id"].startswith(kinds))
