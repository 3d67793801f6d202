"""What in a declaration does not go together, though each key and value is sound by itself."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any, assert_never

from ingest import settings
from ingest.declarations.envelope_defaults import with_identity
from ingest.declarations.file_options import file_problems
from ingest.declarations.globs import glob_problem
from ingest.declarations.stream import REST_OF_TYPES, Envelope, Format, SourceKind
from ingest.declarations.values import IDENTIFIER, SIZE, duration, split_path
from ingest.storage.object_urls import is_object

_OF_THE_REST = re.compile(rf"^{REST_OF_TYPES}(_\d+)?$")
# Keys that mean something of files only, of records that are read, of topics, and of a group.
_OF_FILES = (
    *("path", "path_glob_filter", "multi_line", "csv", "max_files_per_trigger"),
    *("max_bytes_per_trigger", "min_file_age", "dated_folders", "clean_source"),
    *("move_destination", "list_all_every", "look_every"),
)
_OF_RECORDS = (
    *("envelope", "key", "event_id", "event_type", "event_time", "sequence_by", "per_type"),
    *("deduplicate_within", "schema_evolution", "max_columns", "infer_column_types"),
)
_OF_TOPICS = ("topic", "topic_pattern", "starting_offsets", "on_data_loss")
_OF_KAFKA = (*_OF_TOPICS, "max_offsets_per_trigger")
_DURATIONS = (
    *("min_file_age", "look_every", "list_all_every", "deduplicate_within", "tables_interval"),
)
_LONGEST = timedelta(days=36_500)
_OF_A_GROUP = ("per_type", "on_incompatible_change")


def contradictions(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each (key, reason) why a declaration of sound keys and values cannot be honoured."""
    yield from _contradictions_of_source(declared)
    yield from _contradictions_of_format(declared)
    if (declared.get("clean_source") == "move") != ("move_destination" in declared):
        yield "meta.ingest.move_destination", "goes with clean_source: move, and only with it"
    if {"move_destination", "path"} <= declared.keys() and _is_below(
        declared["move_destination"], declared["path"]
    ):
        yield "meta.ingest.move_destination", "lies in path: moved files would land again"
    yield from file_problems(declared)
    yield from _duration_problems(declared)
    given = with_identity(declared)
    if declared.get("apply_as_deletes") and not given.get("sequence_by"):
        yield (
            "meta.ingest.sequence_by",
            "must be given with apply_as_deletes: deletes need an order",
        )
    if declared.get("keep_current"):
        yield from _current_problems(given)
    yield from _event_problems(declared, given)
    is_of_changes = _envelope(declared).has_changes
    identified = given.get("event_id") or (given.get("key") and not is_of_changes)
    if declared.get("deduplicate_within") and not identified:
        reason = ": changes of one key are no duplicates" if is_of_changes else ""
        yield "meta.ingest.event_id", f"must be given with deduplicate_within{reason}"
    if isinstance(size := declared.get("max_bytes_per_trigger"), str) and not SIZE.match(size):
        yield "meta.ingest.max_bytes_per_trigger", f"{size!r} is not a size such as 512mb"


def _duration_problems(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    given = {key: declared[key] for key in _DURATIONS if key in declared}
    if "dated_folders" in declared:
        given["dated_folders.open_for"] = declared["dated_folders"]["open_for"]
    for key, text in given.items():
        try:
            is_sound = duration(text) <= _LONGEST
        except OverflowError:
            is_sound = False
        if not is_sound:
            yield f"meta.ingest.{key}", f"{text!r} is longer than {_LONGEST.days} days"


def _contradictions_of_source(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    match source := SourceKind(declared["from"]):
        case SourceKind.FILES:
            yield from _without_meaning(declared, *_OF_KAFKA, "table")
            if source not in (others := _sources_of(Format(declared["format"]))):
                only = " or ".join(one.value for one in others)
                reason = f"{declared['format']} goes with from: {only}, and only with it"
                yield "meta.ingest.format", reason
        case SourceKind.KAFKA:
            yield from _without_meaning(declared, *_OF_FILES, "table")
            yield from _contradictions_of_topics(declared)
        case SourceKind.POSTGRES:
            # How the connector writes follows from the declaration.
            yield from _without_meaning(declared, *_OF_FILES, *_OF_TOPICS, "debezium")
            yield from _contradictions_of_table(declared)
        case _:
            assert_never(source)


def _sources_of(written: Format) -> Sequence[SourceKind]:
    match written:
        case Format.JSON | Format.AVRO:
            return tuple(SourceKind)
        case Format.CSV | Format.PARQUET:
            return (SourceKind.FILES,)
        case Format.BYTES:
            return (SourceKind.KAFKA,)
        case _:
            assert_never(written)


def _formats_of(envelope: Envelope, source: SourceKind) -> Sequence[Format]:
    match envelope:
        case Envelope.NONE | Envelope.DMS:
            return tuple(Format)
        case Envelope.DEBEZIUM:
            return (Format.JSON, Format.AVRO)
        case Envelope.CLOUDEVENTS:
            is_in_messages = source is SourceKind.KAFKA
            return (Format.JSON, Format.AVRO) if is_in_messages else (Format.JSON,)
        case _:
            assert_never(envelope)


def _envelope(declared: Mapping[str, Any]) -> Envelope:
    return Envelope(declared.get("envelope", Envelope.NONE.value))


def _without_meaning(declared: Mapping[str, Any], *keys: str) -> Iterator[tuple[str, str]]:
    for key in keys:
        if key in declared:
            yield f"meta.ingest.{key}", f"has no meaning with from: {declared['from']}"


def _contradictions_of_topics(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in _OF_RECORDS if declared["format"] == "bytes" else ():
        if key in declared:
            yield f"meta.ingest.{key}", "has no meaning with format bytes"
    if ("topic" in declared) == ("topic_pattern" in declared):
        yield "meta.ingest.topic", "must be given with from: kafka, or topic_pattern, and not both"
    if SourceKind.KAFKA not in _sources_of(Format(declared["format"])):
        yield "meta.ingest.format", f"{declared['format']} has no meaning with from: kafka"


def _contradictions_of_table(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    formats = [one.value for one in Format if SourceKind.POSTGRES in _sources_of(one)]
    for key, known in (("format", formats), ("envelope", [Envelope.DEBEZIUM.value])):
        if declared[key] not in known:
            only = " or ".join(known)
            yield f"meta.ingest.{key}", f"is {only} with from: postgres, and need not be given"
    if "key" not in declared:
        yield "meta.ingest.key", "must be given with from: postgres"
    for path in declared.get("key", ()):
        if len(split_path(path)) > 1:
            yield "meta.ingest.key", f"{path}: a table's key are columns, not paths in them"


def _contradictions_of_format(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    written, envelope = Format(declared["format"]), _envelope(declared)
    if written not in (formats := _formats_of(envelope, SourceKind(declared["from"]))):
        names = " or ".join(one.value for one in formats)
        yield "meta.ingest.envelope", f"{envelope.value} needs format {names}"
    if declared.get("debezium") and envelope is not Envelope.DEBEZIUM:
        yield "meta.ingest.debezium", "goes with envelope: debezium, and only with it"
    if "avro" in declared and (declared["from"] == "files" or declared["format"] != "avro"):
        reason = "goes with from: kafka or postgres and format: avro, and only with them"
        yield "meta.ingest.avro", reason
    for key in ("schema", "subject") if "envelope" in declared or "per_type" in declared else ():
        if key in declared.get("avro", {}):
            reason = "has no meaning with an envelope, or with types of events"
            yield f"meta.ingest.avro.{key}", reason
    named = declared.get("avro", {})
    if "compatibility" in named and "topic_pattern" in declared and "subject" not in named:
        yield "meta.ingest.avro.compatibility", "needs a subject where topics are a pattern"
    if declared.get("csv") and declared["format"] != "csv":
        yield "meta.ingest.csv", f"has no meaning with format {declared['format']}"
    if declared.get("multi_line") and not written.is_text:
        yield "meta.ingest.multi_line", f"has no meaning with format {declared['format']}"


def _event_problems(
    declared: Mapping[str, Any], given: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    wanted = declared.get("per_type", "none") != "none" or "event_groups" in declared
    for key in ("event_type", "payload"):
        if wanted and not given.get(key):
            yield f"meta.ingest.{key}", "must be given with per_type"
    if wanted and not Format(declared["format"]).is_read_as_json:
        yield "meta.ingest.per_type", f"has no meaning with format {declared['format']}"
    for where, one in group_options(declared):
        yield from _group_problems(declared, where, one)
    for key in ("payload", "on_incompatible_change", "tables_interval"):
        if key in declared and not (given.get("event_type") and given.get("payload")):
            yield f"meta.ingest.{key}", "goes with event_type and payload, and only with them"
    if "event_groups" in declared and declared.get("per_type") == "none":
        yield "meta.ingest.event_groups", "has no meaning with per_type: none"
    tables = any(one.get("per_type") == "tables" for _, one in group_options(declared))
    if "tables_interval" in declared and not tables:
        yield "meta.ingest.tables_interval", "goes with per_type: tables, and only with it"
    names = [one["name"] for one in declared.get("event_groups", ())]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "meta.ingest.event_groups", f"two groups are named {name!r}"


def group_options(declared: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each group's place and options; last, those of all types that are in none."""
    defaults = {key: declared[key] for key in _OF_A_GROUP if key in declared}
    for number, one in enumerate(declared.get("event_groups", ())):
        yield f"meta.ingest.event_groups.{number}", {**defaults, **one}
    yield "meta.ingest", defaults


def _group_problems(
    declared: Mapping[str, Any], where: str, one: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    on_change = one.get("on_incompatible_change")
    # A file of records that leave quarantine has one a line; a message is one.
    is_apart = declared["from"] == "kafka" or declared["format"] == "json"
    if on_change == "quarantine" and (not is_apart or declared.get("multi_line")):
        yield (
            f"{where}.on_incompatible_change",
            "quarantine needs format json, a line a record, or messages",
        )
    if on_change == "fail_group" and one.get("per_type") != "tables":
        yield f"{where}.on_incompatible_change", "fail_group goes with per_type: tables"
    if one.get("process") == "own" and one.get("per_type") != "tables":
        yield f"{where}.process", "own goes with per_type: tables"
    for glob in one.get("event_types", ()):
        if reason := glob_problem(glob):
            yield f"{where}.event_types", reason
    name = one.get("name", "")
    if name and not (IDENTIFIER.match(name) and not _OF_THE_REST.match(name)):
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
    path, folder = (settings.located(one) if is_object(one) else one for one in (path, folder))
    return PurePosixPath(posixpath.normpath(path)).is_relative_to(posixpath.normpath(folder))
