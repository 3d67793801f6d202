"""`make bench`: every benchmark, or those named."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from bench import changes, landing
from bench.report import show
from ingest.session import session


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--only", choices=("landing", "changes"), help="one benchmark")
    parser.add_argument("--work", type=Path, help="folder to keep the generated files in")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = chosen.work or Path(temporary)
        spark = session("bench", str(work))
        if chosen.only != "changes":
            show(landing.measure(spark, work, chosen.events, chosen.rounds))
        if chosen.only != "landing":
            show(changes.measure(spark, chosen.rows, 50_000))
        spark.stop()


if __name__ == "__main__":
    main()
