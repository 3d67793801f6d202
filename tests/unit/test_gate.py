"""Changes that do not go with what was promised before are refused, and it is told who is hit."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import types as T
from typing_extensions import override

from ingest import settings
from ingest.cli import gate
from ingest.contracts.comparison import against_revision
from ingest.contracts.differences import differences, is_widening
from ingest.contracts.promises import Promise, promised
from ingest.contracts.registration import ask_for_compatibility
from ingest.contracts.revisions import promised_at
from ingest.declarations.datatypes import data_type
from ingest.declarations.reading import read_stream
from ingest.errors import DeclarationInvalid, RevisionUnknown, SchemaRefused
from ingest.lineage.readers import Readers
from ingest.registry.client import SchemaRegistry
from ingest.registry.columns import columns
from ingest.registry.compatibility import Compatibility
from tests.unit.test_avro_schemas import schema
from tests.unit.test_declarations import node

A = schema(("a", "int"))
WITH_DEFAULT = json.dumps(
    {
        **json.loads(A),
        "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 0}],
    }
)
AND_B = schema(("a", "int"), ("b", "int"))
TEXT = schema(("a", "string"))


@pytest.mark.parametrize(
    ("asked", "before", "new", "refusals"),
    [
        ("none", [A], TEXT, 0),
        ("backward", [A], WITH_DEFAULT, 0),
        ("backward", [A], AND_B, 1),
        ("backward", [AND_B], A, 0),
        ("forward", [A], AND_B, 0),
        ("forward", [AND_B], A, 1),
        ("full", [A], WITH_DEFAULT, 0),
        ("full", [A], AND_B, 1),
        ("full", [A], TEXT, 2),
        # Only the newest counts, unless the mode is transitive.
        ("backward", [A, WITH_DEFAULT], AND_B, 0),
        ("backward_transitive", [A, WITH_DEFAULT], AND_B, 1),
        ("forward", [AND_B, A], A, 0),
        ("forward_transitive", [AND_B, A], A, 1),
        ("full_transitive", [TEXT, AND_B, A], A, 3),
    ],
)
def test_a_mode_refuses(asked: str, before: list[str], new: str, refusals: int) -> None:
    named = [(f"version {number}", one) for number, one in enumerate(before, 1)]
    assert len(list(Compatibility(asked).refusals(new, named))) == refusals


@pytest.mark.parametrize(
    ("before", "now", "is_it"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("int", "double", True),
        ("bigint", "double", False),
        ("float", "double", True),
        ("date", "timestamp_ntz", True),
        ("date", "timestamp", False),
        ("int", "string", False),
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(11,3)", True),
        ("decimal(10,2)", "decimal(10,3)", False),
        ("int", "decimal(10,0)", True),
        ("bigint", "decimal(19,0)", False),
        ("string", "decimal(38,0)", False),
    ],
)
def test_delta_widens(before: str, now: str, is_it: bool) -> None:
    assert is_widening(data_type(before), data_type(now)) is is_it


def test_columns_are_compared_to_the_bottom() -> None:
    before = data_type(
        "struct<a: int, S: struct<b: int, c: date>, l: array<struct<d: int, e: int>>>"
    )
    now = data_type("struct<A: bigint, s: struct<b: string>, l: array<struct<d: int>>, new: int>")
    assert [(one.path, one.fate.value) for one in differences(before, now)] == [
        (("a",), "widened"),
        (("S", "b"), "retyped"),
        (("S", "c"), "removed"),
        (("l", "e"), "removed"),
    ]


def test_a_schema_has_the_columns_that_spark_makes_of_it() -> None:
    item = {
        "type": "record",
        "name": "Item",
        "namespace": "n",
        "fields": [{"name": "x", "type": "int"}],
    }
    decimal = {
        "type": "fixed",
        "name": "D",
        "size": 4,
        "logicalType": "decimal",
        "precision": 9,
        "scale": 2,
    }
    whole = schema(
        ("i", ["null", item]),
        ("again", {"type": "map", "values": "n.Item"}),
        ("price", decimal),
        ("at", {"type": "long", "logicalType": "local-timestamp-micros"}),
        ("day", {"type": "int", "logicalType": "date"}),
        ("time", {"type": "int", "logicalType": "time-millis"}),
        ("kind", {"type": "enum", "name": "K", "symbols": ["A"]}),
        ("n", ["int", "long"]),
        ("either", ["null", "int", "n.Item", {"type": "array", "items": "int"}]),
    )
    assert columns(whole).simpleString() == (
        "struct<i:struct<x:int>,again:map<string,struct<x:int>>,price:decimal(9,2),at:timestamp,"
        "day:date,time:string,kind:string,n:bigint,"
        "either:struct<member_int:int,member_Item:struct<x:int>,member_array:array<int>>>"
    )
    assert columns('"string"') == T.StructType([T.StructField("value", T.StringType())])
    with pytest.raises(ValueError, match="holds itself"):
        columns(schema(("next", ["null", "R"])))


AVRO = {"from": "kafka", "topic": "orders", "format": "avro"}


def promise(
    schema: str | None = None, hints: Mapping[str, str] | None = None, **avro: str
) -> Promise:
    """A stream's, of messages of Avro or of hints alone."""
    return Promise(read_stream(node({**AVRO, "avro": avro}, columns=dict(hints or {}))), schema)


def told(
    now: Promise, before: Promise, readers: Readers | None = None
) -> list[tuple[str | None, bool]]:
    """Columns that differ, and whether it is refused; None for the schema as a whole."""
    found = against_revision(
        {"s": now}, {"s": before}, "main", lambda _: readers if readers is not None else Readers()
    )
    return [(one.column, one.is_refused) for one in found]


def test_removed_column_is_refused_if_a_model_reads_it() -> None:
    before, now = promise(AND_B), promise(A)
    assert told(now, before) == [("b", False)]
    assert told(now, before, Readers(models=("m",))) == [("b", True)]
    assert told(now, before, Readers(unresolved={"m": "why"})) == [("b", True)]


def test_unwidenable_type_change_is_refused_with_or_without_readers() -> None:
    long = schema(("a", "long"))
    assert told(promise(long), promise(A), Readers(models=("m",))) == [("a", False)]
    free = {"compatibility": "none"}
    assert told(promise(A, None, **free), promise(long, None, **free)) == [("a", True)]
    assert told(promise(hints={"x": "string"}), promise(hints={"x": "int"})) == [("x", True)]
    # The hint is the column's type before and after, whatever messages say.
    kept = {"a": "string"}
    assert told(promise(TEXT, kept, **free), promise(A, kept, **free)) == []


def test_the_declared_mode_decides_and_else_data_must_stay_readable() -> None:
    before = promise(A)
    assert told(promise(AND_B), before) == [(None, True)]
    forward = {"compatibility": "forward"}
    assert told(promise(AND_B, None, **forward), promise(A, None, **forward)) == []
    # Under another subject it is a new beginning.
    assert told(promise(AND_B, subject="orders.v2-value"), before) == []


@pytest.mark.parametrize(
    ("before", "now", "schema", "findings"),
    [
        # What is looser is said, and lets nothing pass that the mode before refused.
        ("backward", "none", A, [False]),
        ("backward", "none", AND_B, [False, True]),
        (None, "none", AND_B, [False, True]),
        ("full", "forward", AND_B, [False, True]),
        ("full", None, AND_B, [True, False]),
        ("backward_transitive", "backward", WITH_DEFAULT, [False]),
        # What is stricter counts at once.
        ("none", "backward", AND_B, [True]),
        ("none", "none", AND_B, []),
        ("backward", "full", WITH_DEFAULT, []),
    ],
)
def test_a_mode_is_loosened_by_a_change_of_its_own(
    before: str | None, now: str | None, schema: str, findings: list[bool]
) -> None:
    new, old = ({"compatibility": one} if one else {} for one in (now, before))
    found = told(promise(schema, None, **new), promise(A, None, **old))
    assert found == [(None, is_refused) for is_refused in findings]


def test_looser_compatibility_of_connector_subjects_is_reported() -> None:
    full, none = promise(compatibility="full"), promise(compatibility="none")
    assert told(none, full) == [(None, False)]
    assert told(full, none) == []
    # It is asked for no more, and the registry keeps it.
    assert told(promise(), full) == []


def test_a_stream_that_is_new_breaks_nothing() -> None:
    assert list(against_revision({"s": promise(A)}, {}, "main", lambda _: Readers())) == []


def test_columns_of_a_payload_are_looked_for_in_the_tables_of_types() -> None:
    declared = {"from": "files", "path": "a", "format": "json", "envelope": "cloudevents"}
    declared["per_type"] = "views"
    stream = read_stream(node(declared, columns={"data.price": "int", "data.Id": "int"}))
    one = promised([stream])["shop.orders"]
    assert one.hints["data"].dataType.simpleString() == "struct<price:int,Id:int>"
    assert one.tables(("data", "price")) == {
        "bronze.shop__orders": {("data", "price")},
        "bronze.shop__orders__current": {("data", "price")},
        "events_of.shop__orders": {("price",)},
    }
    # Beside the event's own id.
    assert one.tables(("data", "Id"))["events_of.shop__orders"] == {("data_id",)}


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ({"compatibility": "both"}, "'both' is not one of none, backward,"),
        ({"schema": "a.avsc", "envelope": "debezium"}, "schema: has no meaning with an envelope"),
        ({"compatibility": "full", "topic_pattern": "o.*"}, "needs a subject"),
    ],
)
def test_a_wrong_mode_is_refused(declared: dict[str, Any], why: str) -> None:
    keys = ("schema", "subject", "compatibility")
    avro = {key: declared.pop(key) for key in keys if key in declared}
    source = {"from": "kafka", "format": "avro", "topic": "orders", "avro": avro, **declared}
    if "topic_pattern" in source:
        del source["topic"]
    with pytest.raises(DeclarationInvalid, match=why):
        read_stream(node(source))


class Asked(SchemaRegistry):
    """A registry that remembers of which subjects a mode was asked."""

    def __init__(self) -> None:
        self.subjects: list[str] = []

    @override
    def ask_for(self, subject: str, compatibility: Compatibility) -> None:
        self.subjects.append(subject)


def test_a_mode_is_asked_of_the_subjects_that_the_messages_have() -> None:
    entry = node({**AVRO, "avro": {"compatibility": "full"}}, columns={"email": "string"})
    plain = read_stream(entry)
    entry["columns"]["email"]["config"] = {"meta": {"mask": "redact"}}
    masked = read_stream(entry)
    changes = read_stream(
        node({**AVRO, "envelope": "debezium", "key": ["id"], "avro": {"compatibility": "full"}})
    )
    registry = Asked()
    for one in (plain, masked, changes):
        ask_for_compatibility(registry, one)
    assert registry.subjects == ["orders-value", "orders-value", "orders-key", "orders-value"]


PROJECT = {
    "dbt_project.yml": "name: small\nversion: '1.0'\nconfig-version: 2\nprofile: small\n",
    "profiles.yml": """
small: {target: t, outputs: {t: {type: spark, method: session, host: none, schema: s}}}
""",
    "schemas/a.avsc": A,
    "models/sources.yml": """
sources:
  - name: web
    schema: bronze
    tables:
      - name: events
        identifier: web__events
        config: {meta: {ingest: {from: files, path: landing, format: json}}}
        columns: [{name: price, data_type: int}, {name: page, data_type: string}]
      - name: clicks
        identifier: web__clicks
        config:
          meta:
            ingest: {from: kafka, topic: clicks, format: avro, avro: {schema: schemas/a.avsc}}
""",
    "models/sales.sql": "select price from {{ source('web', 'events') }}",
    "models/pages.sql": "select page from {{ source('web', 'events') }}",
}


def git(folder: Path, *command: str) -> None:
    """Do something to a repository."""
    who = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
    subprocess.run(["git", *who, *command], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in a folder of a repository, where the tag `before` has it, and `empty` has not."""
    folder = tmp_path / "inner"
    for name, text in PROJECT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-qm", "nothing", "--allow-empty")
    git(tmp_path, "tag", "empty")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "tag", "before")
    monkeypatch.setattr(settings, "project_dir", lambda: folder)
    return folder


def test_refused_change_names_its_readers(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = project / "models" / "sources.yml"
    text = sources.read_text("utf-8")
    gate.check_against("before", (), (), is_json=False)
    assert capsys.readouterr().out == "no change against before affects producers or readers\n"
    sources.write_text(text.replace("price, data_type: int", "price, data_type: string"), "utf-8")
    (project / "schemas" / "a.avsc").write_text(AND_B, "utf-8")
    with pytest.raises(SchemaRefused, match=r"2 changes .* refused: web.clicks, web.events"):
        gate.check_against("before", (), (), is_json=False)
    clicks, events = capsys.readouterr().out.splitlines()
    assert clicks.startswith("refused: web.clicks: clicks-value is backward: it cannot read what")
    assert events.startswith("refused: web.events, column price: int became string, to which Delta")
    assert events.endswith("read by models sales")
    with pytest.raises(SchemaRefused):
        gate.check_against("before", ("source:web.events",), (), is_json=True)
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert (change["models"], change["is_refused"]) == (["sales"], True)


@pytest.mark.usefixtures("project")
def test_unknown_git_revision_is_reported() -> None:
    for wrong in ("nowhere", "--all"):
        with pytest.raises(RevisionUnknown, match=rf"no revision '{wrong}' .*; fetch it"):
            promised_at(wrong)


@pytest.mark.usefixtures("project")
def test_a_project_that_was_not_there_promised_nothing() -> None:
    assert promised_at("empty") == {}
