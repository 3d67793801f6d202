"""What becomes of JSON records: three runs over one stream, looked at from many sides."""

from __future__ import annotations

import json
import logging
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ingest.decoders.decoder import ROW
from ingest.landing.batch import BatchProcessor
from ingest.runtime.progress import read_totals
from ingest.schemas.ingest_columns import INGEST
from tests.spark.workshop import Workshop, age, node

HINTS = {"at": "timestamp", "payload.user_id": "bigint", "payload.price": "decimal(10,2)"}
BROKEN = [
    b'{"id": "cut", "at": "2026-01-0',
    b"no json at all",
    b'{"id": "g1"}{"id": "g2"}',
    b'{"id": "g3"}, {"id": "g4"}',
    b'{"id": "g5"}]',
    b'{"id": "g6"}}',
    b'{"id": "g7"} // seven',
    b'["an", "array"]',
    b'{"id": "twice", "id": "twice"}',
    b'{"id": "bytes", "s": "\xff\xfe"}',
    b'{"at": "2026-01-01T00:00:00Z", "payload": {}}',
    b'{"id": ' + b"[" * 1100 + b"]" * 1100 + b"}",
]
CODES = [
    *["MALFORMED_JSON"] * 7,
    "NOT_AN_OBJECT",
    "DUPLICATE_KEY",
    "INVALID_UTF8",
    "NULL_KEY",
    "TOO_DEEP",
]


def event(identifier: str, kind: str = "viewed", day: int = 1, **payload: Any) -> dict[str, Any]:
    """An event of a stream that a router wrote."""
    at = f"2026-01-{day:02}T23:59:59.5Z"
    return {"id": identifier, "at": at, "payload": {"type": kind, **payload}}


@pytest.fixture(scope="module")
def landed(workshop: Workshop) -> Workshop:
    """Three runs: everything at once; later files; the same ids after the horizon."""
    workshop.stream(
        "events",
        HINTS,
        key=["id"],
        event_id=["id"],
        event_type="payload.type",
        event_time="at",
        deduplicate_within="7 days",
    )
    first = [event("a1", user_id=1), event("a2", "bought", 2, user_id=2, price=1.5), event("a1")]
    lines = [json.dumps(one).encode() for one in first]
    mixed = b"\r\n".join([lines[0], BROKEN[0], b"", lines[1], *BROKEN[1:], lines[2]])
    workshop.drop("events", "mixed.jsonl", mixed)
    workshop.drop("events", "at 10:15.jsonl", [event("c2")])
    workshop.drop("events", "10:15 [1].jsonl", [event("c3")])
    workshop.drop("events", "packed.jsonl.gz", [event("b1", user_id="abc"), event("b2", day=3)])
    workshop.drop("events", "odd/10h15 [ä]%20*.jsonl", [event("c1")])
    workshop.land("events")

    age(workshop.drop("events", "old.jsonl", [event("d1", new="field")]), weeks=3)
    again = [event("a1"), event("cut"), event("d2", price=0.005), {"id": "a2"}]
    workshop.drop("events", "again.jsonl", again)
    age(workshop.drop("events", "mixed.jsonl", b"other bytes\n"), minutes=5)
    workshop.land("events")

    workshop.ahead = timedelta(days=8)
    workshop.drop("events", "late.jsonl", [event("a1"), event("a1")])
    workshop.land("events")
    workshop.ahead = timedelta(0)
    return workshop


def test_every_event_lands_once_within_the_horizon_and_again_after_it(landed: Workshop) -> None:
    ids = ["a1", "a1", "a2", "b1", "b2", "c1", "c2", "c3", "cut", "d1", "d2"]
    assert landed.values("events", "id") == ids


def test_a_broken_first_copy_does_not_shadow_a_good_second(landed: Workshop) -> None:
    sources = landed.rows("events", "id", "_source like '%again.jsonl' as second")
    assert ("cut", True) in [tuple(row) for row in sources]


def test_broken_records_are_kept_with_their_bytes_line_and_reason(landed: Workshop) -> None:
    rejects = [row for row in landed.rejects("events") if row.file == "mixed.jsonl"]
    rejects.sort(key=lambda row: row._position)
    assert [bytes(row._raw) for row in rejects] == BROKEN
    assert [row._reason_code for row in rejects] == CODES
    assert [row._position for row in rejects] == [2, *range(5, 16)]


def test_reject_has_rule_and_version(landed: Workshop) -> None:
    table = landed.table("events__quarantine").where("_reason_code = 'NULL_KEY'")
    (row,) = table.select("_rule", "_reason", "_code_version").collect()
    assert (row._rule, row._reason) == ("key: id", "id is null")
    assert row._code_version


def test_a_value_that_does_not_fit_is_rescued_and_its_row_lives(landed: Workshop) -> None:
    rescued = landed.table("events").where("_rescued is not null")
    rows = sorted(
        tuple(row) for row in rescued.select("id", "_rescued", "payload.user_id").collect()
    )
    assert rows == [
        ("b1", '{"payload.user_id":"abc"}', None),
        ("d2", '{"payload.price":"0.005"}', None),
    ]


def test_a_new_field_of_an_object_grows_the_table_within_its_batch(landed: Workshop) -> None:
    rows = landed.rows("events", "id", "payload.new")
    assert ("d1", "field") in [tuple(row) for row in rows]
    schemas = landed.spark.read.format("delta").load(landed.lake.ops("event_schemas"))
    added = schemas.where("stream = 'test.events'").selectExpr("inline(added)").collect()
    assert ("payload.new", "string") in [tuple(row) for row in added]


def test_sources_are_the_files_as_they_are_named(landed: Workshop) -> None:
    (source,) = landed.table("events").where("id = 'c1'").select("_source").collect()
    assert Path(source[0]) == landed.folder("events") / "odd/10h15 [ä]%20*.jsonl"


def test_event_date_and_type_come_from_the_declared_paths(landed: Workshop) -> None:
    rows = landed.rows("events", "id", "_event_date", "_event_type")
    assert ("a2", date(2026, 1, 2), "bought") in [tuple(row) for row in rows]
    assert ("b2", date(2026, 1, 3), "viewed") in [tuple(row) for row in rows]


def test_the_columns_of_ingest_stand_first_with_their_types(landed: Workshop) -> None:
    there = landed.table("events").schema
    ours = [(member.name, member.dataType) for member in INGEST.fields]
    assert [(member.name, member.dataType) for member in there.fields[: len(ours)]] == ours
    assert not [name for name in there.fieldNames()[len(ours) :] if name.startswith("_")]


def test_each_commit_has_a_batch_number_of_its_own_that_never_goes_back(landed: Workshop) -> None:
    history = landed.spark.sql(f"describe history delta.`{landed.lake.bronze('test__events')}`")
    writes = history.where("operation = 'WRITE'").orderBy("version").select("version").collect()
    newest = []
    for row in writes:
        at = landed.spark.read.format("delta").option("versionAsOf", row.version)
        batches = at.load(landed.lake.bronze("test__events")).selectExpr("max(_batch_id)").first()
        assert batches is not None
        newest.append(batches[0])
    filled = [batch for batch in newest if batch is not None]
    assert filled == sorted(filled)
    batches_of = {row._batch_id for row in landed.table("events").select("_batch_id").collect()}
    assert batches_of <= set(filled)


def test_a_changed_file_is_reported_and_its_rows_stay(landed: Workshop) -> None:
    totals = read_totals(landed.lake, "test.events", "test__events")
    assert totals.changed_files == 1
    assert totals.quarantined == len(BROKEN)
    assert totals.landed == 11
    assert totals.files == 8


def test_nothing_new_lands_nothing(landed: Workshop, caplog: pytest.LogCaptureFixture) -> None:
    before = landed.table("events").count()
    with caplog.at_level(logging.WARNING, "ingest"):
        landed.land("events")
    assert landed.table("events").count() == before
    assert not caplog.records


def test_records_without_an_identity_are_kept_apart(workshop: Workshop) -> None:
    workshop.stream("ids", event_id=["p.id", "p.part"], deduplicate_within="1 day")
    full = {"p": {"id": 1, "part": 1}}
    records = [full, full, {"p": {"id": 1}}, {"p": {"id": 1}}, {"q": 1}, {"q": 1}]
    workshop.drop("ids", "1.jsonl", records)
    workshop.land("ids")
    assert workshop.table("ids").count() == 5
    workshop.drop("ids", "2.jsonl", records)
    workshop.land("ids")
    assert workshop.table("ids").count() == 9


NUMBERS = [
    "0",
    "-0",
    "-0.0",
    "0.1",
    "1.50",
    "1e2",
    "1E+2",
    "1.5e-25",
    "16777217",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "1e400",
    "-1e400",
    "1e-400",
    "0.30000000000000004",
    "0.3000000000000000444",
    "1.00000000000000000001",
    "1.005",
    "0.005",
    "0.00000000000000000001234567890123456789",
    "0.00000000000000000000015",
    "99999999999.999",
    "12345678901234567890.5",
    "123456789012345678901234567890123456789012",
    "0.12345678901234567890123456789012345678901234",
    "3.141592653589793",
    "4.35",
    "1e22",
    "1e21",
]


def test_no_number_is_rounded_in_silence(workshop: Workshop) -> None:
    types = {"d": "double", "f": "float", "m": "decimal(12,2)", "w": "decimal(38,2)", "b": "bigint"}
    workshop.stream("numbers", {**types, "i": "int", "s": "string"})
    columns = [*types, "i", "s", "free"]
    lines = [f'{{"k": "{c} {n}", "{c}": {n}}}' for c in columns for n in NUMBERS]
    workshop.drop("numbers", "1.jsonl", "\n".join(lines))
    workshop.land("numbers")
    assert workshop.rejects("numbers") == []
    rows = workshop.rows(
        "numbers", "k", "_rescued", *(f"cast({c} as string) as {c}" for c in columns)
    )
    assert len(rows) == len(lines)
    for row in rows:
        column, number = row.k.split()
        if row[column] is None:
            assert json.loads(row._rescued) == {column: number}, row
        else:
            assert row._rescued is None, row
            assert exactly(row[column]) == exactly(number), row
    # What fits must not be rescued either.
    kept = {row.k for row in rows if row._rescued is None}
    assert {"d 0.1", "f 0.1", "d 1e22", "m 1.50", "w 12345678901234567890.5"} <= kept


def exactly(number: str) -> Decimal:
    """A number that compares by its digits."""
    return Decimal(number)


def test_a_record_that_is_lost_on_its_way_stops_the_stream(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.stream("uncounted")
    workshop.drop("uncounted", "1.jsonl", b'{"id": 1}\nno json\n{"id": 2}\n')
    monkeypatch.setattr(BatchProcessor, "_fresh", lambda _, rows, __: rows.where(f"{ROW}.id <> 2"))
    assert "batch 0: 3 records were read, and 2 came to be in bronze or quarantine." in str(
        workshop.run("uncounted")
    )
    assert read_totals(workshop.lake, "test.uncounted", "test__uncounted").state == "failed"
    # What an earlier process has written is not counted again.
    assert workshop.run("uncounted") is None
    assert workshop.values("uncounted", "id") == [1]


SUITE = Path(__file__).resolve().parent.parent / "data" / "json-test-suite"


def test_each_file_of_the_json_test_suite_lands_or_is_quarantined(workshop: Workshop) -> None:
    files = {path.name: path.read_bytes() for path in SUITE.glob("*.json")}
    workshop.stream("suite", multi_line=True)
    for name, content in files.items():
        workshop.drop("suite", name, content)
    workshop.land("suite")
    landed = workshop.values("suite", "element_at(split(_source, '/'), -1)")
    rejects = workshop.rejects("suite")
    assert sorted([*landed, *(row.file for row in rejects)]) == sorted(files)
    assert not [name for name in landed if name.startswith("n_")]
    assert [row.file for row in rejects if bytes(row._raw or b"") != files[row.file]] == []
    objects = {
        name
        for name, content in files.items()
        if name.startswith("y_") and content.strip().startswith(b"{")
    }
    refused = {row.file for row in rejects if row._reason_code == "DUPLICATE_KEY"}
    assert objects - refused <= set(landed)


def test_what_is_masked_is_in_no_table(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_MASK_KEY", "secret")
    folder = workshop.folder("masked")
    folder.mkdir(parents=True)
    declared = {"from": "files", "path": str(folder), "format": "json", "key": ["id"]}
    entry = node("test.masked", declared, {"id": "bigint", "email": "string"})
    entry["columns"]["email"]["config"] = {"meta": {"mask": "hash"}}
    workshop.declare("masked", entry)
    lines = ['{"id":1,"email":"private"}', '{"email":"private"}', '{"id":3,"email":"private']
    workshop.drop("masked", "1.jsonl", "\n".join([*lines, '{"id":4,"Email":"private","new":1}']))
    workshop.land("masked")
    rows = workshop.rows("masked", "id", "length(email) as length", "new", "_rescued")
    assert [tuple(row)[:3] for row in rows] == [(1, 64, None), (4, None, 1)]
    # In another case it is no column, and hidden all the same.
    assert len(json.loads(rows[1]._rescued)["Email"]) == 64
    rejects = {row._reason_code: row._raw for row in workshop.rejects("masked")}
    assert rejects.keys() == {"MALFORMED_JSON", "NULL_KEY"}
    assert rejects["MALFORMED_JSON"] is None
    for name in ("masked", "masked__quarantine"):
        for row in workshop.table(name).collect():
            assert "private" not in str(row)
