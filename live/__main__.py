"""`make live`: the whole stack, a marketplace at work, `ingest serve`, and a table of it all."""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live

from ingest import settings
from ingest.client_properties import schema_registry_properties
from ingest.errors import HeadwaterError
from ingest.runtime.progress import StreamProgress
from ingest.stack.postgres import address
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake
from live.board import STREAMS, Board
from live.events import TOPICS, Applications
from live.latency import is_up_to_date, latencies
from live.parts import CLIENT_ERRORS, Parts
from live.server import Server, serving
from live.shop import Shop
from live.truth import compared, has_read_all, is_confirmed, is_followed, position_of
from live.usage import MEMORY, Usage
from live.wishes import Wishes

# Seconds in which all that was produced has landed, once nothing more comes.
_TO_CATCH_UP = 900.0
# Seconds in which the streams begin, of the first play: Spark, connector, snapshot.
_TO_BEGIN = 400.0
# Seconds between two looks at memory and cores.
_LOOK_EVERY = 5.0


def main() -> int:
    """Returns 0, 1 if a number differs from the truth or a part fails, 2 for a wrong request.

    Who asks it to stop before it has begun, or once more before it has compared, gets 0, too.
    """
    line = argparse.ArgumentParser(prog="python -m live", description=__doc__)
    line.add_argument("--seconds", type=float, help="stop after so many seconds")
    line.add_argument("--rate", type=float, default=2_000, help="events a second (2000)")
    line.add_argument("--changes", type=float, default=100, help="row changes a second (100)")
    line.add_argument(
        "--warm-up", type=float, default=0, help="seconds without latency figures (0)"
    )
    line.add_argument("--seed", type=int, default=7, help="seed of the marketplace (7)")
    line.add_argument(
        "--kills",
        type=int,
        default=0,
        help="kills of ingest serve: at random, and once at each step of a batch's writes, which "
        "takes longer than --seconds (0)",
    )
    chosen = line.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 140)
    wishes = Wishes()
    wishes.hear()
    # A lost database is told of once, by its name.
    logging.getLogger("psycopg").setLevel(logging.ERROR)
    os.environ.setdefault("HEADWATER_LAKE", "lake-live")
    # Its streams and models are part of the project only while it plays.
    os.environ["HEADWATER_LIVE"] = "true"
    try:
        lake = Lake(settings.lake())
        stack = Stack(lake)
        with _up(stack, console), wishes.bounded(), Parts(stack).named():
            return 0 if wishes.count else _play(lake, stack, chosen, wishes, console)
    except HeadwaterError as problem:
        print(f"live: {problem}", file=sys.stderr)
        return problem.exit_code
    except KeyboardInterrupt:
        console.print("Stopped; nothing was compared.")
        return 0


@contextmanager
def _up(stack: Stack, console: Console) -> Iterator[None]:
    there = {one.service for one in stack.status() if one.state == "running"}
    try:
        stack.up(console.print)
        yield
    finally:
        # Somebody else may use what ran before.
        ours = [name for name in stack.services if name not in there]
        if ours:
            stack.down(console.print, only=ours)


def _play(
    lake: Lake, stack: Stack, chosen: argparse.Namespace, wishes: Wishes, console: Console
) -> int:
    database = address(int(stack.address("postgres").rpartition(":")[2]))
    shop = Shop(database, chosen.changes, random.Random(chosen.seed))
    applications = Applications(
        stack.address("kafka"),
        schema_registry_properties(lake),
        chosen.rate,
        random.Random(chosen.seed),
        # A batch that fits at first sight has no second write to be killed at.
        has_odd=chosen.kills > 0,
    )
    shop.open()
    applications.open()
    board, watch = Board(lake), Parts(stack)
    server = Server(
        Path(lake.local.root, "_logs", "serve.log"), chosen.kills, random.Random(chosen.seed)
    )
    console.print(f"Starting ingest serve; its log: {server.log}", highlight=False)
    console.print(f"sql: jdbc:hive2://127.0.0.1:{server.port}", highlight=False)
    with serving(server):
        if not _is_ready(database, board, server, wishes, watch):
            if wishes.count:
                wishes.cut_short()
                return 0
            console.print("ingest serve ended or did not start.", style="bold red")
            return 1
        measured = time.time() + chosen.warm_up
        usage = Usage(since=measured)
        parts = {one.service: one.pid for one in stack.status() if one.pid}

        def look() -> None:
            watch.refuse_loss()
            own = {"ingest serve": server.process.pid, "the marketplace": os.getpid()}
            usage.look(parts | own)

        until = server, wishes, chosen.seconds
        seconds = _work((shop, applications), board, until, console, look)
        made = applications.acknowledged
        produced = {topic: applications.before[topic] + made[topic] for topic in TOPICS}
        rates = made.total() / seconds, shop.changes / seconds
        console.print(f"Made: {made.total():,} events, {shop.changes:,} row changes.")
        console.print("That is {:,.0f} and {:,.0f} a second.".format(*rates), highlight=False)
        if chosen.kills:
            console.print(_told_of_kills(server), highlight=False, soft_wrap=True)
        if applications.refused:
            console.print(f"{applications.refused:,} events were refused by the broker.")
        _caught_up(database, stack.address("kafka"), board, server, watch)
    totals = board.totals()
    console.print(board.table())
    for one in latencies(lake.root, measured):
        console.print(one.text, highlight=False, soft_wrap=True)
    told = ", ".join(f"{name} {size:,.0f}" for name, size in usage.memory.items())
    total = sum(usage.memory.values())
    console.print(f"Memory at its most: {total:,.0f} MB of {MEMORY:,} ({told}).", highlight=False)
    if not server.kills:
        # What a killed process has taken is gone with it.
        told = ", ".join(f"{name} {cores:.2f}" for name, cores in usage.cores.items())
        console.print(f"Cores: {sum(usage.cores.values()):.2f} ({told}).", highlight=False)
    quarantined = {one.stream: one.quarantined for one in totals.values()}
    different = 0
    for row in compared(lake.root, database, produced, quarantined):
        different += not row.is_same
        mark = "" if row.is_same else "   DIFFERENT"
        console.print(f"{row.what}: {row.truth} = {row.landed}{mark}", highlight=False)
    if different or server.process.returncode:
        console.print(f"{different} numbers differ from the truth.", style="bold red")
        return 1
    console.print("Every number equals the truth.", style="bold green")
    return 0


def _is_ready(database: str, board: Board, server: Server, wishes: Wishes, watch: Parts) -> bool:
    """Wait until all streams run and the database is followed: so changes come as changes."""
    until = time.monotonic() + _TO_BEGIN
    while not server.has_ended() and not wishes.count and time.monotonic() < until:
        watch.look()
        states = {one.state for one in board.totals().values()}
        if states == {"running"} and is_followed(database):
            return True
        time.sleep(0.5)
    return False


def _work(
    at_work: tuple[Shop, Applications],
    board: Board,
    until: tuple[Server, Wishes, float | None],
    console: Console,
    look: Callable[[], None],
) -> float:
    """Let the marketplace work until it closes, and show it; returns the seconds that it worked.

    `look` is called now and then. From then on a wish to end cuts short what is left to do.
    Raises what a part's client does.
    """
    server, wishes, seconds = until
    closing, problems = wishes.closing, list[Exception]()
    given = [(one, closing, problems) for one in at_work]
    workers = [threading.Thread(target=_at_work, args=args, daemon=True) for args in given]
    looked = began = time.monotonic()
    for worker in workers:
        worker.start()
    ends = None if seconds is None else began + seconds
    is_shown = console.is_terminal
    with Live(board.table(), console=console, auto_refresh=False, transient=True) as live:
        while not closing.is_set() and not server.has_ended():
            closing.wait(1.0)
            server.kill_when_due()
            if time.monotonic() - looked > _LOOK_EVERY:
                look()
                looked = time.monotonic()
            if is_shown:
                live.update(board.table(), refresh=True)
            is_over = ends is not None and time.monotonic() > ends
            # Behind a kill it may still be starting, with a step ahead at which it kills itself.
            if is_over and not server.step:
                break
            if not all(worker.is_alive() for worker in workers):
                break
    closing.set()
    worked = time.monotonic() - began
    for problem in problems:
        raise problem
    server.spare()
    again = " again" if wishes.count else ""
    told = f"Ingesting the rest and comparing; Ctrl-C{again} stops at once."
    if server.has_ended():
        told = f"ingest serve ended; see {server.log}"
    console.print(told, highlight=False)
    wishes.cut_short()
    for worker in workers:
        worker.join(90)
    return worked


def _at_work(one: Shop | Applications, closing: threading.Event, problems: list[Exception]) -> None:
    try:
        one.work(closing)
    except CLIENT_ERRORS as problem:
        problems.append(problem)


def _told_of_kills(server: Server) -> str:
    told = f"Kills of ingest serve: {server.killed}"
    if server.at_steps:
        told += f", of which at write steps: {', '.join(server.at_steps)}"
    missed = f" Steps not reached: {', '.join(server.missed)}." if server.missed else ""
    return f"{told}.{missed}"


def _caught_up(database: str, broker: str, board: Board, server: Server, watch: Parts) -> None:
    """Wait until all that was made has landed, for a while."""
    until, position = time.monotonic() + _TO_CATCH_UP, position_of(database)
    while time.monotonic() < until and not server.has_ended():
        watch.look()
        # One after the other: what a batch has landed is in the totals before it is committed.
        if (
            is_confirmed(database, position)
            and all(has_read_all(board.lake, broker, f"live__{name}") for name in STREAMS)
            and _are_applied(board.lake.root, board.totals()["customers"])
        ):
            return
        time.sleep(2.0)


def _are_applied(lake: str, customers: StreamProgress) -> bool:
    """Whether the tables of living rows and the models hold all that has landed."""
    return customers.current_batch_id >= customers.newest_batch_id and all(
        is_up_to_date(lake, f"silver.{name}")
        for name in ("live_orders_current", "live_page_view_events")
    )


if __name__ == "__main__":
    sys.exit(main())
