"""A wrong declaration is refused with its place, what was found and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import types as T

from ingest.cli import show
from ingest.declarations import project
from ingest.declarations.reading import json_schema, read_stream
from ingest.declarations.stream import (
    CleanSource,
    Envelope,
    Format,
    OnDataLoss,
    PerType,
    SchemaEvolution,
    SourceKind,
)
from ingest.declarations.values import duration, size_in_bytes, split_path
from ingest.errors import DeclarationInvalid, SelectionEmpty

GOOD: Mapping[str, Any] = {"from": "files", "path": "landing/orders", "format": "json"}
CSV = {**GOOD, "format": "csv"}
IN_BUCKET = {**GOOD, "path": "s3a://bucket/in", "clean_source": "move"}
TABLE = {"from": "postgres", "key": ["id"]}
KAFKA = {"from": "kafka", "topic": "orders", "format": "json"}


def node(ingest: object = GOOD, **changes: Any) -> dict[str, Any]:
    """A source entry as dbt's manifest holds it."""
    columns = changes.pop("columns", {})
    return {
        "unique_id": "source.headwater.shop.orders",
        "original_file_path": "models/bronze/shop.yml",
        "source_name": "shop",
        "name": "orders",
        "identifier": "shop__orders",
        "schema": "bronze",
        "config": {"meta": {"ingest": ingest}},
        "columns": {name: {"name": name, "data_type": kind} for name, kind in columns.items()},
        **changes,
    }


def problems(entry: Mapping[str, Any]) -> str:
    """What is said about a wrong entry, a line a problem."""
    with pytest.raises(DeclarationInvalid) as refused:
        read_stream(entry)
    assert refused.value.exit_code == 2
    assert refused.value.code == "DECLARATION"
    assert "\n" not in str(refused.value)
    places = {place for place, _ in refused.value.problems}
    assert places == {"models/bronze/shop.yml: shop.orders"}
    return "\n".join(reason for _, reason in refused.value.problems)


def test_three_keys_make_a_stream() -> None:
    stream = read_stream(node())
    assert (stream.name, stream.table) == ("shop.orders", "shop__orders")
    assert stream.quarantine_table == "shop__orders__quarantine"
    assert (stream.format, stream.envelope) == (Format.JSON, Envelope.NONE)
    assert stream.evolution.mode is SchemaEvolution.ADD_NEW_COLUMNS
    assert stream.identity.deduplicate_within is None


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("from", SourceKind),
        ("format", Format),
        ("envelope", Envelope),
        ("schema_evolution", SchemaEvolution),
        ("on_data_loss", OnDataLoss),
        ("clean_source", CleanSource),
        ("per_type", PerType),
    ],
)
def test_the_schema_for_editors_has_the_choices_that_the_code_knows(
    key: str, kind: type[Enum]
) -> None:
    assert json_schema()["properties"][key]["enum"] == [one.value for one in kind]


WRONG = {
    "debezium in CSV": ({**CSV, "envelope": "debezium"}, "debezium needs format json or avro"),
    "debezium of something else": (
        {**GOOD, "debezium": {"time_precision_mode": "connect"}},
        "goes with envelope: debezium, and only with it",
    ),
    "a semantic type that is not known": (
        {**GOOD, "envelope": "debezium", "debezium": {"semantic_types": {"a": "Date"}}},
        "'Date' is not one of io.debezium",
    ),
    "duplicates of changes": (
        {**GOOD, "envelope": "debezium", "key": ["id"], "deduplicate_within": "1 day"},
        "event_id: must be given with deduplicate_within: changes of one key",
    ),
    "an unknown key with the nearest one": (
        {**GOOD, "schema_evoluton": "rescue"},
        "meta.ingest.schema_evoluton: unknown key; did you mean 'schema_evolution'?",
    ),
    "an unknown key with all of them": (
        {**GOOD, "zzz": 1},
        "meta.ingest.zzz: unknown key; allowed",
    ),
    "an unknown key inside": (
        {**CSV, "csv": {"seperator": ";"}},
        "meta.ingest.csv.seperator: unknown key; allowed: escape, header, null_value, quote, sep",
    ),
    "a missing key": ({"from": "files", "format": "json"}, "path must be given"),
    "a source that is none yet": ({**GOOD, "from": "ftp"}, "'ftp' is not one of files"),
    "an unsupported format": ({**GOOD, "format": "xml"}, "'xml' is not one of json, csv, parquet"),
    "an unknown envelope": ({**GOOD, "envelope": "soap"}, "'soap' is not one of"),
    "an unknown evolution": ({**GOOD, "schema_evolution": "yes"}, "'yes' is not one of"),
    "a path that is empty": ({**GOOD, "path": ""}, "meta.ingest.path"),
    "a key that is no list": ({**GOOD, "key": "id"}, "meta.ingest.key"),
    "a key that is empty": ({**GOOD, "key": []}, "meta.ingest.key"),
    "a key column twice": ({**GOOD, "key": ["id", "id"]}, "meta.ingest.key"),
    "a time without a unit": (
        {**GOOD, "key": ["id"], "deduplicate_within": "7"},
        "'7' is not a time such as '7 days'",
    ),
    "a size that is none": (
        {**GOOD, "max_bytes_per_trigger": "lots"},
        "'lots' is not a size such as 512mb",
    ),
    "folders in a glob of names": (
        {**GOOD, "path_glob_filter": "**/*.json"},
        "meta.ingest.path_glob_filter: '**/*.json': no file's name has a /, its folder is path",
    ),
    "no files a batch": ({**GOOD, "max_files_per_trigger": 0}, "meta.ingest.max_files_per_trigger"),
    "no columns": ({**GOOD, "max_columns": 0}, "meta.ingest.max_columns"),
    "dated folders without a time": (
        {**GOOD, "dated_folders": {"format": "%Y"}},
        "open_for must be given",
    ),
    "text for a flag": ({**GOOD, "multi_line": "yes"}, "meta.ingest.multi_line"),
    "no mapping at all": ("files", "meta.ingest"),
    "cloudevents in csv": ({**CSV, "envelope": "cloudevents"}, "cloudevents needs format json"),
    "csv options for json": (
        {**GOOD, "csv": {"sep": ";"}},
        "meta.ingest.csv: has no meaning with format json",
    ),
    "one document a file for parquet": (
        {**GOOD, "format": "parquet", "multi_line": True},
        "meta.ingest.multi_line: has no meaning with format parquet",
    ),
    "moving nowhere": ({**GOOD, "clean_source": "move"}, "meta.ingest.move_destination"),
    "a destination without moving": ({**GOOD, "move_destination": "done"}, "move_destination"),
    "moving into the landing folder": (
        {**GOOD, "clean_source": "move", "move_destination": "landing/orders/../orders/done"},
        "moved files would land again",
    ),
    "deletes without an order": (
        {**GOOD, "key": ["id"], "apply_as_deletes": "op = 'D'"},
        "meta.ingest.sequence_by",
    ),
    "a folder for messages": (
        {**KAFKA, "path": "landing/orders"},
        "meta.ingest.path: has no meaning with from: kafka",
    ),
    "a topic for files": ({**GOOD, "topic": "orders"}, "topic: has no meaning with from: files"),
    "neither topic nor pattern": ({"from": "kafka", "format": "json"}, "topic: must be given"),
    "topic and pattern": ({**KAFKA, "topic_pattern": "a.*"}, "and not both"),
    "a topic that no broker has": ({**KAFKA, "topic": "or ders"}, "is no name of a topic"),
    "csv in messages": ({**KAFKA, "format": "csv"}, "csv has no meaning with from: kafka"),
    "bytes in files": ({**GOOD, "format": "bytes"}, "bytes goes with from: kafka"),
    "a key in bytes": ({**KAFKA, "format": "bytes", "key": ["id"]}, "no meaning with format bytes"),
    "files without a format": ({"from": "files", "path": "landing"}, "format must be given"),
    "a table of topics": ({**KAFKA, "table": "orders"}, "table: has no meaning with from: kafka"),
    "a topic of a table": (
        {**TABLE, "topic": "orders"},
        "topic: has no meaning with from: postgres",
    ),
    "a table without a key": ({"from": "postgres"}, "meta.ingest.key: must be given with from"),
    "a key within a column": ({**TABLE, "key": ["a.b"]}, "a.b: a table's key are columns"),
    "a table of csv": ({**TABLE, "format": "csv"}, "format: is json or avro with from: postgres"),
    "a table of events": ({**TABLE, "envelope": "cloudevents"}, "envelope: is debezium with from"),
    "no name of a table": ({**TABLE, "table": "a.b.c"}, "'a.b.c' is not a table such as"),
    "files of Avro that wait in quarantine": (
        {
            **GOOD,
            "format": "avro",
            "event_type": "type",
            "payload": "data",
            "on_incompatible_change": "quarantine",
        },
        "quarantine needs format json",
    ),
    "a separator of several characters": (
        {**CSV, "csv": {"sep": "||"}},
        "meta.ingest.csv.sep: '||' has 2 characters; one is allowed",
    ),
    "a tab that yml does not read": (
        {**CSV, "csv": {"sep": r"\t"}},
        r"""sep: '\t' has 2 characters; one is allowed; write it in double quotes: "\t" """.strip(),
    ),
    "a quote of several characters": ({**CSV, "csv": {"quote": "''"}}, "meta.ingest.csv.quote: "),
    "an escape of several characters": (
        {**CSV, "csv": {"escape": "ab"}},
        "meta.ingest.csv.escape: ",
    ),
    "a quote that Spark takes for two": ({**CSV, "csv": {"quote": "\U0001f600"}}, "csv.quote: "),
    "a separator that ends lines": ({**CSV, "csv": {"sep": "\r"}}, "csv.sep: '\\r' ends a line"),
    "a backslash as a separator": ({**CSV, "csv": {"sep": "\\"}}, "csv.sep: a backslash"),
    "a quote that separates": ({**CSV, "csv": {"quote": ","}}, "csv.quote: ',' is csv.sep, too"),
    "an escape that separates": ({**CSV, "csv": {"escape": ","}}, "csv.escape: ',' is csv.sep"),
    "values without names": ({**CSV, "csv": {"header": False}}, "columns must declare the names"),
    "a scheme that nothing reads": (
        {**GOOD, "path": "ftp://host/orders"},
        "path: 'ftp://host/orders': nothing reads ftp://; local paths, file:/// and s3a://",
    ),
    "a bucket without a name": ({**GOOD, "path": "s3a:///orders"}, "names no bucket"),
    "a bucket with one slash": ({**GOOD, "path": "s3a:/b/x"}, "a URL begins with s3a://"),
    "a URL with a secret": (
        {**GOOD, "path": "s3a://me:secret@bucket/orders"},
        "meta.ingest.path: a URL of s3a:// has a bucket, and no user, key or port before its",
    ),
    "a scheme without slashes": ({**GOOD, "path": "dbfs:/x"}, "nothing reads dbfs:; local paths"),
    "somebody's home": ({**GOOD, "path": "~/orders"}, "~ is no folder here"),
    "a URL of another machine": ({**GOOD, "path": "file://host/x"}, "is no URL of a local folder"),
    "a URL without slashes": ({**GOOD, "path": "file:/x"}, "is no URL of a local folder"),
    "a destination that nothing writes": (
        {**GOOD, "clean_source": "move", "move_destination": "s3a://bucket/done"},
        "'s3a://bucket/done': files of 'landing/orders' are moved within local folders only",
    ),
    "a destination in another bucket": (
        {**IN_BUCKET, "move_destination": "s3a://other/done"},
        "'s3a://other/done': files of 's3a://bucket/in' are moved within the bucket s3a://bucket",
    ),
    "a destination where files land": (
        {**IN_BUCKET, "move_destination": "s3://bucket/in/done"},
        "lies in path: moved files would land again",
    ),
    "a glob that matches no name": ({**GOOD, "path_glob_filter": ""}, "matches no name"),
    "a glob of names that do not count": (
        {**GOOD, "path_glob_filter": "_*"},
        "names that begin with . or _ are passed over",
    ),
    "two stars": ({**GOOD, "path_glob_filter": "**.json"}, "write one *"),
    "a folder's name that tells no day": (
        {**GOOD, "dated_folders": {"format": "dt=%Y-%m", "open_for": "1 day"}},
        "dated_folders.format: 'dt=%Y-%m' is no format of days",
    ),
    "a folder within a folder that names a day": (
        {**GOOD, "dated_folders": {"format": "%Y/%m/%d", "open_for": "1 day"}},
        "dated_folders.format: '%Y/%m/%d' is no format of days",
    ),
    "a time that no clock has": (
        {**GOOD, "key": ["id"], "deduplicate_within": "99999999999 days"},
        "deduplicate_within: '99999999999 days' is longer than 36500 days",
    ),
    "a glob of types without its end": (
        {
            **GOOD,
            "event_type": "type",
            "payload": "data",
            "event_groups": [{"name": "a", "event_types": ["shop.{a,b"]}],
        },
        "meta.ingest.event_groups.0.event_types: 'shop.{a,b': a { without its }",
    ),
    "a process for views": (
        {
            **GOOD,
            "event_type": "type",
            "payload": "data",
            "event_groups": [{"name": "a", "event_types": ["a"], "process": "own"}],
        },
        "meta.ingest.event_groups.0.process: own goes with per_type: tables",
    ),
    "a key that is no path": ({**GOOD, "key": ["a..b"]}, "meta.ingest.key: 'a..b' is no path"),
    "a horizon without an identity": (
        {**GOOD, "deduplicate_within": "7 days"},
        "meta.ingest.event_id",
    ),
}


@pytest.mark.parametrize(("declared", "expected"), WRONG.values(), ids=WRONG.keys())
def test_it_refuses(declared: object, expected: str) -> None:
    assert expected in problems(node(declared))


def test_it_refuses_types_that_spark_does_not_know() -> None:
    said = problems(node(columns={"price": "money", "tags": "array<strng>", "ok": "int"}))
    assert "columns.price.data_type: 'money' is not a Spark type" in said
    assert "columns.tags.data_type: 'strng' is not a Spark type" in said
    assert "ok" not in said


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"a": "string", "a.b": "int"}, "columns.a.b: a is declared as string, which has no"),
        ({"a": "array<struct<b: int>>", "a.b": "int"}, "columns.a.b: a is declared as array"),
        ({"a": "variant", "a.b": "int"}, "columns.a.b: a is declared as variant"),
        ({"a.b": "string", "a.b.c": "int"}, "columns.a.b.c: a.b is declared as string"),
        ({"a": "struct<b: int>", "a.b": "string"}, "columns.a.b: is declared twice"),
        ({"a": "string", "A": "string"}, "columns.A: Spark takes it and a for one column"),
        ({"sınır": "string", "sinir": None}, "columns.sinir: Spark takes it and sınır for one"),
        ({"a.x": "int", "A.y": "int"}, "columns.A: Spark takes it and a for one column"),
        ({"a": "struct<x: int, X: int>"}, "members 'x' and 'X': Spark takes both for one"),
        ({"my col": "int"}, "columns.my col: 'my col': Delta takes no name with a blank"),
        ({"a": "struct<`x=y`: int>"}, "columns.a.data_type: 'x=y': Delta takes no name"),
        ({"a": "map<string, struct<>>"}, "no file stores a struct<> of no members"),
        ({"a..b": "int"}, "columns.a..b: is no path"),
        ({"`a": "int"}, "columns.`a: is no path"),
        ({"a": "void"}, "'void' is not a Spark type of a column; allowed: string, boolean"),
        ({"a": "interval day"}, "'interval' is not a Spark type of a column"),
        ({"a": "decimal(39,2)"}, "precision is 1 to 38"),
    ],
)
def test_it_refuses_columns_that_cannot_be(columns: Mapping[str, Any], expected: str) -> None:
    assert expected in problems(node(columns=columns))


@pytest.mark.parametrize(
    ("declared", "columns", "expected"),
    [
        ({"key": ["a"]}, {"a": "map<string, int>"}, "key: a is declared as map<string,int>; needs"),
        ({"key": ["a.b"]}, {"a": "string"}, "key: a.b: a is declared as string, which has no"),
        ({"key": ["A"]}, {"a": "array<variant>"}, "key: A is declared as array<variant>"),
        ({"event_id": ["a"]}, {"a": "variant"}, "event_id: a is declared as variant; needs"),
        ({"sequence_by": ["a.b"]}, {"a": "struct<b: variant>"}, "sequence_by: a.b is declared as"),
        ({"event_time": "a"}, {"a": "bigint"}, "event_time: a is declared as bigint; needs a date"),
        ({"event_type": "a"}, {"a": "binary"}, "event_type: a is declared as binary; needs a str"),
        (
            {"envelope": "cloudevents"},
            {"time": "bigint"},
            "event_time: time is declared as bigint; needs a date, a timestamp or a string",
        ),
        (
            {"event_type": "t", "payload": "a", "per_type": "views"},
            {"a": "string"},
            "payload: a is declared as string; types need a variant",
        ),
        (
            {"format": "csv", "csv": {"header": False}},
            {"a.b": "int"},
            "columns.a.b: is a path; with csv.header: false",
        ),
    ],
)
def test_it_refuses_columns_that_cannot_serve(
    declared: Mapping[str, Any], columns: Mapping[str, Any], expected: str
) -> None:
    assert expected in problems(node({**GOOD, **declared}, columns=columns))


def test_a_key_needs_its_column() -> None:
    entry = node({**GOOD, "key": ["email"]}, columns={"email": None})
    entry["columns"]["email"]["config"] = {"meta": {"mask": "drop"}}
    assert "meta.ingest.key: email: its mask drops the column" in problems(entry)


@pytest.mark.parametrize(
    ("declared", "columns"),
    [
        ({}, {"a": "struct<b: int>", "a.c": "string"}),
        ({"key": ["a"], "sequence_by": ["b"]}, {"a": "struct<x: int>", "b": "timestamp_ntz"}),
        ({"event_type": "t", "payload": "a"}, {"a": "variant", "a.b": "int"}),
        ({"envelope": "cloudevents"}, {"data.price": "decimal(9,2)"}),
        ({"path_glob_filter": "*.{json,jsonl}"}, {}),
        ({"path": "file:///data/my%20orders"}, {}),
        ({"path": "s3a://bucket/my orders/"}, {}),
        ({**IN_BUCKET, "move_destination": "s3a://bucket/done"}, {}),
        ({"path": "abfss://landing@account.dfs.core.windows.net/orders"}, {}),
        ({"format": "csv", "csv": {"sep": "\t", "quote": "", "escape": "\\"}}, {}),
    ],
)
def test_it_takes_what_can_be(declared: Mapping[str, Any], columns: Mapping[str, Any]) -> None:
    assert read_stream(node({**GOOD, **declared}, columns=columns))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ('"string"', "its top is of type string, and must be a record"),
        ('["null", "string"]', "its top is a union, and must be a record"),
        (
            '{"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"]}]}',
            "R holds itself",
        ),
    ],
)
def test_it_refuses_schemas_that_are_none_of_rows(
    tmp_path: Path, schema: str, expected: str
) -> None:
    file = tmp_path / "a.avsc"
    file.write_text(schema, "utf-8")
    declared = {**KAFKA, "format": "avro", "avro": {"schema": str(file)}}
    assert f"meta.ingest.avro.schema: {file}: {expected}" in problems(node(declared))


def test_it_refuses_names_that_belong_to_ingest() -> None:
    assert "columns._batch_id" in problems(node(columns={"_batch_id": "bigint"}))


@pytest.mark.parametrize("name", ["Shop__Orders", "a-b", "../up", "", "a" * 200, "a.b"])
def test_it_refuses_a_table_name_that_is_no_plain_one(name: str) -> None:
    assert "identifier" in problems(node(identifier=name))


def test_it_refuses_another_schema() -> None:
    assert "streams land in schema 'bronze'" in problems(node(schema="silver"))


def test_all_problems_of_an_entry_are_reported_together() -> None:
    entry = node(
        {"from": "files", "format": "xml", "keys": ["id"]},
        columns={"price": "money"},
        schema="gold",
    )
    said = problems(entry).splitlines()
    assert len(said) == 5
    for part in ("path must be given", "xml", "keys", "money", "gold"):
        assert any(part in line for line in said)


def test_each_problem_is_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DeclarationInvalid) as refused:
        read_stream(node({"from": "files", "format": "xml"}))
    show.error(refused.value)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all(
        line.startswith("error[DECLARATION]: models/bronze/shop.yml: shop.orders: meta.ingest")
        for line in lines
    )


def parsed(monkeypatch: pytest.MonkeyPatch, *nodes: dict[str, Any]) -> None:
    """Let dbt have read these entries."""
    sources = {str(i): SimpleNamespace(to_dict=lambda one=one: one) for i, one in enumerate(nodes)}
    monkeypatch.setattr(project, "parsed", lambda: SimpleNamespace(sources=sources))


def test_two_streams_for_one_table_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed(monkeypatch, node(), node(name="other"))
    with pytest.raises(DeclarationInvalid, match=r"bronze.shop__orders already belongs to"):
        project.declared_streams()


def test_a_table_named_like_a_quarantine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed(monkeypatch, node(), node(name="other", identifier="shop__orders__quarantine"))
    with pytest.raises(DeclarationInvalid, match=r"already belongs to shop.orders"):
        project.declared_streams()


def test_problems_of_all_entries_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed(monkeypatch, node({"from": "ftp"}), node({**GOOD, "zzz": 1}, name="other"))
    with pytest.raises(DeclarationInvalid) as refused:
        project.declared_streams()
    assert {place.split()[-1] for place, _ in refused.value.problems} == {
        "shop.orders",
        "shop.other",
    }


def test_sources_without_the_entry_are_no_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed(monkeypatch, node() | {"config": {"meta": {}}}, node() | {"config": {}})
    with pytest.raises(SelectionEmpty):
        project.declared_streams()


def test_dms_says_what_a_delete_is() -> None:
    stream = read_stream(node({**GOOD, "envelope": "dms", "key": ["id"]}))
    assert stream.identity.apply_as_deletes == "Op = 'D'"


def test_cloudevents_bring_their_own_identity_type_and_time() -> None:
    identity = read_stream(node({**GOOD, "envelope": "cloudevents"})).identity
    assert identity.key == identity.event_id == (("source",), ("id",))
    assert (identity.event_type, identity.event_time) == (("type",), ("time",))


def test_a_declared_key_is_the_event_id_unless_one_is_named() -> None:
    assert read_stream(node({**GOOD, "key": ["id"]})).identity.event_id == (("id",),)
    named = read_stream(node({**GOOD, "key": ["id"], "event_id": ["a.b"]}))
    assert named.identity.event_id == (("a", "b"),)


def test_nested_names_are_paths() -> None:
    assert split_path("a.b") == ("a", "b")
    assert split_path("a.`b.c`.`d``e`") == ("a", "b.c", "d`e")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 days", timedelta(days=7)),
        ("1 hour", timedelta(hours=1)),
        ("90 seconds", timedelta(seconds=90)),
        ("2 weeks", timedelta(weeks=2)),
    ],
)
def test_times_are_read(text: str, expected: timedelta) -> None:
    assert duration(text) == expected


@pytest.mark.parametrize(
    ("size", "expected"), [(5, 5), ("5", 5), ("1kb", 1024), ("2 M", 2 << 20), ("1gb", 1 << 30)]
)
def test_sizes_are_read(size: int | str, expected: int) -> None:
    assert size_in_bytes(size) == expected


def test_hints_become_types_by_path() -> None:
    stream = read_stream(node(columns={"a.b": "decimal(10,2)", "c": None}))
    assert [(hint.path, hint.type) for hint in stream.columns] == [
        (("a", "b"), T.DecimalType(10, 2))
    ]
