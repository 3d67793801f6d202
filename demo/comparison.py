"""Every number of the truth beside the same number from the tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from demo.lake import Lake, TableUnreadable
from demo.marketplace.counts import FUNNEL

if TYPE_CHECKING:
    from pathlib import Path

Numbers = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Numbers of one kind: what the truth says and what the tables say."""

    table: str
    what: str
    expected: Numbers
    found: Numbers
    problem: str = ""

    @property
    def differences(self) -> list[str]:
        """One line for each number that is not equal."""
        if self.problem:
            return [f"{self.what}: {self.problem}"]
        return [
            f"{self.table}: {self.what} {name}".rstrip()
            + f": expected {self.expected.get(name, 0)}, found {self.found.get(name, 0)}"
            for name in sorted(self.expected.keys() | self.found.keys())
            if self.expected.get(name, 0) != self.found.get(name, 0)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question on a table, whose answer is rows of a `name` and a number `n`."""

    table: str
    what: str
    sql: str
    expected: Numbers


# How silver calls the shop's columns, and what makes their values those of the truth.
_CURRENT: Final[dict[str, dict[str, str]]] = {
    "customers": {
        "name": "customer_name",
        "segment": "customer_segment",
        "created_at": "registered_at",
    },
    "vehicles": {"status": "vehicle_status"},
    "orders": {"status": "order_status", "amount": "amount_eur_cents"},
}


def compared(truth_folder: Path, lake: Lake) -> Iterator[Comparison]:
    """Compare everything that the truth tells. A table that cannot be read is a difference."""
    truth = json.loads((truth_folder / "truth.json").read_text(encoding="utf-8"))
    questions = [
        *(question for name in truth["streams"] for question in _bronze(truth, name)),
        *_silver(truth),
        *_gold(truth),
    ]
    for question in questions:
        yield _answered(question, lake)
    for name in _CURRENT:
        yield _rows_compared(name, truth_folder / f"final_{name}_current.jsonl", lake)
    yield _as_ordered(truth_folder / "final_sales_as_of.jsonl", lake)


def _answered(question: Question, lake: Lake) -> Comparison:
    found: dict[str, int] = {}
    problem = ""
    try:
        rows = lake.rows(question.sql, question.table)
        found = {str(row["name"]): int(row["n"] or 0) for row in rows}
    except TableUnreadable as unreadable:
        # A stream that quarantined nothing need not have a quarantine.
        if question.expected or lake.holds(question.table):
            problem = str(unreadable)
    return Comparison(
        table=question.table,
        what=question.what,
        expected=question.expected,
        found=found,
        problem=problem,
    )


def _bronze(truth: dict[str, Any], stream: str) -> Iterator[Question]:
    told = truth["streams"][stream]
    table = f"bronze.{stream}"

    def ask(what: str, sql: str, expected: Numbers, table: str = table) -> Question:
        return Question(table=table, what=what, sql=sql, expected=expected)

    by = "select {0} as name, count(*) as n from this group by {0}"
    total = "select '' as name, count({}) as n from this"
    yield ask("rows", total.format("*"), {"": told["records_landed"]})
    yield ask("rows with a rescued value", total.format("_rescued"), {"": told["rescued"]})
    if "by_date" in told:
        sql = by.format("cast(_event_date as string)")
        yield ask("rows of", sql, told["by_date"])
    if "by_type" in told:
        yield ask("rows of type", by.format("_event_type"), told["by_type"])
        sql = total.format('distinct "insertId"')
        yield ask("distinct events", sql, {"": told["records_landed"]})
    quarantine = f"{table}__quarantine"
    yield ask("records", by.format("_reason_code"), told["quarantined"], quarantine)


def _silver(truth: dict[str, Any]) -> Iterator[Question]:
    by_deleted = "select cast(is_deleted as string) as name, count(*) as n from this group by 1"
    for name, told in truth["tables"].items():
        expected = {"false": told["living"], "true": told["deleted"]}
        yield Question(
            table=f"silver.{name}", what="rows, is_deleted", sql=by_deleted, expected=expected
        )
    total = "select '' as name, count(*) as n from this"
    types = truth["streams"]["market__app_events"]["by_type"]
    events = {
        "app_events": sum(types.values()),
        "page_view_events": types["page_viewed"],
        "vehicle_view_events": types["vehicle_viewed"],
        "truck_position_events": truth["streams"]["fleet__positions"]["records_landed"],
    }
    for name, expected_rows in events.items():
        yield Question(table=f"silver.{name}", what="rows", sql=total, expected={"": expected_rows})


def _gold(truth: dict[str, Any]) -> Iterator[Question]:
    gold, tables = truth["gold"], truth["tables"]
    total = "select '' as name, count(*) as n from this"
    for name in ("customers", "vehicles"):
        expected = {"": tables[f"{name}_current"]["living"]}
        yield Question(table=f"gold.dim_{name}", what="rows", sql=total, expected=expected)
    yield Question(
        table="gold.fct_sales",
        what="sales",
        sql="select '' as name, count(*) as n from this where is_sale",
        expected={"": gold["sales"]["sales"]},
    )
    yield Question(
        table="gold.fct_sales",
        what="amount_eur_cents of all sales",
        sql="select '' as name, sum(amount_eur_cents) as n from this where is_sale",
        expected={"": gold["sales"]["amount_eur_cents"]},
    )
    by_day = "select cast({0} as string) as name, {1} as n from this where {2}"
    for column, told in (("sale_count", "sales"), ("revenue_eur_cents", "amount_eur_cents")):
        yield Question(
            table="gold.agg_sales_daily",
            what=f"{column} of",
            sql=by_day.format("placed_date", column, "sale_count > 0"),
            expected={day: counts[told] for day, counts in gold["sales_daily"].items()},
        )
    yield from _funnel(gold)
    yield Question(
        table="gold.agg_deliveries_daily",
        what="delivery_count of",
        sql=by_day.format("completed_date", "delivery_count", "true"),
        expected={day: told["deliveries"] for day, told in gold["deliveries_daily"].items()},
    )
    yield Question(
        table="gold.agg_deliveries_daily",
        what="duration_minutes of",
        sql=by_day.format("completed_date", "duration_minutes", "true"),
        expected={day: told["minutes"] for day, told in gold["deliveries_daily"].items()},
    )
    yield Question(
        table="gold.fct_deliveries",
        what="minutes of deliveries of",
        sql="select cast(completed_date as string) as name, sum(duration_minutes) as n "
        "from this where is_completed group by completed_date",
        expected={day: told["minutes"] for day, told in gold["deliveries_daily"].items()},
    )


def _funnel(gold: dict[str, Any]) -> Iterator[Question]:
    """Steps by their number."""
    for column, told in (("session_count", "sessions"), ("event_count", "events")):
        yield Question(
            table="gold.agg_funnel_daily",
            what=f"{column} of",
            sql="select concat(cast(event_date as string), ' step ', "  # noqa: S608
            f"cast(funnel_step_number as string)) as name, {column} as n from this",
            expected={
                f"{day} step {number}": counts[told]
                for day, steps in gold["funnel_daily"].items()
                for number, step in enumerate(FUNNEL, start=1)
                if (counts := steps[step])["events"]
            },
        )


def _rows_compared(name: str, path: Path, lake: Lake) -> Comparison:
    """The living rows of a `_current` table, value by value."""
    table = f"silver.{name}_current"
    expected = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        expected[row[f"{name[:-1]}_id"]] = row
    columns = list(next(iter(expected.values())))
    renamed = _CURRENT[name]
    sql = ", ".join(f'{renamed.get(column, column)} as "{column}"' for column in columns)
    what = "living rows that differ:"
    try:
        rows = lake.rows(f"select {sql} from this where not is_deleted", table)  # noqa: S608
    except TableUnreadable as unreadable:
        return Comparison(table=table, what=what, expected={}, found={}, problem=str(unreadable))
    found = {
        row[columns[0]]: {column: _told(column, value) for column, value in row.items()}
        for row in rows
    }
    wrong = {
        f"{columns[0]} {key}": 1
        for key in sorted(expected.keys() | found.keys())
        if expected.get(key) != found.get(key)
    }
    return Comparison(table=table, what=what, expected={}, found=wrong)


def _as_ordered(path: Path, lake: Lake) -> Comparison:
    """Sales of the day beside what was known of customer and vehicle when they were ordered."""
    table, what = "gold.fct_sales", "sales whose customer or price was otherwise then:"
    lines = path.read_text(encoding="utf-8").splitlines()
    expected = {row["order_id"]: row for row in map(json.loads, lines)}
    sql = (
        "select order_id, customer_segment_when_ordered as segment, "
        "asking_price_when_ordered_eur_cents as price_eur_cents from this where is_sale"
    )
    try:
        found = {row["order_id"]: row for row in lake.rows(sql, table)}
    except TableUnreadable as unreadable:
        return Comparison(table=table, what=what, expected={}, found={}, problem=str(unreadable))
    wrong = {f"order_id {key}": 1 for key in sorted(expected) if expected[key] != found.get(key)}
    return Comparison(table=table, what=what, expected={}, found=wrong)


def _told(column: str, value: Any) -> Any:
    """A value as the truth writes it."""
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat('T', 'milliseconds')}Z"
    if column == "amount" and isinstance(value, int):
        return f"{value // 100}.{value % 100:02d}"
    return value
