"""What was measured, as tables that a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from live.latency import PARTS, Latency
from live.usage import MEMORY


@dataclass(frozen=True, slots=True)
class Ratio:
    """Seconds of a way and of the way by hand; `least` is the speed that is promised."""

    what: str
    seconds: float
    by_hand_seconds: float
    least: float | None = None

    @property
    def speed(self) -> float:
        """How fast it is, where the way by hand is 1."""
        return self.by_hand_seconds / self.seconds


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes in use after something."""

    what: str
    megabytes: float


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and Spark jobs of something; `at_most` are the seconds that are promised."""

    what: str
    seconds: float
    jobs: int | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """Events and changes a second that were made, MB that all took, and how old rows were.

    `promised`: seconds of the 95th percentile of the latencies that end so.
    """

    what: str
    rates: tuple[float, float]
    megabytes: float
    latencies: list[Latency]
    promised: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Read:
    """Files that a question reads, and how many bytes they have, beside the whole table's."""

    what: str
    files: int
    all_files: int
    megabytes: float
    all_megabytes: float


def show(ratios: list[Ratio]) -> None:
    """Print the ratios."""
    print(f"{'':60} {'seconds':>9} {'speed':>7} {'promised':>9}")
    for ratio in ratios:
        least = "" if ratio.least is None else f"{ratio.least:.2f}"
        print(f"{ratio.what:60} {ratio.seconds:9.2f} {ratio.speed:7.2f} {least:>9}")


def show_memory(found: list[Memory]) -> None:
    """Print what was in use."""
    for one in found:
        print(f"{one.what:60} {one.megabytes:6.0f} MB")


def show_reads(reads: list[Read]) -> None:
    """Print what is read."""
    print(f"{'':60} {'files':>13} {'MB':>15}")
    for one in reads:
        files = f"{one.files} of {one.all_files}"
        megabytes = f"{one.megabytes:.1f} of {one.all_megabytes:.1f}"
        print(f"{one.what:60} {files:>13} {megabytes:>15}")


def show_costs(costs: list[Cost]) -> None:
    """Print the costs."""
    print(f"{'':60} {'seconds':>9} {'jobs':>7} {'promised':>9}")
    for cost in costs:
        jobs = "" if cost.jobs is None else str(cost.jobs)
        at_most = "" if cost.at_most is None else f"{cost.at_most:.2f}"
        print(f"{cost.what:60} {cost.seconds:9.3f} {jobs:>7} {at_most:>9}")


def show_loads(loads: list[Load]) -> None:
    """Print how old rows were, by way and by the minute in which they were made."""
    names = [*(f"p{part * 100:.0f}" for part in PARTS), "most", "promised"]
    for load in loads:
        made = "{:,.0f} events and {:,.0f} changes a second".format(*load.rates)
        print(f"{load.what}: {made}, {load.megabytes:,.0f} MB at most of {MEMORY:,}")
        print(f"{'':60}" + "".join(f"{name:>9}" for name in names))
        for one in load.latencies:
            ends = [end for end in load.promised if one.what.endswith(end)]
            promised = f"{load.promised[ends[0]]:.0f}" if ends else ""
            told = "".join(f"{part:9.1f}" for part in one.parts)
            print(f"{one.what:60}{told}{promised and f'p95 {promised}':>9}")
            print(f"{'  p95 by minute':60}" + "".join(f"{part:9.1f}" for part in one.by_minute))
