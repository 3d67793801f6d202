"""The tests that took longest, from the reports that pytest's groups wrote (JUnit XML)."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

_MOST = 10


def slowest(folder: Path) -> list[tuple[float, str]]:
    """Seconds and name of each, set-up included, longest first."""
    found: list[tuple[float, str]] = []
    for report in folder.glob("*.xml"):
        # Our own tests wrote it.
        for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314
            name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
            found.append((float(case.get("time", 0)), name))
    return sorted(found, reverse=True)[:_MOST]


def main() -> None:
    """Print them."""
    print("The tests that took longest:")
    for seconds, name in slowest(Path(sys.argv[1])):
        print(f"{seconds:7.1f} s  {name}")


if __name__ == "__main__":
    main()
