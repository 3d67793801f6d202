"""How the daemon of Spark's Python workers starts."""

from __future__ import annotations

import sys

import pytest

from ingest.decoders import worker_daemon


def test_modules_are_read_from_folders_where_these_have_sparks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    archive = worker_daemon.__file__
    monkeypatch.setattr(sys, "path", [archive, *sys.path])
    worker_daemon._leave_archives()
    assert archive not in sys.path


def test_archives_stay_where_only_they_have_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = worker_daemon.__file__
    monkeypatch.setattr(sys, "path", [archive, *sys.path])
    monkeypatch.setattr(worker_daemon, "find_spec", lambda _: None)
    worker_daemon._leave_archives()
    assert sys.path[0] == archive
