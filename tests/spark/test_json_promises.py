"""Of random JSON records each value lands as it was sent, is rescued, or waits in quarantine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from pyspark.sql import Row
from pyspark.sql import types as T

from tests.fuzzing import cases, seed
from tests.spark.accounts import unaccounted
from tests.spark.workshop import Columns, Workshop

COLUMNS: Final = {
    "n": "bigint",
    "i": "int",
    "d": "double",
    "m": "decimal(12,2)",
    "s": "string",
    "b": "boolean",
    "on": "date",
    "at": "timestamp",
    "raw": "binary",
    "v": "variant",
    "texts": "map<string,string>",
    "times": "map<string,timestamp>",
    "days": "array<date>",
    "o": "struct<at: timestamp, n: int, days: array<struct<on: date>>>",
}
SCALARS: Final = [
    *(None, True, 0, 7, -1, 2**31, 2**63, 10**40, 0.5, 1.005, 1e300, 0.1 + 0.2, -0.0),
    *("", "x", "7", "1.50", "true", "null", "eA==", "\x00", "😀", "\ud800", "x\udfff", "a'b`"),
    *("2026-11-28", "2026-02-30", "2026", "10:15", "T10:15:00", "170000", "20261128", "now"),
    *("2026-11-28T10:15:00Z", "2026-11-28 10:15:00.123456789+05:30", "2026-11-28T24:00:00Z"),
    *("0001-01-01", "0000-01-01", "9999-12-31T23:59:59-08:00", "10000-01-01", "infinity"),
]
# Names of columns, of helpers of ours, and those that Spark takes for others or refuses.
NAMES: Final = [
    *COLUMNS,
    *("new", "New", "x y", "a.b", "de-DE", "sınır", "sinir", "SINIR", "a`b", 'a"b', "", "\ud800"),
    *("_metadata", "_raw", "_record", "_corrupt_record", "_source", "_batch_id", "_ref", "_row"),
    *("_rescued", "_position", "_id_0", "_rank", "record", "fits", "file", "offset", "made", "1"),
]


def value(draw: random.Random, depth: int = 3) -> Any:
    """Any value of JSON."""
    kind = draw.random()
    if depth and kind < 0.15:
        return [value(draw, depth - 1) for _ in range(draw.randrange(3))]
    if depth and kind < 0.35:
        return {draw.choice(NAMES): value(draw, depth - 1) for _ in range(draw.randrange(4))}
    return draw.choice(SCALARS)


def record(draw: random.Random, number: int) -> str:
    """A record of JSON; here and there a name stands in it twice."""
    names = draw.sample(NAMES, draw.randrange(1, 9))
    members = [("n", number), *((name, value(draw)) for name in names if name != "n")]
    if draw.random() < 0.05:
        members.append((draw.choice(names), None))
    draw.shuffle(members)
    return "{" + ",".join(f"{json.dumps(name)}:{json.dumps(one)}" for name, one in members) + "}"


def bare(text: str) -> str:
    """A record that is the row."""
    return text


def changed(text: str) -> str:
    """A change of Debezium that creates the row."""
    return f'{{"op":"c","source":{{"lsn":1}},"before":null,"after":{text}}}'


@pytest.mark.parametrize(
    ("name", "wrapped", "columns", "declared"),
    [
        ("any_json", bare, COLUMNS, {}),
        ("any_text", bare, {}, {"infer_column_types": False}),
        ("any_file", bare, {}, {"multi_line": True}),
        ("any_change", changed, {}, {"envelope": "debezium"}),
    ],
)
def test_each_value_lands_is_rescued_or_waits_in_quarantine(
    workshop: Workshop,
    name: str,
    wrapped: Callable[[str], str],
    columns: Columns,
    declared: dict[str, Any],
) -> None:
    draw = random.Random(seed())
    workshop.stream(name, columns, key=["n"], **declared)
    sent: dict[int, str] = {}
    is_cut = not declared.get("multi_line")
    for batch in range(2):
        texts = {
            number: record(draw, number)
            for number in range(1000 * batch, 1000 * batch + (cases(200) if is_cut else 40))
        }
        sent |= texts
        if is_cut:
            workshop.drop(name, f"{batch}.jsonl", "\n".join(map(wrapped, texts.values())))
        for number, text in texts.items():
            if not is_cut:
                workshop.drop(name, f"{number}.json", text)
        workshop.land(name)

    table = workshop.table(name)
    own = [field for field in table.schema.fields if not is_ours(field.name)]
    rows = {int(row["n"]): row for row in table.collect()}
    rejects = {bytes(row._raw).decode(): row._reason_code for row in workshop.rejects(name)}
    assert set(rejects.values()) <= {"DUPLICATE_KEY"}
    assert len(rows) + len(rejects) == len(sent)
    problems = []
    for number, text in sent.items():
        if wrapped(text) in rejects:
            assert number not in rows
            continue
        landed = {field.name: plain(rows[number][field.name], field.dataType) for field in own}
        rescued = json.loads(rows[number]["_rescued"] or "{}")
        problems += [f"{text}: {one}" for one in unaccounted(json.loads(text), landed, rescued)]
    assert not problems, "\n".join(problems[:20])


def is_ours(name: str) -> bool:
    """Whether ingest has added a column."""
    return name in (
        *("_ingested_at", "_batch_id", "_source", "_partition", "_offset", "_key", "_headers"),
        *("_timestamp", "_schema_id", "_event_date", "_event_type", "_rescued"),
        # Of a change.
        *("op", "source_lsn", "source_ts_ms", "transaction_order", "debezium"),
    )


def plain(found: Any, kind: T.DataType) -> Any:
    """A value of a row as JSON has it; dates and times as Python's."""
    if found is None:
        return None
    if isinstance(kind, T.StructType):
        assert isinstance(found, Row)
        return {one.name: plain(found[one.name], one.dataType) for one in kind.fields}
    if isinstance(kind, T.ArrayType):
        return [plain(one, kind.elementType) for one in found]
    if isinstance(kind, T.MapType):
        return {name: plain(one, kind.valueType) for name, one in found.items()}
    if isinstance(kind, T.VariantType):
        return json.loads(found.toJson())
    # PySpark shows instants in the process's own zone.
    return found.astimezone(UTC) if isinstance(found, datetime) else found


HALF: Final = r"\ud800"


def test_half_of_a_surrogate_pair_costs_an_event_no_other_value(workshop: Workshop) -> None:
    workshop.stream("halves", envelope="cloudevents", event_id=["id"], deduplicate_within="1 day")
    event = f'{{"specversion":"1.0","source":"s","type":"t","data":{{"x":"a{HALF}","y":1}},"id":'
    workshop.drop(
        "halves", "1.jsonl", f'{event}"1"}}\n{event}"2"}}\n{event}"2"}}\n{event}"{HALF}"}}'
    )
    workshop.land("halves")
    assert workshop.rows("halves", "id", "type", "to_json(data)", "_rescued") == [
        (number, "t", '{"x":"a\ufffd","y":1}', f'{{"data.x":"a{HALF}"}}') for number in "12"
    ]
    (reject,) = workshop.rejects("halves")
    assert (reject._reason_code, bytes(reject._raw).decode()) == ("NULL_KEY", f'{event}"{HALF}"}}')
    assert sorted(row.y for row in workshop.type_table("t").collect()) == [1, 1]


def test_a_change_with_half_of_a_surrogate_pair_is_no_tombstone(workshop: Workshop) -> None:
    workshop.stream("half_changes", {"id": "bigint"}, envelope="debezium", key=["id"])
    change = '{"op":"%s","source":{"lsn":1},"before":null,"after":{"id":%s,"name":"%s"}}'
    lines = [change % ("c", 1, "x"), change % ("c", 2, HALF), change % ("c", f'"{HALF}"', "y")]
    workshop.drop("half_changes", "1.jsonl", "\n".join(lines))
    workshop.land("half_changes")
    assert workshop.rows("half_changes", "id", "op", "name", "_rescued") == [
        (1, "c", "x", None),
        (2, "c", None, f'{{"name":"{HALF}"}}'),
    ]
    assert [row._reason_code for row in workshop.rejects("half_changes")] == ["NULL_KEY"]


def test_a_file_that_is_one_document_lands_but_for_half_of_a_pair(workshop: Workshop) -> None:
    workshop.stream("half_files", multi_line=True)
    workshop.drop("half_files", "1.json", f'{{\n"id": 1,\n"names": ["x", "{HALF}"]\n}}')
    workshop.land("half_files")
    assert workshop.rows("half_files", "id", "names", "_rescued") == [
        (1, ["x", None], f'{{"names[1]":"{HALF}"}}')
    ]
