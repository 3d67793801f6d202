"""Statements that lose against the same statement of another process."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError

from ingest.spark import races

CREATE = "/* dbt */\n  create table if not exists ops.things (id bigint) using delta"
LOST = "[DELTA_PROTOCOL_CHANGED] the table was created meanwhile"


class Statement:
    """Fails with each of some messages, then succeeds."""

    def __init__(self, *failures: str) -> None:
        self._failures = list(failures)
        self.runs = 0

    def __call__(self) -> str:
        self.runs += 1
        if self._failures:
            raise DbtRuntimeError(self._failures.pop(0))
        return "done"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "_REST", 0)


@pytest.mark.parametrize(
    "statement",
    [
        CREATE,
        "create schema if not exists gold location 'gold'",
        "create or replace view bronze.app_events as select 1",
    ],
)
def test_what_another_process_created_meanwhile_is_created_again(statement: str) -> None:
    run = Statement(LOST, 'ERROR: duplicate key value violates "UNIQUE_TABLE"')
    assert races.repeated(run, statement, (DbtRuntimeError,)) == "done"
    assert run.runs == 3


@pytest.mark.parametrize(
    ("statement", "failure"),
    [
        (CREATE, "[PARSE_SYNTAX_ERROR] near 'using'"),
        ("merge into ops.things using b on a = b", LOST),
        ("insert into a select 'create table if not exists'", LOST),
    ],
)
def test_other_failures_are_raised_at_once(statement: str, failure: str) -> None:
    run = Statement(failure)
    with pytest.raises(DbtRuntimeError):
        races.repeated(run, statement, (DbtRuntimeError,))
    assert run.runs == 1


def test_one_that_always_fails_ends() -> None:
    run = Statement(*[LOST] * 50)
    with pytest.raises(DbtRuntimeError, match="DELTA_PROTOCOL"):
        races.repeated(run, CREATE, (DbtRuntimeError,))
    assert run.runs == 5
