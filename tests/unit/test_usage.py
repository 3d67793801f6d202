"""How much memory `make live` says that processes hold."""

from __future__ import annotations

import subprocess
import sys

import pytest

from live import usage


def test_what_children_hold_is_their_parents() -> None:
    held = "one = b'.' * (64 << 20); "
    child = held + "print(1, flush=True); input()"
    parent = held + f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        looked = usage.Usage()
        looked.look({"it": process.pid})
        process.communicate(b"\n")
    # Each of both has these 64 MB, and Python.
    assert 128 <= looked.memory["it"] < 256


def test_a_process_that_is_being_started_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    java = (7, 1, 3_000.0, 5.0)
    looks = iter([[java, (8, 7, 2_990.0, 0.0)], [java], [java], [java, (9, 7, 3_001.0, 0.0)]])
    monkeypatch.setattr(usage, "_asked", lambda: next(looks))
    looked = usage.Usage()
    looked.look({"it": 7})
    assert looked.memory["it"] == 3_000
    looked.look({"it": 7})
    assert looked.memory["it"] == 3_000
