"""`make demo`: a marketplace's day from raw files to tested gold, compared with the truth."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from demo import commands, summary
from demo.commands import Command, Finished
from demo.comparison import compared
from demo.lake import Lake, put_files
from demo.marketplace.day import AnotherDayLanded, generate, landed_before
from demo.marketplace.plan import SIZES, Plan, size_named
from ingest import settings
from ingest.errors import HeadwaterError


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders of one demonstration; `landing` and `lake` may be URLs."""

    project: Path
    landing: str
    lake: str
    truth: Path

    @property
    def written(self) -> Path:
        """Where the day's files are written, which are then put into the landing folder."""
        if settings.is_remote(self.landing):
            return self.project / "target" / "landing"
        return Path(self.landing)


@dataclass(slots=True, kw_only=True)
class Demo:
    """The steps of the demonstration, and how they ended."""

    plan: Plan
    places: Places
    console: Console
    steps: list[Finished] = field(default_factory=list)
    tests: Counter[str] = field(default_factory=Counter)

    def generate(self) -> None:
        """Write the day's files, unless they have landed. Raises AnotherDayLanded."""
        self._say(f"a marketplace's day (seed {self.plan.seed}, size {self.plan.events})")
        start = time.monotonic()
        written = self.places.written
        if landed_before(self.plan, written) and self._truth_is_known():
            self.console.print("Its files have landed before; nothing new is written.")
        else:
            told = generate(self.plan, written, self.places.truth)
            for stream, count in told["streams"].items():
                self.console.print(f"{stream}: {count['lines']:,} lines in {count['files']} files")
        if settings.is_remote(self.places.landing):
            self.console.print(f"to {self.places.landing}")
            put_files(written, self.places.landing)
        self._finish(Finished(name="generate", exit_code=0, seconds=time.monotonic() - start))

    def run(self) -> int:
        """Ingest, build and document; returns the first exit code that is not 0."""
        for command in (commands.INGEST, commands.BUILD, commands.DOCS):
            if code := self._run(command):
                return code
            if command is commands.BUILD:
                self.tests = commands.tests_of_last_build(self.places.project)
        return 0

    def show(self) -> int:
        """Say what came out; returns 1 if anything differs from the truth."""
        lake = Lake(self.places.lake)
        self.console.print()
        summary.show_rows(self.console, lake)
        different = summary.show_comparison(self.console, list(compared(self.places.truth, lake)))
        summary.show_steps(self.console, self.steps)
        summary.show_tests(self.console, self.tests)
        target = self.places.project / "target"
        summary.show_places(
            self.console,
            (
                ("Docs page", target / "static_index.html"),
                ("Tables", self.places.lake),
                ("Landed files", self.places.landing),
                ("Truth", self.places.truth / "truth.json"),
            ),
        )
        if different:
            self.console.print(f"{different} numbers differ from the truth.", style="bold red")
            return 1
        self.console.print("Every number equals the truth.", style="bold green")
        return 0

    def _run(self, command: Command) -> int:
        finished = commands.run(command, self.places.project, self._say)
        self._finish(finished)
        if finished.exit_code:
            told = f"{command.typed} ended with exit code {finished.exit_code}; stopped here."
            self.console.print(told, style="bold red")
        return finished.exit_code

    def _say(self, what: str) -> None:
        self.console.print(f"\n[bold]{what}[/bold]", highlight=False)
        # What follows may be a child's output, which must not overtake ours in a pipe.
        self.console.file.flush()

    def _finish(self, finished: Finished) -> None:
        self.steps.append(finished)

    def _truth_is_known(self) -> bool:
        path = self.places.truth / "truth.json"
        if not path.is_file():
            return False
        told = json.loads(path.read_text(encoding="utf-8"))
        asked = (self.plan.seed, self.plan.events, self.plan.parts, self.plan.last_part)
        return asked == (told["seed"], told["events"], told["parts"], told["last_part"])


def parser(*, with_help: bool = True) -> argparse.ArgumentParser:
    """The command line; `with_help` is off where it is a part of another one."""
    sizes = ", ".join(f"{name} = {events}" for name, events in SIZES.items())
    line = argparse.ArgumentParser(prog="python -m demo", description=__doc__, add_help=with_help)
    line.add_argument("--seed", type=int, default=7, help="which world (default 7)")
    line.add_argument("--size", default="small", help=f"application events, or {sizes}")
    return line


def play(seed: int, size: str, console: Console) -> int:
    """Returns 0, 1 if a number differs, 2 for a wrong request, or the code of a failed step."""
    try:
        project = settings.project_dir()
        demo = Demo(
            plan=Plan(seed=seed, events=size_named(size)),
            places=Places(
                project=project,
                landing=settings.landing(),
                lake=settings.lake(),
                truth=project / "target" / "truth",
            ),
            console=console,
        )
        demo.generate()
    except (ValueError, AnotherDayLanded, HeadwaterError) as problem:
        print(f"demo: {problem}", file=sys.stderr)
        return 2
    return demo.run() or demo.show()


def main() -> int:
    """Returns as `play`."""
    arguments = parser().parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140)
    return play(arguments.seed, arguments.size, console)


if __name__ == "__main__":
    sys.exit(main())
