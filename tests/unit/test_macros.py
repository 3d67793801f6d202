"""The macros: one a file, and one strategy of `apply_changes`, chosen once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ingest.cdc.macros import rendered
from ingest.cdc.rules import Rules

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "macros" / "apply_changes"
STRATEGIES = ("scd1", "scd1_partial", "scd2")


def files_that_ask(pattern: str) -> set[str]:
    """Names of the macros of these folders whose code matches."""
    return {
        path.stem
        for path in FOLDER.glob("*/*.sql")
        if re.search(pattern, re.sub(r"\{#-.*?-#\}", "", path.read_text("utf-8"), flags=re.DOTALL))
    }


def test_only_one_macro_dispatches_to_strategies() -> None:
    assert files_that_ask(r"\bapply_scd\w+\(plan, step\) \}\}") == {"apply_strategy"}
    assert files_that_ask(r"plan\.strategy ==") == {"apply_strategy", "plan_problems"}


def test_the_configured_scd_type_is_read_by_the_plan_only() -> None:
    assert files_that_ask(r"plan\.scd_type") == {"plan_changes", "plan_problems"}


def test_whether_updates_are_partial_is_asked_by_the_plan_and_where_versions_are_folded() -> None:
    asked = r"(?:\bif|\belif|\bnot|\band|\bor) plan\.partial"
    assert files_that_ask(asked) == {"plan_problems", "folded_events"}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_does_not_call_macros_of_another(strategy: str) -> None:
    for other in set(STRATEGIES) - {strategy}:
        names = {path.stem for path in (FOLDER / other).glob("*.sql")}
        called = {
            name
            for path in (FOLDER / strategy).glob("*.sql")
            for name in re.findall(r"\b(\w+)\(", path.read_text("utf-8"))
        }
        assert not names & called


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_folder_of_a_strategy_begins_with_its_entry_point(strategy: str) -> None:
    assert min(path.stem for path in (FOLDER / strategy).glob("*.sql")) == f"apply_{strategy}"


@pytest.mark.parametrize("path", sorted((ROOT / "macros").rglob("*.sql")), ids=lambda one: one.stem)
def test_a_file_has_one_macro_named_like_the_file(path: Path) -> None:
    assert re.findall(r"\{%-? (?:macro|materialization) (\w+)", path.read_text("utf-8")) == [
        path.stem
    ]


@pytest.mark.parametrize(
    ("rules", "strategy"),
    [
        ({}, "scd1"),
        ({"keep_deleted": True}, "scd1"),
        ({"ignore_null_updates": True}, "scd1_partial"),
        ({"columns_to_update": ("name",)}, "scd1_partial"),
        ({"unavailable_value": "__unavailable"}, "scd1_partial"),
        ({"scd_type": 2}, "scd2"),
        ({"scd_type": 2, "ignore_null_updates": True}, "scd2"),
    ],
)
def test_a_plan_picks_one_strategy(rules: dict[str, Any], strategy: str) -> None:
    plan = Rules(keys=("id",), sequence_by=("at",), **rules).as_plan() | {
        "input": "changes",
        "view": "__orders",
        "adds_columns": True,
        "input_columns": {"id": "bigint", "at": "bigint", "name": "string"},
        "target_columns": {},
    }
    rendered("plan_changes", plan)
    assert plan["strategy"] == strategy


def test_a_deprecated_macro_only_calls_its_new_name() -> None:
    macros = {path.stem for path in (ROOT / "macros").rglob("*.sql")}
    for path in (ROOT / "macros" / "deprecated").glob("*.sql"):
        (called,) = re.findall(r"^ +\{[{%].* (\w+)\(", path.read_text("utf-8"), re.MULTILINE)
        assert called in macros - {path.stem}
