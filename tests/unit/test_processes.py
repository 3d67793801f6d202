"""Processes are told apart by when they started, on this machine alone."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from ingest.storage.processes import ProcessIdentity, _start_of

pytestmark = pytest.mark.skipif(not ProcessIdentity.own().space, reason="needs /proc")


def test_a_process_runs_until_it_ends() -> None:
    own = ProcessIdentity.own()
    assert own.is_running()
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    other = replace(own, pid=child.pid, started=_start_of(child.pid))
    assert other.is_running()
    child.kill()
    # A zombie, until somebody waits for it.
    while other.is_running():
        pass
    assert other.is_running() is False
    child.communicate()
    assert other.is_running() is False


def test_a_number_that_was_given_again_is_another_process() -> None:
    assert replace(ProcessIdentity.own(), started="1").is_running() is False


def test_a_process_elsewhere_is_not_known() -> None:
    assert replace(ProcessIdentity.own(), space="other kernel/1").is_running() is None
    assert replace(ProcessIdentity.own(), space="").is_running() is None
