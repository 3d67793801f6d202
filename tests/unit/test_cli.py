"""What the command line takes."""

from __future__ import annotations

import pytest

from ingest.cli import one_value_each


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        ("run --select a b", "run --select a --select b"),
        ("run -s a b --exclude c d", "run -s a -s b --exclude c --exclude d"),
        ("check --select a b --against registry", "check --select a --select b --against registry"),
        ("run --select a --select b", "run --select a --select b"),
        ("run --select", "run --select"),
        ("schema diff TYPE 1 2", "schema diff TYPE 1 2"),
        ("serve --streams a b --sql 1", "serve --streams a --streams b --sql 1"),
    ],
)
def test_one_option_takes_several_selectors_as_in_dbt(typed: str, taken: str) -> None:
    assert one_value_each(typed.split()) == taken.split()
