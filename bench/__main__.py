"""`make bench`: every benchmark, or those named."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench import landing
from bench.report import show, show_memory
from ingest.session import session


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, help="folder to keep the generated files in")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = chosen.work or Path(temporary)
        spark = session("bench", str(work))
        show(landing.measure(spark, work, chosen.events, chosen.rounds))
        show_memory(landing.memory(spark, work, chosen.events))
        spark.stop()


if __name__ == "__main__":
    main()
