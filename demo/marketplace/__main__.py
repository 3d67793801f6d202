"""`python -m demo.marketplace`: write a marketplace's day, or the next part of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from demo.marketplace.day import AnotherDayLanded, generate
from demo.marketplace.plan import SIZES, Plan, size_named


def plan_of(arguments: argparse.Namespace) -> Plan:
    """The plan that the command line asks for; `--part 2/3` is the second third of the day."""
    part, _, parts = (arguments.part or "1/1").partition("/")
    first, _, last = part.partition("-")
    return Plan(
        seed=arguments.seed,
        events=size_named(arguments.size),
        parts=int(parts),
        first_part=int(first),
        last_part=int(last or first),
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    sizes = ", ".join(f"{name} = {events}" for name, events in SIZES.items())
    line = argparse.ArgumentParser(prog="python -m demo.marketplace", description=__doc__)
    line.add_argument("--seed", type=int, default=7, help="which world (default 7)")
    line.add_argument("--size", default="small", help=f"application events, or {sizes}")
    line.add_argument("--landing", type=Path, required=True, help="folder for the files")
    line.add_argument("--truth", type=Path, required=True, help="folder for the truth about them")
    line.add_argument("--part", metavar="I/K or I-J/K", help="only these of K spans of the day")
    return line


def main() -> int:
    """Returns 0, or 2 for a wrong request."""
    arguments = parser().parse_args()
    try:
        truth = generate(plan_of(arguments), arguments.landing, arguments.truth)
    except (ValueError, AnotherDayLanded) as problem:
        print(problem, file=sys.stderr)
        return 2
    for stream, count in truth["streams"].items():
        print(f"{stream}: {count['lines']} lines in {count['files']} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
