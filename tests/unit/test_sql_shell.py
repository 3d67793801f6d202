"""Statements of `ingest sql`: where they end, what a script exits with, and columns' names."""

from __future__ import annotations

import io
import sys

import pytest
from pyspark.sql import Row

from ingest.cli.sql import answer, as_dicts, shell, split_statements
from ingest.errors import HeadwaterError, QueryWrong


@pytest.mark.parametrize(
    ("text", "statements", "rest"),
    [
        ("select 1;\nselect 2; select", ["select 1", "\nselect 2"], " select"),
        (r"select 'a;\'b;', r'c\';", [r"select 'a;\'b;', r'c\'"], ""),
        ('select ";", `d;``e`;', ['select ";", `d;``e`'], ""),
        ("select 1 -- it's; one\n;", ["select 1 -- it's; one\n"], ""),
        ("select /* a; /* b; */ c; */ 1;", ["select /* a; /* b; */ c; */ 1"], ""),
        ("select 'a;\n", [], "select 'a;\n"),
        ("-- nothing\n;; -- more\n", [], ""),
    ],
)
def test_semicolon_ends_a_statement_outside_of_literals_names_and_comments(
    text: str, statements: list[str], rest: str
) -> None:
    assert split_statements(text) == (statements, rest)


def test_several_statements_in_one_argument_are_refused() -> None:
    with pytest.raises(QueryWrong, match="give one statement, or pipe several"):
        answer("select 1; select 2", json=False)


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Statements that were run. One with `wrong` fails, one with `lost` fails otherwise."""
    found: list[str] = []

    def run(_spark: object, query: str, _json: bool) -> None:
        found.append(query.strip())
        if "wrong" in query:
            raise QueryWrong("no such table")
        if "lost" in query:
            raise HeadwaterError("executor lost")

    # The command, a function, has the module's name in `ingest.cli`.
    module = sys.modules[shell.__module__]
    monkeypatch.setattr(module, "_prepared", lambda *_: None)
    monkeypatch.setattr(module, "_register", lambda *_: None)
    monkeypatch.setattr(module, "_print", run)
    return found


def piped(monkeypatch: pytest.MonkeyPatch, script: str, terminal: bool = False) -> int:
    """Exit code of a script on standard input."""
    given = io.StringIO(script)
    monkeypatch.setattr(sys, "stdin", given)
    monkeypatch.setattr(given, "isatty", lambda: terminal)
    return shell(json=False)


def test_script_goes_on_after_an_error_and_exits_with_the_highest_code(
    monkeypatch: pytest.MonkeyPatch, printed: list[str]
) -> None:
    assert piped(monkeypatch, "select wrong;\nselect lost;\nselect 3;\n") == 2
    assert printed == ["select wrong", "select lost", "select 3"]
    assert piped(monkeypatch, "select 'a\n;';\n") == 0


def test_last_statement_of_a_script_needs_no_semicolon(
    monkeypatch: pytest.MonkeyPatch, printed: list[str]
) -> None:
    assert piped(monkeypatch, "select 1;\nselect wrong") == 2
    assert printed == ["select 1", "select wrong"]


def test_shell_on_a_terminal_exits_with_zero_and_drops_an_unfinished_statement(
    monkeypatch: pytest.MonkeyPatch, printed: list[str]
) -> None:
    assert piped(monkeypatch, "select wrong;\nselect 2", terminal=True) == 0
    assert printed == ["select wrong"]


def test_repeated_column_gets_a_number() -> None:
    rows = [Row("id", "id", "id_1", "id")(1, 2, 3, Row(x=4))]
    assert as_dicts(rows) == [{"id": 1, "id_1": 2, "id_1_1": 3, "id_2": {"x": 4}}]
