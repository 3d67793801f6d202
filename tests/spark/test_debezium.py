"""Recorded messages of Debezium land typed, and make the tables that PostgreSQL had."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.recorded import FAR, FOLDER, lines, truth
from tests.spark.oracle import UNAVAILABLE
from tests.spark.workshop import Workshop

DECLARED: dict[str, Any] = {"envelope": "debezium", "key": ["id"], "keep_current": True}


def landed(workshop: Workshop, name: str, slices: Sequence[Sequence[str]]) -> None:
    """Land messages in slices, a run each."""
    for number, one in enumerate(slices):
        workshop.drop(name, f"{number}.jsonl", "\n".join(one))
        workshop.land(name)


@pytest.fixture(scope="module")
def kinds(workshop: Workshop) -> Workshop:
    """Columns of all types, none of which is declared, but the key."""
    workshop.stream("kinds", {"id": "bigint"}, **DECLARED)
    landed(workshop, "kinds", [lines("b/kinds")[::-1]])
    return workshop


def test_the_schema_of_the_messages_makes_the_columns(kinds: Workshop) -> None:
    types = {one.name: one.dataType.simpleString() for one in kinds.table("kinds").schema}
    expected = {
        "c_bigint": "bigint",
        "c_real": "double",
        "c_num_12_2": "decimal(12,2)",
        "c_num_38_10": "decimal(38,10)",
        "c_numeric": "string",
        "c_bytea": "binary",
        "c_jsonb": "string",
        "c_texts": "array<string>",
        "c_nums_10_3": "array<decimal(10,3)>",
        "c_dates": "array<date>",
        "c_date": "date",
        "c_time_6": "string",
        "c_ts_3": "timestamp",
        "c_tstz": "timestamp",
    }
    assert {name: types[name] for name in expected} == expected


def test_every_message_is_in_bronze(kinds: Workshop) -> None:
    payloads = [json.loads(message)["payload"] for message in lines("b/kinds") if message != "null"]
    assert kinds.table("kinds").count() == len(lines("b/kinds"))
    assert kinds.table("kinds").where("op is not null").count() == sum(map(bool, payloads))


@pytest.mark.parametrize(
    ("column", "shown"),
    [
        ("c_bigint", "cast(c_bigint as string)"),
        ("c_num_12_2", "cast(c_num_12_2 as string)"),
        ("c_ts_0", "date_format(c_ts_0, 'yyyy-MM-dd HH:mm:ss')"),
        ("c_time_6", "c_time_6"),
        ("c_bytea", "'\\\\x' || lower(hex(c_bytea))"),
        ("big_text", "big_text"),
        ("big_varchar", "big_varchar"),
        ("big_bytes", "'\\\\x' || lower(hex(big_bytes))"),
    ],
)
def test_current_rows_equal_the_database(kinds: Workshop, column: str, shown: str) -> None:
    found = {row[0]: row[1:] for row in kinds.rows("kinds__current", "id", shown, "_rescued")}
    wanted = {int(str(row["id"])): row[column] for row in truth("kinds")}
    assert found.keys() == wanted.keys()
    for key, (value, rescued) in found.items():
        is_said = column in (rescued or "") or wanted[key] in (
            "NaN",
            UNAVAILABLE,
            unavailable_bytes(),
        )
        assert value == wanted[key] or is_said, (key, value, wanted[key])


def unavailable_bytes() -> str:
    """What stands for bytes that were not sent, as the row that really holds it shows it."""
    return "\\x" + UNAVAILABLE.encode().hex()


def test_no_value_stands_for_one_that_was_not_sent(kinds: Workshop) -> None:
    columns = ["big_texts", "big_ints", "big_longs", "big_dates", "big_hstore", "big_json"]
    shown = [f"to_json(struct({column}))" for column in columns]
    rows = [row for row in kinds.rows("kinds__current", "id", *shown) if row[0] in (101, 1101)]
    assert len(rows) == 2
    for row in rows:
        assert not [one for one in row[1:] if one == "{}" or "unavailable" in one], row
        assert not [one for one in row[1:] if "95,95,100" in one or "1970-04-06" in one], row


def test_what_no_column_holds_is_rescued(kinds: Workshop) -> None:
    [rescued] = (
        kinds.table("kinds").where("id = 1020 and op = 'c'").select("_rescued").distinct().collect()
    )
    assert json.loads(rescued[0])["c_tstz"] == f"{FAR}infinity"


@pytest.mark.long
def test_what_a_truncate_emptied_stays_empty(workshop: Workshop) -> None:
    """The later half comes first; then everything comes, some of it a second time."""
    messages = lines("b/emptied")
    workshop.stream("emptied", {"id": "bigint"}, **DECLARED)
    landed(workshop, "emptied", [messages[len(messages) // 2 :], messages])
    found = workshop.rows("emptied__current", "cast(id as string)", "name")
    assert [tuple(row) for row in found] == [(row["id"], row["name"]) for row in truth("emptied")]


def replayed(messages: Sequence[str]) -> dict[int, dict[str, Any]]:
    """The rows that messages in their order leave; a value that was not sent stays."""
    rows: dict[int, dict[str, Any]] = {}
    for message in map(json.loads, messages):
        if not message:
            continue
        if message["op"] == "d":
            rows.pop(message["before"]["id"], None)
            continue
        row = message["after"]
        old = rows.get(row["id"], {})
        rows[row["id"]] = {
            name: old.get(name) if value == UNAVAILABLE else value for name, value in row.items()
        }
    return rows


@pytest.mark.long
def test_any_order_of_a_workload_makes_the_same_table(
    workshop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    messages = lines("acc/accounts")
    expected = replayed(messages)
    columns = {"id": "int", "balance": "decimal(12,2)", "updated_at": "timestamp"}
    workshop.stream("accounts", columns, **DECLARED)
    shuffled = random.Random(7).sample(messages, len(messages))
    landed(workshop, "accounts", [shuffled[0::3], shuffled[1::3] + shuffled[:50], shuffled[2::3]])

    rows = workshop.table("accounts__current").collect()
    found = {row.id: row.asDict() for row in rows}
    wanted = {int(str(row["id"])): row for row in truth("accounts")}
    assert found.keys() == expected.keys() == wanted.keys()
    for key, row in wanted.items():
        shown = [str(found[key][name]) for name in ("owner", "balance", "version")]
        assert shown == [row["owner"], row["balance"], row["version"]], key
        # A row whose key changed comes without the values that stayed.
        assert found[key]["note"] == expected[key]["note"], key
        assert found[key]["note"] in (row["note"], None), key
    assert "rows were created without values that PostgreSQL did not send" in caplog.text


@pytest.mark.long
def test_avro_lands_as_json_does(kinds: Workshop) -> None:
    """By a key that some rows lack, so that records are looked for a second time, too."""
    kinds.stream(
        "avro", **DECLARED | {"format": "avro", "key": ["c_num_12_2"], "keep_current": False}
    )
    files = sorted((FOLDER / "h").glob("*.avro"))
    for path in files:
        kinds.drop("avro", path.name, path.read_bytes())
    kinds.drop("avro", "broken.avro", files[0].read_bytes()[:-100])
    kinds.land("avro")

    messages = [json.loads(line) for line in lines("a/kinds") if line != "null"]
    keyed = [(one["before"] or {}) | (one["after"] or {}) for one in messages]
    lacking = sum(row.get("c_num_12_2") is None for row in keyed)
    assert kinds.table("avro").count() == len(messages) - lacking
    rejects = kinds.rejects("avro")
    assert [row._reason_code for row in rejects].count("NULL_KEY") == lacking
    [broken] = [row for row in rejects if row.file == "broken.avro"]
    assert broken._reason_code == "FILE_UNREADABLE"
    said = json.loads(bytes(next(row for row in rejects if row._raw)._raw))
    assert said["payload"]["source"]["name"] == "h"
    types = {one.name: one.dataType for one in kinds.table("avro").schema}
    assert types["c_ts_6"] == kinds.table("kinds").schema["c_ts_6"].dataType
