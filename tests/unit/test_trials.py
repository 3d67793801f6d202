"""Trials without Spark: what is built, where, by which keys, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ingest import cli
from ingest.errors import InputError


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"data": "3d", "json": True}, "leave out --select, --exclude and --json"),
        ({"data": "3d", "select": ["a"]}, "leave out --select, --exclude and --json"),
        ({"data": "3d", "exclude": ["a"]}, "leave out --select, --exclude and --json"),
        ({"markdown": True}, "--markdown needs --data"),
    ],
)
def test_options_that_a_check_would_ignore_are_refused(
    options: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(InputError, match=refusal):
        cli.check(against="HEAD", **options)
