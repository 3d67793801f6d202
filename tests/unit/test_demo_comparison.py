"""The demo's comparison sees every difference between the truth and the tables, and no other."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from rich.console import Console

from demo import commands, summary
from demo.comparison import Comparison, compared
from demo.lake import Lake, TableUnreadable
from demo.marketplace.day import generate
from demo.marketplace.plan import Plan

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truth")
    generate(Plan(seed=3, events=2_000), folder / "landing", folder)
    return folder


def _orders(truth: Path) -> list[dict[str, Any]]:
    """The final orders as silver holds them, and a deleted one."""
    rows = []
    text = (truth / "final_orders_current.jsonl").read_text(encoding="utf-8")
    for line in text.splitlines():
        row = json.loads(line)
        row["order_status"] = row.pop("status")
        row["amount_eur_cents"] = int(row.pop("amount").replace(".", ""))
        for name in ("placed_at", "updated_at"):
            row[name] = datetime.fromisoformat(row[name])
        rows.append(row | {"is_deleted": False})
    return [*rows, rows[0] | {"order_id": -1, "is_deleted": True}]


def _orders_compared(truth: Path, root: Path, rows: list[dict[str, Any]]) -> list[str]:
    write_deltalake(root / "silver" / "orders_current", pa.Table.from_pylist(rows))
    return [
        line
        for each in compared(truth, Lake(str(root)))
        if each.table == "silver.orders_current" and each.what.startswith("living rows")
        for line in each.differences
    ]


def test_equal_rows_are_equal(truth: Path, tmp_path: Path) -> None:
    assert _orders_compared(truth, tmp_path, _orders(truth)) == []


def test_one_cent_is_a_difference(truth: Path, tmp_path: Path) -> None:
    rows = _orders(truth)
    rows[2]["amount_eur_cents"] += 1

    [difference] = _orders_compared(truth, tmp_path, rows)
    assert f"order_id {rows[2]['order_id']}:" in difference


def test_a_lost_row_and_a_returned_one_are_differences(truth: Path, tmp_path: Path) -> None:
    rows = _orders(truth)[1:]
    rows[-1]["is_deleted"] = False

    assert len(_orders_compared(truth, tmp_path, rows)) == 2


def test_a_missing_table_is_a_difference_everywhere(truth: Path, tmp_path: Path) -> None:
    comparisons = list(compared(truth, Lake(str(tmp_path))))

    assert all(each.differences for each in comparisons if each.expected)
    assert all(each.problem for each in comparisons if not each.table.endswith("__quarantine"))
    assert any("there is no such table" in each.problem for each in comparisons)


def test_a_missing_quarantine_is_an_empty_one(truth: Path, tmp_path: Path) -> None:
    quarantines = {
        each.table: each.differences
        for each in compared(truth, Lake(str(tmp_path)))
        if each.table.endswith("__quarantine")
    }

    assert quarantines["bronze.shop__customers__quarantine"] == []
    assert quarantines["bronze.market__app_events__quarantine"] != []


def test_unreadable_table_is_named(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "gold" / "dim_things", pa.table({"thing_id": [1]}))

    with pytest.raises(TableUnreadable, match=r"gold\.dim_things: .*nothing"):
        Lake(str(tmp_path)).rows("select nothing from this", "gold.dim_things")


def test_numbers_that_one_side_lacks_count_as_none() -> None:
    comparison = Comparison(
        table="bronze.x", what="rows of", expected={"a": 1, "b": 0}, found={"a": 1, "c": 2}
    )

    assert comparison.differences == ["bronze.x: rows of c: expected 0, found 2"]


def test_the_summary_is_plain_when_piped(truth: Path, tmp_path: Path) -> None:
    write_deltalake(tmp_path / "bronze" / "market__app_events", pa.table({"insertId": ["a", "b"]}))
    reasons = pa.table({"_reason_code": ["NULL_KEY", "MALFORMED_JSON", "NULL_KEY"]})
    write_deltalake(tmp_path / "bronze" / "market__app_events__quarantine", reasons)
    output = io.StringIO()
    console = Console(file=output, width=120)
    lake = Lake(str(tmp_path))

    summary.show_rows(console, lake)
    different = summary.show_comparison(console, list(compared(truth, lake)))
    summary.show_tests(console, Counter({"pass": 12, "fail": 1}))

    text = output.getvalue()
    assert "\x1b" not in text
    assert different > summary.DIFFERENCES_SHOWN
    assert f"... and {different - summary.DIFFERENCES_SHOWN} more" in text
    assert "Tests: 12 passed, 1 fail" in text
    assert text.index("NULL_KEY") < text.index("MALFORMED_JSON")


def test_tests_of_the_last_build_are_counted(tmp_path: Path) -> None:
    results = [
        {"unique_id": "model.headwater.fct_sales", "status": "success"},
        {"unique_id": "test.headwater.not_null", "status": "pass"},
        {"unique_id": "unit_test.headwater.newest_wins", "status": "pass"},
        {"unique_id": "test.headwater.unique", "status": "fail"},
    ]
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "run_results.json").write_text(json.dumps({"results": results}))

    assert commands.tests_of_last_build(tmp_path) == {"pass": 2, "fail": 1}
