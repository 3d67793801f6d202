"""`make bench`: every benchmark, or those named."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from bench import builds, changes, kafka, landing, live, scaling, types
from bench.report import show, show_costs, show_loads, show_memory, show_reads
from ingest.spark.session import session


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "only",
        nargs="*",
        metavar="landing|types|kafka|live|builds|changes|scaling",
        help="default: all but scaling",
    )
    parser.add_argument("--events", type=int, default=1_000_000, help="of landing, types and kafka")
    parser.add_argument("--events-a-day", type=int, default=100_000, help="of builds")
    parser.add_argument("--rows", type=int, default=5_000_000, help="of changes")
    parser.add_argument("--rate", type=float, default=8_000, help="events a second, of live")
    parser.add_argument("--changes", type=float, default=500, help="row changes a second, of live")
    parser.add_argument("--warm-up", type=float, default=180, help="seconds of live")
    parser.add_argument("--seconds", type=float, default=120, help="that count, of live")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, help="folder to keep the generated files in")
    chosen = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} cores")
    with tempfile.TemporaryDirectory() as temporary:
        work = chosen.work or Path(temporary)
        if "landing" in (chosen.only or ["landing"]):
            spark = session("bench", str(work))
            show(landing.measure(spark, work, chosen.events, chosen.rounds))
            show_memory(landing.memory(spark, work, chosen.events))
            spark.stop()
        if "types" in (chosen.only or ["types"]):
            spark = session("bench", str(work))
            show(types.measure(spark, work, chosen.events, chosen.rounds))
            show_reads(types.reads(spark, work))
            show_costs(types.variations(spark, work, chosen.rounds))
            show_costs(types.tables(spark, work, chosen.events // 20))
            spark.stop()
        if "kafka" in (chosen.only or ["kafka"]):
            spark = session("bench", str(work))
            show(kafka.measure(spark, work, chosen.events, chosen.rounds))
            spark.stop()
        if "live" in (chosen.only or ["live"]):
            times = chosen.warm_up, chosen.seconds
            show_loads(live.measure(work, chosen.rate, chosen.changes, *times))
        if "builds" in (chosen.only or ["builds"]):
            show_costs(builds.measure(work, chosen.events_a_day, chosen.rounds))
        if "changes" in (chosen.only or ["changes"]):
            spark = session("bench", str(work))
            show(changes.measure(spark, chosen.rows, 50_000, chosen.rounds))
            spark.stop()
        if "scaling" in chosen.only:
            show_costs(scaling.executors(work, chosen.events, chosen.rounds))
            show_costs(scaling.growth(work, chosen.events, chosen.rounds))
            costs, memory = scaling.listings()
            show_costs(costs)
            show_memory(memory)


if __name__ == "__main__":
    main()
