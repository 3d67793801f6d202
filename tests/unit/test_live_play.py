"""What may happen to `make live` while it plays: kills of its server, lost parts, Ctrl-C."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ingest.errors import StackFailed
from ingest.stack.stack import Stack
from ingest.storage.json_files import write_json
from ingest.storage.layout import Lake
from live import server as served
from live.parts import Parts
from live.server import Server, serving
from live.wishes import Wishes

# Comes to two steps, and then works on, whatever it is started with.
AT_WORK = (
    "import time; from ingest.failpoint import failpoint; "
    "failpoint('before_first_write'); failpoint('after_quarantine'); time.sleep(600)"
)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """One that is killed as soon as it may be, at a step or not."""
    monkeypatch.setattr(served, "_COMMAND", ("-c", AT_WORK))
    for name in ("_FIRST", "_BETWEEN"):
        monkeypatch.setattr(served, name, (0.0, 0.0))
    one = Server(tmp_path / "serve.log", kills=8, draw=random.Random(7))
    with serving(one):
        yield one
    # Nothing of it goes on.
    assert one.process.poll() is not None


def killed(server: Server, times: int) -> None:
    """Let it work until it has been killed so many times."""
    until = time.monotonic() + 60
    while server.killed < times:
        assert time.monotonic() < until
        server.kill_when_due()
        assert not server.has_ended()
        time.sleep(0.05)


def test_a_server_is_killed_at_random_and_once_at_each_write_that_it_comes_to(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(server, 1)
    # What it never comes to, which is none of the steps at both ends, is not waited for.
    monkeypatch.setattr(served, "_TO_REACH", 0.0)
    killed(server, 4)
    monkeypatch.setattr(served, "_TO_REACH", 90.0)
    killed(server, 8)
    assert server.at_steps == ["before_first_write", "after_quarantine"]
    assert server.missed == ["before_first_commit", "after_first_write", "after_second_write"]
    time.sleep(0.1)
    server.kill_when_due()
    assert server.killed == 8


def test_a_server_that_is_spared_does_not_kill_itself_any_more(server: Server) -> None:
    killed(server, 1)
    server.spare()
    assert server.killed == 2
    with pytest.raises(subprocess.TimeoutExpired):
        # Before, it would have come to its step by now.
        server.process.wait(1)


def test_a_server_that_ends_by_itself_is_not_taken_for_a_killed_one(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "_COMMAND", ("-c", "raise SystemExit(1)"))
    while server.killed < 1:
        server.kill_when_due()
    assert server.step
    assert server.process.wait() == 1
    server.kill_when_due()
    server.spare()
    assert server.has_ended()
    assert server.killed == 1


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A stack of which parts seem to run, as far as anybody looks: their command has a folder."""
    lake = Lake(str(tmp_path))
    found = Stack(lake)
    asleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    processes = {
        name: subprocess.Popen([*asleep, f"{tmp_path}/{name}/"]) for name in found.services
    }
    known = {
        name: {"pid": one.pid, "folder": f"{tmp_path}/{name}"} for name, one in processes.items()
    }
    write_json(lake.storage, lake.stack(), known)
    try:
        yield found
    finally:
        for one in processes.values():
            one.kill()
            one.wait()


def test_a_part_that_was_killed_is_named_and_so_is_its_log(stack: Stack) -> None:
    parts = Parts(stack)
    parts.refuse_loss()
    pid = next(one.pid for one in stack.status() if one.service == "postgres")
    assert pid
    os.kill(pid, signal.SIGKILL)
    # A process may run on for a moment after it was killed.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    named = rf"^postgres was killed; see .*{stack.log('postgres').name}$"
    with pytest.raises(StackFailed, match=named):
        parts.look()
    # Whoever asks it may be told so before anybody looks.
    with pytest.raises(StackFailed, match=named), parts.named():
        raise psycopg.OperationalError("server closed the connection unexpectedly\n\tThis ...")


def test_a_failure_of_a_part_that_runs_is_one_line(stack: Stack) -> None:
    told = r"it should: server closed the connection unexpectedly$"
    with pytest.raises(StackFailed, match=told), Parts(stack).named():
        raise psycopg.OperationalError("server closed the connection unexpectedly\n\tThis ...")


@pytest.fixture
def wishes() -> Iterator[Wishes]:
    """Those of this process, while it hears them."""
    before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
    heard = Wishes()
    heard.hear()
    try:
        yield heard
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def test_second_stop_request_skips_remaining_work(wishes: Wishes) -> None:
    with wishes.bounded():
        signal.raise_signal(signal.SIGINT)
        assert wishes.closing.is_set()
        # As often as one likes: something may be being started.
        wishes.cut_short()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        # What is being stopped now is stopped whole.
        signal.raise_signal(signal.SIGINT)


def test_early_second_stop_request_is_handled_later(wishes: Wishes) -> None:
    signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), wishes.bounded():
        wishes.cut_short()


def test_stop_request_after_the_end_skips_nothing(wishes: Wishes) -> None:
    with wishes.bounded():
        wishes.cut_short()
    signal.raise_signal(signal.SIGINT)
    assert wishes.count == 1
