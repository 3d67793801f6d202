"""The generator's day is the same every time, and its truth is what an honest reader counts."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from demo.marketplace.day import AnotherDayLanded, generate, landed_before
from demo.marketplace.event_types import ALL, RARE
from demo.marketplace.plan import Plan

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 6_000
Row = dict[str, Any]


class Day:
    """A landed day, read back without any of the generator's code."""

    def __init__(self, folder: Path, truth: dict[str, Any]) -> None:
        self.folder = folder
        self.landing = folder / "landing"
        self.truth = truth

    def files(self, folder: str) -> list[Path]:
        return sorted(path for path in (self.landing / folder).rglob("*") if path.is_file())

    def lines(self, folder: str) -> list[bytes]:
        return [line for path in self.files(folder) for line in _content(path).splitlines()]

    def rows(self, table: str) -> list[Row]:
        return [row for path in self.files(f"dms/shop/{table}") for row in _rows(path)]

    def final(self, name: str) -> list[Row]:
        text = (self.folder / "truth" / f"final_{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def _rows(path: Path) -> list[Row]:
    if path.suffix == ".parquet":
        rows: list[Row] = pq.read_table(path).to_pylist()
        return rows
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return digest.hexdigest()


def _reason(line: bytes, key: tuple[str, ...]) -> str | None:
    """Why a line does not land, by a reading of the rules that shares no code with the demo."""

    def pairs(found: list[tuple[str, Any]]) -> Row:
        if len({name for name, _ in found}) < len(found):
            raise KeyError
        return dict(found)

    try:
        record = json.loads(line.decode(), object_pairs_hook=pairs)
    except UnicodeDecodeError:
        return "INVALID_UTF8"
    except json.JSONDecodeError:
        return "MALFORMED_JSON"
    except KeyError:
        return "DUPLICATE_KEY"
    if not isinstance(record, dict):
        return "NOT_AN_OBJECT"
    return "NULL_KEY" if any(record.get(name) is None for name in key) else None


def _read(lines: list[bytes], key: tuple[str, ...]) -> tuple[dict[Any, Row], Counter[str], int]:
    """Records by key, lines in quarantine by reason, and copies; a copy must equal the first."""
    landed: dict[Any, Row] = {}
    quarantined: Counter[str] = Counter()
    copies = 0
    for line in lines:
        if reason := _reason(line, key):
            quarantined[reason] += 1
            continue
        record = json.loads(line)
        name = tuple(record[part] for part in key)
        copies += name in landed
        assert landed.setdefault(name, record) == record
    return landed, quarantined, copies


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    folder = tmp_path_factory.mktemp("day")
    truth = generate(Plan(seed=11, events=SIZE), folder / "landing", folder / "truth")
    return Day(folder, truth)


def test_the_same_seed_gives_the_same_bytes_under_another_hash_seed_and_locale(
    day: Day, tmp_path: Path
) -> None:
    environ = dict(os.environ) | {"PYTHONHASHSEED": "4711", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-m", "demo.marketplace", "--seed", "11", "--size", str(SIZE)]
    folders = ["--landing", str(tmp_path / "landing"), "--truth", str(tmp_path / "truth")]
    subprocess.run([*command, *folders], check=True, env=environ, capture_output=True)

    assert _digest(tmp_path) == _digest(day.folder)


def test_another_seed_gives_another_day(day: Day, tmp_path: Path) -> None:
    other = generate(Plan(seed=12, events=SIZE), tmp_path / "landing", tmp_path / "truth")

    assert other["tables"] != day.truth["tables"]
    assert other["streams"] != day.truth["streams"]


def test_parts_written_one_after_the_other_equal_the_whole_day(day: Day, tmp_path: Path) -> None:
    landing, truth = tmp_path / "landing", tmp_path / "truth"
    counts = []
    for part in (1, 2, 3):
        plan = Plan(seed=11, events=SIZE, parts=3, first_part=part, last_part=part)
        told = generate(plan, landing, truth)
        counts.append(told["streams"]["market__app_events"]["records_landed"])
        assert counts[-1] == len(_read(Day(tmp_path, told).lines("app_events"), ("insertId",))[0])

    assert counts == sorted(set(counts))
    for folder in ("app_events", "positions", "dms"):
        assert _digest(landing / folder) == _digest(day.landing / folder)
    assert {**told, "parts": 1, "last_part": 1} == day.truth


def test_a_landing_folder_holds_one_day_only(day: Day, tmp_path: Path) -> None:
    assert landed_before(Plan(seed=11, events=SIZE), day.landing)
    assert not landed_before(Plan(seed=11, events=SIZE), tmp_path)
    with pytest.raises(AnotherDayLanded, match="seed 11"):
        generate(Plan(seed=12, events=SIZE), day.landing, tmp_path)


def test_no_unfinished_file_is_left(day: Day) -> None:
    assert [path.name for path in day.landing.rglob("_*")] == ["_marketplace.json"]


def test_app_events_amount_to_the_truth(day: Day) -> None:
    lines = day.lines("app_events")
    landed, quarantined, copies = _read(lines, ("insertId",))
    told = day.truth["streams"]["market__app_events"]
    payloads = [record["jsonPayload"] for record in landed.values()]
    wrong = [each for each in payloads if not isinstance(each.get("user_id", 0), int)]

    assert told["lines"] == len(lines)
    assert told["records_landed"] == len(landed)
    assert told["duplicates"] == copies
    assert told["quarantined"] == quarantined
    assert told["rescued"] == len(wrong) > 0
    assert told["by_type"] == Counter(each["event_type"] for each in payloads)
    assert told["by_date"] == Counter(each["timestamp"][:10] for each in landed.values())


def test_positions_amount_to_the_truth(day: Day) -> None:
    lines = day.lines("positions")
    landed, quarantined, copies = _read(lines, ("truck_id", "recorded_at"))
    told = day.truth["streams"]["fleet__positions"]

    assert told["lines"] == len(lines)
    assert told["records_landed"] == len(landed)
    assert told["duplicates"] == copies
    assert told["quarantined"] == quarantined
    assert told["rescued"] == sum(isinstance(row["latitude"], str) for row in landed.values())


@pytest.mark.parametrize("table", ["customers", "vehicles", "orders"])
def test_the_newest_change_of_each_row_is_the_truth(day: Day, table: str) -> None:
    rows = day.rows(table)
    key = f"{table[:-1]}_id"
    newest: dict[int, Row] = {}
    for row in sorted(rows, key=lambda row: row["AR_H_CHANGE_SEQ"] or ""):
        newest[int(row[key])] = row
    living = {name: row for name, row in newest.items() if row.get("Op") != "D"}
    told = day.truth["tables"][f"{table}_current"]
    final = {row[key]: row for row in day.final(f"{table}_current")}

    assert day.truth["streams"][f"shop__{table}"]["records_landed"] == len(rows)
    assert told["living"] == len(living) == len(final)
    assert told["deleted"] == len(newest) - len(living) > 0
    assert living.keys() == final.keys()
    for name, row in living.items():
        assert _comparable(row) == _comparable(final[name])


def _comparable(row: Row) -> Row:
    """Both spellings of a row as text; letters where a number belongs become nothing."""
    texts = {}
    for name, value in row.items():
        text = value.isoformat(" ", "milliseconds") if hasattr(value, "isoformat") else value
        text = "" if text in (None, "n/a") else str(text)
        texts[name] = text.replace("T", " ").removesuffix("+00:00").removesuffix("Z")
    for name in ("Op", "commit_timestamp", "AR_H_CHANGE_SEQ", "vin", "name"):
        texts.pop(name, None)
    return texts


def test_names_survive_csv(day: Day) -> None:
    written = {row["name"] for row in day.rows("customers")}

    for letters in ("'", ",", '"', "Ł", "李"):
        assert any(letters in name for name in written), letters
    assert {row["name"] for row in day.final("customers_current")} <= written


def test_sales_and_deliveries_and_funnel_amount_to_the_truth(day: Day) -> None:
    gold = day.truth["gold"]
    days: defaultdict[str, list[int]] = defaultdict(list)
    for order in day.final("orders_current"):
        if order["status"] in ("paid", "shipped", "delivered"):
            days[order["placed_at"][:10]].append(int(order["amount"].replace(".", "")))
    landed, _, _ = _read(day.lines("app_events"), ("insertId",))
    sessions: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    completed: Counter[str] = Counter()
    for record in landed.values():
        date, payload = record["timestamp"][:10], record["jsonPayload"]
        sessions[date, payload["event_type"]].add(payload["session_id"])
        completed[date] += payload["event_type"] == "delivery_completed"

    assert gold["sales_daily"] == {
        date: {"sales": len(amounts), "amount_eur_cents": sum(amounts)}
        for date, amounts in days.items()
    }
    for date, steps in gold["funnel_daily"].items():
        for step, counts in steps.items():
            assert counts["sessions"] == len(sessions[date, step])
    assert {
        date: told["deliveries"] for date, told in gold["deliveries_daily"].items()
    } == +completed


def test_a_sale_knows_the_price_of_its_moment(day: Day) -> None:
    """The price then is what the order says, wherever the car's changes up to then have landed."""
    amounts = {
        order["order_id"]: int(order["amount"].replace(".", ""))
        for order in day.final("orders_current")
    }
    sales = day.final("sales_as_of")

    assert len(sales) > 10
    for sale in sales:
        assert sale["price_eur_cents"] == amounts[sale["order_id"]]
    assert {sale["segment"] for sale in sales} >= {"private", "dealer"}


def test_the_day_is_as_uneven_as_a_real_one(day: Day) -> None:
    told = day.truth["streams"]["market__app_events"]
    late = sum(
        record["receiveTimestamp"][:13] != record["timestamp"][:13]
        for record in _read(day.lines("app_events"), ("insertId",))[0].values()
    )

    assert abs(told["records_landed"] / SIZE - 1) < 0.06
    assert 0.04 < told["duplicates"] / told["lines"] < 0.06
    assert 0.001 < sum(told["quarantined"].values()) / told["lines"] < 0.004
    assert 0.01 < late / told["records_landed"] < 0.05
    assert len(ALL) >= 40
    assert {kind.name: times for kind, times in RARE}.items() <= told["by_type"].items()


def test_a_good_second_copy_follows_some_broken_firsts(day: Day) -> None:
    good: set[bytes] = set()
    repaired = 0
    for line in reversed(day.lines("app_events")):
        name = line[:40]
        if _reason(line, ("insertId",)) == "MALFORMED_JSON":
            repaired += name in good
        else:
            good.add(name)

    assert repaired > 0


def test_changes_arrive_in_the_wrong_order_and_deletes_before_updates(day: Day) -> None:
    newest: dict[str, str] = {}
    deleted: set[str] = set()
    stale = after_delete = 0
    for path in day.files("dms/shop/customers"):
        for row in _rows(path):
            sequence = row["AR_H_CHANGE_SEQ"]
            is_stale = sequence < newest.get(row["customer_id"], "")
            stale += is_stale
            after_delete += is_stale and row["customer_id"] in deleted
            newest[row["customer_id"]] = max(sequence, newest.get(row["customer_id"], ""))
            if row.get("Op") == "D":
                deleted.add(row["customer_id"])

    assert stale > after_delete > 0


def test_several_changes_share_a_transaction(day: Day) -> None:
    commits = Counter(row["commit_timestamp"] for row in day.rows("orders") if row.get("Op"))

    assert max(commits.values()) > 1


def test_fields_appear_during_the_day(day: Day) -> None:
    first, *_, last = day.files("app_events")

    assert b'"screen"' not in _content(first)
    assert any(b'"screen"' in _content(path) for path in day.files("app_events"))
    assert b'"network"' not in _content(first)
    assert last.parent != first.parent


def test_a_field_has_one_type_unless_it_is_broken(day: Day) -> None:
    kinds: defaultdict[str, set[str]] = defaultdict(set)

    def collect(path: str, value: Any) -> None:
        kinds[path].add(type(value).__name__)
        for name, inner in value.items() if isinstance(value, dict) else ():
            collect(f"{path}.{name}", inner)
        for inner in value if isinstance(value, list) else ():
            collect(f"{path}[]", inner)

    for record in _read(day.lines("app_events"), ("insertId",))[0].values():
        if isinstance(record["jsonPayload"].get("user_id", 0), int):
            collect("", record)

    assert [path for path, names in kinds.items() if len(names) > 1] == []


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"events": 10}, "at least 1000"),
        ({"parts": 30}, "1 to 24"),
        ({"parts": 2, "first_part": 2}, "do not lie within"),
    ],
)
def test_a_wrong_plan_is_refused(wrong: dict[str, int], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Plan(**wrong)
