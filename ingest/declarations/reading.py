"""From one dbt source entry to a `Stream`, or to every reason why not.

Problems are collected, not raised one by one: a person mends a file once.
"""

from __future__ import annotations

import difflib
import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from pyspark.sql.types import VariantType

from ingest.declarations.datatypes import data_type
from ingest.declarations.envelopes import with_envelope_hints, with_identity
from ingest.declarations.stream import (
    REST_OF_TYPES,
    CleanSource,
    ColumnHint,
    CsvOptions,
    DatedFolders,
    DebeziumOptions,
    DecimalHandling,
    Envelope,
    EventGroup,
    Events,
    Evolution,
    FileSource,
    Format,
    Identity,
    KafkaSource,
    OnConflict,
    PerType,
    SchemaEvolution,
    Stream,
    TimePrecision,
)
from ingest.errors import DeclarationInvalid

_SIZE = re.compile(r"^\s*(\d+)\s*(b|kb|mb|gb|tb|k|m|g|t)?\s*$", re.IGNORECASE)
_SIZE_UNITS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_IDENTIFIER = re.compile(r"^[a-z_][a-z0-9_]{0,127}$")
_OF_THE_REST = re.compile(rf"^{REST_OF_TYPES}(_\d+)?$")
# What a declaration says of one kind of source only; `files` needs the first.
_OF_FILES = (
    *("path", "path_glob_filter", "multi_line", "csv", "max_files_per_trigger"),
    *("max_bytes_per_trigger", "min_file_age", "dated_folders", "clean_source"),
    "move_destination",
)
_OF_RECORDS = (
    *("envelope", "key", "event_id", "event_type", "event_time", "sequence_by", "per_type"),
    *("deduplicate_within", "schema_evolution", "max_columns", "infer_column_types"),
)
_OF_KAFKA = ("topic", "topic_pattern", "starting_offsets", "max_offsets_per_trigger")
_OF_A_GROUP = ("per_type", "on_incompatible_change")
_PATH_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")

Path = tuple[str, ...]


@cache
def json_schema() -> Mapping[str, Any]:
    """The JSON Schema of `config.meta.ingest`."""
    text = resources.files("ingest.declarations").joinpath("schema.json").read_text("utf-8")
    loaded: Mapping[str, Any] = json.loads(text)
    return loaded


def read_stream(node: Mapping[str, Any]) -> Stream:
    """The stream that a source node of dbt's manifest declares.

    Raises DeclarationInvalid with every problem of the entry.
    """
    place = f"{node['original_file_path']}: {node['source_name']}.{node['name']}"
    declared = node["config"]["meta"]["ingest"]
    problems = list(_schema_problems(declared))
    hints, hint_problems = _hints(node["columns"])
    problems += hint_problems
    if not _IDENTIFIER.match(node["identifier"]):
        problems.append(("identifier", f"{node['identifier']!r}: lower-case letters, digits and _"))
    if node["schema"] != "bronze":
        problems.append(("schema", f"{node['schema']!r}: streams land in schema 'bronze'"))
    if not problems:
        problems += _contradictions(declared)
    if problems:
        raise DeclarationInvalid([(place, f"{key}: {reason}") for key, reason in problems])
    return _stream(node, declared, hints)


def _schema_problems(declared: object) -> Iterator[tuple[str, str]]:
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(json_schema()).iter_errors(declared):
        where = ".".join(["meta.ingest", *map(str, error.absolute_path)])
        if error.validator == "additionalProperties":
            allowed = sorted(error.schema["properties"])
            for key in sorted(set(error.instance) - set(allowed)):
                near = difflib.get_close_matches(str(key), allowed, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"allowed: {', '.join(allowed)}"
                yield f"{where}.{key}", f"unknown key; {hint}"
        elif error.validator == "enum":
            yield where, f"{error.instance!r} is not one of {', '.join(error.validator_value)}"
        elif error.validator == "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            yield where, f"{', '.join(missing)} must be given"
        elif error.validator == "pattern":
            yield where, f"{error.instance!r} is not a time such as '7 days'"
        elif error.validator == "oneOf":
            yield where, f"{error.instance!r} is no name of a topic, and no list of such names"
        else:
            yield where, error.message


def _hints(columns: Mapping[str, Any]) -> tuple[tuple[ColumnHint, ...], list[tuple[str, str]]]:
    hints: list[ColumnHint] = []
    problems: list[tuple[str, str]] = []
    for column in columns.values():
        if column["name"].startswith("_"):
            if column.get("data_type"):
                problems.append((f"columns.{column['name']}", "names with _ belong to ingest"))
            continue
        try:
            declared = column.get("data_type")
            hints.append(
                ColumnHint(
                    path=split_path(column["name"]),
                    type=data_type(declared) if declared else None,
                )
            )
        except ValueError as error:
            problems.append((f"columns.{column['name']}.data_type", str(error)))
    return tuple(hints), problems


def _contradictions(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _contradictions_of_source(declared)
    yield from _contradictions_of_format(declared)
    if (declared.get("clean_source") == "move") != ("move_destination" in declared):
        yield "meta.ingest.move_destination", "goes with clean_source: move, and only with it"
    if {"move_destination", "path"} <= declared.keys() and _is_below(
        declared["move_destination"], declared["path"]
    ):
        yield "meta.ingest.move_destination", "lies in path: moved files would land again"
    given = with_identity(declared)
    if declared.get("apply_as_deletes") and not given.get("sequence_by"):
        yield (
            "meta.ingest.sequence_by",
            "must be given with apply_as_deletes: deletes need an order",
        )
    if declared.get("keep_current"):
        yield from _current_problems(given)
    yield from _event_problems(declared, given)
    is_of_changes = declared.get("envelope") in ("debezium", "dms")
    identified = given.get("event_id") or (given.get("key") and not is_of_changes)
    if declared.get("deduplicate_within") and not identified:
        reason = ": changes of one key are no duplicates" if is_of_changes else ""
        yield "meta.ingest.event_id", f"must be given with deduplicate_within{reason}"
    if isinstance(size := declared.get("max_bytes_per_trigger"), str) and not _SIZE.match(size):
        yield "meta.ingest.max_bytes_per_trigger", f"{size!r} is not a size such as 512mb"


def _contradictions_of_source(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    source = declared["from"]
    for key in _OF_KAFKA if source == "files" else _OF_FILES:
        if key in declared:
            yield f"meta.ingest.{key}", f"has no meaning with from: {source}"
    if source == "files":
        if declared["format"] == "bytes":
            yield "meta.ingest.format", "bytes goes with from: kafka, and only with it"
        return
    for key in _OF_RECORDS if declared["format"] == "bytes" else ():
        if key in declared:
            yield f"meta.ingest.{key}", "has no meaning with format bytes"
    if ("topic" in declared) == ("topic_pattern" in declared):
        yield "meta.ingest.topic", "must be given with from: kafka, or topic_pattern, and not both"
    if declared["format"] not in ("json", "bytes"):
        yield "meta.ingest.format", f"{declared['format']} has no meaning with from: kafka"
    groups = [declared, *declared.get("event_groups", ())]
    if any(one.get("on_incompatible_change") == "quarantine" for one in groups):
        yield "meta.ingest.on_incompatible_change", "quarantine goes with from: files"


def _contradictions_of_format(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if declared.get("envelope") == "cloudevents" and declared["format"] != "json":
        yield "meta.ingest.envelope", "cloudevents needs format json (structured mode)"
    if declared.get("envelope") == "debezium" and declared["format"] not in ("json", "avro"):
        yield "meta.ingest.envelope", "debezium needs format json or avro"
    if declared.get("debezium") and declared.get("envelope") != "debezium":
        yield "meta.ingest.debezium", "goes with envelope: debezium, and only with it"
    if declared.get("csv") and declared["format"] != "csv":
        yield "meta.ingest.csv", f"has no meaning with format {declared['format']}"
    if declared.get("multi_line") and declared["format"] != "json":
        yield "meta.ingest.multi_line", f"has no meaning with format {declared['format']}"


def _event_problems(
    declared: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    wanted = declared.get("per_type", "none") != "none" or "event_groups" in declared
    for key in ("event_type", "payload"):
        if wanted and not given.get(key):
            yield f"meta.ingest.{key}", "must be given with per_type"
    if wanted and declared["format"] not in ("json", "avro"):
        yield "meta.ingest.per_type", f"has no meaning with format {declared['format']}"
    for where, one in _told_groups(declared):
        yield from _group_problems(declared, where, one)
    for key in ("payload", "on_incompatible_change", "tables_interval"):
        if key in declared and not (given.get("event_type") and given.get("payload")):
            yield f"meta.ingest.{key}", "goes with event_type and payload, and only with them"
    if "event_groups" in declared and declared.get("per_type") == "none":
        yield "meta.ingest.event_groups", "has no meaning with per_type: none"
    tables = any(one.get("per_type") == "tables" for _, one in _told_groups(declared))
    if "tables_interval" in declared and not tables:
        yield "meta.ingest.tables_interval", "goes with per_type: tables, and only with it"
    names = [one["name"] for one in declared.get("event_groups", ())]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "meta.ingest.event_groups", f"two groups are named {name!r}"


def _told_groups(declared: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Where each group stands, and what is told of it; last, of all types that are in none."""
    told = {key: declared[key] for key in _OF_A_GROUP if key in declared}
    for number, one in enumerate(declared.get("event_groups", ())):
        yield f"meta.ingest.event_groups.{number}", {**told, **one}
    yield "meta.ingest", told


def _group_problems(
    declared: Mapping[str, Any], where: str, one: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    on_change = one.get("on_incompatible_change")
    if on_change == "quarantine" and (declared["format"] != "json" or declared.get("multi_line")):
        yield (
            f"{where}.on_incompatible_change",
            "quarantine needs format json, a line a record",
        )
    if on_change == "fail_group" and one.get("per_type") != "tables":
        yield f"{where}.on_incompatible_change", "fail_group goes with per_type: tables"
    name = one.get("name", "")
    if name and not (_IDENTIFIER.match(name) and not _OF_THE_REST.match(name)):
        yield (
            f"{where}.name",
            f"{name!r}: lower-case letters, digits and _, and not default or default_1",
        )


def _current_problems(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("key", "sequence_by"):
        if not given.get(key):
            yield f"meta.ingest.{key}", "must be given with keep_current"
        for path in given.get(key, ()):
            if len(split_path(path)) > 1:
                yield f"meta.ingest.{key}", f"{path}: keep_current takes columns, not paths in them"


def _is_below(path: str, folder: str) -> bool:
    return PurePosixPath(posixpath.normpath(path)).is_relative_to(posixpath.normpath(folder))


def _stream(
    node: Mapping[str, Any], declared: Mapping[str, Any], hints: tuple[ColumnHint, ...]
) -> Stream:
    envelope = Envelope(declared.get("envelope", "none"))
    given = with_identity(declared)
    columns = with_envelope_hints(hints, envelope)
    if declared["format"] == "bytes":
        columns = (ColumnHint(path=("value",), type=data_type("binary")),)
    events = _events(given, columns, node["source_name"])
    return Stream(
        unique_id=node["unique_id"],
        name=f"{node['source_name']}.{node['name']}",
        table=node["identifier"],
        declared_in=node["original_file_path"],
        description=node.get("description") or "",
        source=_kafka_source(declared) if declared["from"] == "kafka" else _file_source(declared),
        format=Format(declared["format"]),
        envelope=envelope,
        multi_line=declared.get("multi_line", False),
        csv=CsvOptions(**declared.get("csv", {})),
        debezium=_debezium_options(declared.get("debezium", {})),
        columns=_with_payload(columns, events),
        identity=_identity(given),
        evolution=Evolution(
            mode=SchemaEvolution(declared.get("schema_evolution", "add_new_columns")),
            infer_column_types=declared.get("infer_column_types", True),
            max_columns=declared.get("max_columns", Evolution().max_columns),
        ),
        events=events,
        keep_current=declared.get("keep_current", False),
    )


def _events(given: Mapping[str, Any], columns: tuple[ColumnHint, ...], source: str) -> Events:
    """How types of events are seen: each by a view, unless the declaration says otherwise."""
    payload = split_path(given["payload"]) if "payload" in given else ()
    hints = {
        hint.path[len(payload) :]: hint.type
        for hint in columns
        if hint.type and len(hint.path) > len(payload) and hint.path[: len(payload)] == payload
    }
    is_variant = not hints and not any(_is_typed(hint, payload) for hint in columns)
    is_told = "event_type" in given and "payload" in given
    is_default = is_told and (is_variant or "event_groups" in given)
    per_type = given.get("per_type", "views" if is_default else "none")
    rest = {"name": REST_OF_TYPES, "event_types": ["*"], "per_type": per_type}
    groups = [_group({**rest, **one}) for _, one in _told_groups(given)]
    return Events(
        payload=payload,
        groups=tuple(groups) if per_type != "none" else (),
        interval=duration(given.get("tables_interval", "5 minutes")),
        hints=hints,
        reserved=tuple(
            {hint.path[0]: None for hint in columns if hint.path[: len(payload)] != payload}
        ),
        schema=f"bronze_{source}",
    )


def _group(told: Mapping[str, Any]) -> EventGroup:
    return EventGroup(
        name=told["name"],
        event_types=tuple(told["event_types"]),
        per_type=PerType(told["per_type"]),
        on_conflict=OnConflict(told.get("on_incompatible_change", "rescue")),
    )


def _is_typed(hint: ColumnHint, payload: Path) -> bool:
    return hint.path == payload and not isinstance(hint.type, VariantType)


def _with_payload(columns: tuple[ColumnHint, ...], events: Events) -> tuple[ColumnHint, ...]:
    """The columns of the table: of a payload that differs from type to type a VARIANT."""
    if not events.are_split:
        return columns
    size = len(events.payload)
    beside = tuple(hint for hint in columns if hint.path[:size] != events.payload)
    return (*beside, ColumnHint(path=events.payload, type=data_type("variant")))


def _debezium_options(declared: Mapping[str, Any]) -> DebeziumOptions:
    default = DebeziumOptions()
    return DebeziumOptions(
        decimal_handling=DecimalHandling(declared.get("decimal_handling_mode", "precise")),
        time_precision=TimePrecision(declared.get("time_precision_mode", "adaptive")),
        semantic_types=declared.get("semantic_types", {}),
        unavailable_value_placeholder=declared.get(
            "unavailable_value_placeholder", default.unavailable_value_placeholder
        ),
    )


def _file_source(declared: Mapping[str, Any]) -> FileSource:
    default = FileSource(path="")
    dated = declared.get("dated_folders")
    return FileSource(
        path=declared["path"],
        path_glob_filter=declared.get("path_glob_filter", default.path_glob_filter),
        dated_folders=DatedFolders(format=dated["format"], open_for=duration(dated["open_for"]))
        if dated
        else None,
        min_file_age=duration(declared.get("min_file_age", "0 seconds")),
        max_files_per_trigger=declared.get("max_files_per_trigger", default.max_files_per_trigger),
        max_bytes_per_trigger=size_in_bytes(
            declared.get("max_bytes_per_trigger", default.max_bytes_per_trigger)
        ),
        clean_source=CleanSource(declared.get("clean_source", "keep")),
        move_destination=declared.get("move_destination"),
    )


def _kafka_source(declared: Mapping[str, Any]) -> KafkaSource:
    default, topic = KafkaSource(), declared.get("topic", ())
    return KafkaSource(
        topics=(topic,) if isinstance(topic, str) else tuple(topic),
        topic_pattern=declared.get("topic_pattern"),
        starting_offsets=declared.get("starting_offsets", default.starting_offsets),
        max_offsets_per_trigger=declared.get(
            "max_offsets_per_trigger", default.max_offsets_per_trigger
        ),
    )


def _identity(given: Mapping[str, Any]) -> Identity:
    within = given.get("deduplicate_within")

    def paths(key: str) -> tuple[Path, ...]:
        return tuple(split_path(path) for path in given.get(key, ()))

    return Identity(
        key=paths("key"),
        sequence_by=paths("sequence_by"),
        apply_as_deletes=given.get("apply_as_deletes"),
        event_id=paths("event_id") or paths("key"),
        event_type=split_path(given["event_type"]) if "event_type" in given else None,
        event_time=split_path(given["event_time"]) if "event_time" in given else None,
        deduplicate_within=duration(within) if within else None,
    )


def split_path(text: str) -> Path:
    """`a.b` and ``a.`b.c` `` as path components."""
    return tuple(
        (quoted.replace("``", "`") or plain) for quoted, plain in _PATH_PART.findall(text.strip())
    )


def duration(text: str) -> timedelta:
    """A time such as `7 days`."""
    number, unit = text.split()
    return timedelta(**{unit.rstrip("s") + "s": int(number)})


def size_in_bytes(value: int | str) -> int:
    """Bytes of a size such as `512mb` (binary units)."""
    if isinstance(value, int):
        return value
    match = _SIZE.match(value)
    if not match:
        raise ValueError(f"{value!r} is not a size such as 512mb")
    unit = (match[2] or "").lower().removesuffix("b")
    return int(match[1]) << 10 * _SIZE_UNITS[unit]
