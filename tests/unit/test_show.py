"""Tables of commands on a terminal and in a pipe."""

from __future__ import annotations

import sys

import pytest

from ingest.cli import show

ROWS = [{"stream": "shop.orders", "rows": 12, "state": "running"}]


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output, forty columns wide."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")


def test_a_table_that_fits_the_terminal_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_a_terminal(monkeypatch)
    show.table("streams", ROWS)
    assert "shop.orders │   12 │ running" in capsys.readouterr().out


def test_a_table_wider_than_the_terminal_is_a_list(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_a_terminal(monkeypatch)
    show.table("streams", [ROWS[0] | {"state": "waits for a whole file"}] * 2)
    assert capsys.readouterr().out == (
        "stream  shop.orders\nrows    12\nstate   waits for a whole file\n\n" * 2
    )


def test_a_table_without_rows_says_so_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_a_terminal(monkeypatch)
    show.table("event types", [])
    assert capsys.readouterr().out == "No event types.\n"


def test_a_pipe_gets_tabs_and_nothing_where_there_are_no_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show.table("streams", ROWS, drop=("rows",))
    show.table("streams", [])
    assert capsys.readouterr().out == "stream\tstate\nshop.orders\trunning\n"
