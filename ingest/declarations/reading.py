"""From one dbt source entry to a `Stream`, or to every reason why not.

Problems are collected, not raised one by one: a person mends a file once.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any, assert_never

from pyspark.sql.types import VariantType

from ingest.declarations.cross_checks import contradictions, group_options
from ingest.declarations.datatypes import data_type
from ingest.declarations.envelope_defaults import with_envelope_hints, with_identity, with_source
from ingest.declarations.hints import declared_hints, hint_problems
from ingest.declarations.masks import declared_masks, mask_problems
from ingest.declarations.schema_files import schema_problems, schema_text
from ingest.declarations.stream import (
    REST_OF_TYPES,
    AvroOptions,
    CleanSource,
    ColumnHint,
    CsvOptions,
    Database,
    DatabaseTable,
    DatedFolders,
    DebeziumOptions,
    DecimalHandling,
    Envelope,
    EventGroup,
    Events,
    Evolution,
    FileSource,
    Format,
    KafkaSource,
    KeyAndOrder,
    Mask,
    OnConflict,
    OnDataLoss,
    PerType,
    SchemaEvolution,
    Source,
    SourceKind,
    Stream,
    TimePrecision,
)
from ingest.declarations.values import (
    DATABASE,
    IDENTIFIER,
    Path,
    duration,
    size_in_bytes,
    split_path,
)
from ingest.errors import DeclarationInvalid
from ingest.registry.compatibility import Compatibility


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
    hints, problems_of_hints = declared_hints(node["columns"])
    problems += problems_of_hints
    if not IDENTIFIER.match(node["identifier"]):
        problems.append(("identifier", f"{node['identifier']!r}: lower-case letters, digits and _"))
    if node["schema"] != "bronze":
        problems.append(("schema", f"{node['schema']!r}: streams land in schema 'bronze'"))
    if not problems:
        declared = with_source(declared)
        problems += [*contradictions(declared), *schema_problems(declared)]
        problems += mask_problems(node["columns"], declared)
        problems += hint_problems(node["columns"], hints, declared)
        if declared["from"] == "postgres" and not DATABASE.match(node["source_name"]):
            reason = "lower-case letters, digits and _, at most 40, with from: postgres"
            problems.append(("source", f"{node['source_name']!r}: {reason}"))
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
            what = (
                "table such as public.accounts"
                if where.endswith(".table")
                else "time such as '7 days'"
            )
            yield where, f"{error.instance!r} is not a {what}"
        elif error.validator == "oneOf":
            yield where, f"{error.instance!r} is no name of a topic, and no list of such names"
        else:
            yield where, error.message


def _stream(
    node: Mapping[str, Any], declared: Mapping[str, Any], hints: tuple[ColumnHint, ...]
) -> Stream:
    envelope = Envelope(declared.get("envelope", "none"))
    given = with_identity(declared)
    masks = declared_masks(node["columns"])
    hints = tuple(one for one in hints if masks.get(one.path) is not Mask.DROP)
    columns = _columns(Format(declared["format"]), with_envelope_hints(hints, envelope))
    events = _events(given, columns, node["source_name"])
    return Stream(
        unique_id=node["unique_id"],
        name=f"{node['source_name']}.{node['name']}",
        table=node["identifier"],
        declared_in=node["original_file_path"],
        description=node.get("description") or "",
        source=_source(node, declared),
        format=Format(declared["format"]),
        envelope=envelope,
        multi_line=declared.get("multi_line", False),
        csv=CsvOptions(**declared.get("csv", {})),
        debezium=_debezium_options(declared.get("debezium", {})),
        avro=_avro_options(declared),
        columns=_with_payload(columns, events),
        masks=masks,
        identity=_identity(given),
        evolution=Evolution(
            mode=SchemaEvolution(declared.get("schema_evolution", "add_new_columns")),
            infer_column_types=declared.get("infer_column_types", True),
            max_columns=declared.get("max_columns", Evolution().max_columns),
        ),
        events=events,
        keep_current=declared.get("keep_current", False),
    )


def _columns(written: Format, hints: tuple[ColumnHint, ...]) -> tuple[ColumnHint, ...]:
    match written:
        case Format.BYTES:
            return (ColumnHint(path=("value",), type=data_type("binary")),)
        case Format.JSON | Format.CSV | Format.PARQUET | Format.AVRO:
            return hints
        case _:
            assert_never(written)


def _events(given: Mapping[str, Any], columns: tuple[ColumnHint, ...], source: str) -> Events:
    """How types of events are seen: each by a view, unless the declaration says otherwise."""
    payload = split_path(given["payload"]) if "payload" in given else ()
    hints = {
        hint.path[len(payload) :]: hint.type
        for hint in columns
        if hint.type and len(hint.path) > len(payload) and hint.path[: len(payload)] == payload
    }
    is_variant = not hints and not any(_is_typed(hint, payload) for hint in columns)
    has_types = "event_type" in given and "payload" in given
    is_default = has_types and (is_variant or "event_groups" in given)
    per_type = given.get("per_type", "views" if is_default else "none")
    rest = {"name": REST_OF_TYPES, "event_types": ["*"], "per_type": per_type}
    groups = [_group({**rest, **one}) for _, one in group_options(given)]
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


def _group(options: Mapping[str, Any]) -> EventGroup:
    return EventGroup(
        name=options["name"],
        event_types=tuple(options["event_types"]),
        per_type=PerType(options["per_type"]),
        on_conflict=OnConflict(options.get("on_incompatible_change", "rescue")),
        has_own_process=options.get("process") == "own",
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


def _source(node: Mapping[str, Any], declared: Mapping[str, Any]) -> Source:
    match source := SourceKind(declared["from"]):
        case SourceKind.FILES:
            return _file_source(declared)
        case SourceKind.KAFKA:
            return _kafka_source(declared)
        case SourceKind.POSTGRES:
            return _database_source(node, declared)
        case _:
            assert_never(source)


def _database_source(node: Mapping[str, Any], declared: Mapping[str, Any]) -> KafkaSource:
    name = declared.get("table", node["name"])
    table = DatabaseTable(
        name=name if "." in name else f"public.{name}",
        key=tuple(declared["key"]),
        bronze=node["identifier"],
        stream=f"{node['source_name']}.{node['name']}",
        compatibility=_avro_options(declared).compatibility,
    )
    written = Format(declared["format"])
    database = Database(name=node["source_name"], tables=(table,), format=written)
    return replace(_kafka_source(declared), topics=(database.topic(table),), database=database)


def _avro_options(declared: Mapping[str, Any]) -> AvroOptions:
    options = declared.get("avro", {})
    return AvroOptions(
        schema=schema_text(declared),
        subject=options.get("subject"),
        compatibility=Compatibility(options["compatibility"])
        if "compatibility" in options
        else None,
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
        list_all_every=duration(declared["list_all_every"])
        if "list_all_every" in declared
        else None,
        look_every=duration(declared["look_every"]) if "look_every" in declared else None,
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
        on_data_loss=OnDataLoss(declared.get("on_data_loss", "fail")),
    )


def _identity(given: Mapping[str, Any]) -> KeyAndOrder:
    within = given.get("deduplicate_within")

    def paths(key: str) -> tuple[Path, ...]:
        return tuple(split_path(path) for path in given.get(key, ()))

    return KeyAndOrder(
        key=paths("key"),
        sequence_by=paths("sequence_by"),
        apply_as_deletes=given.get("apply_as_deletes"),
        event_id=paths("event_id") or paths("key"),
        event_type=split_path(given["event_type"]) if "event_type" in given else None,
        event_time=split_path(given["event_time"]) if "event_time" in given else None,
        deduplicate_within=duration(within) if within else None,
    )
