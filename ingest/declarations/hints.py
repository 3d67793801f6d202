"""Declared columns, and what they are declared to serve for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark.sql import types as T

from ingest.column_names import folded, is_column_name
from ingest.declarations.datatypes import data_type
from ingest.declarations.envelope_defaults import with_envelope_hints, with_identity
from ingest.declarations.masks import dropped_columns
from ingest.declarations.stream import ColumnHint, Envelope
from ingest.declarations.values import Path, is_path, split_path
from ingest.type_walk import all_types

_REFUSED_NAME = "Delta takes no name with a blank or one of ,;{}()= in it"
_Problem = tuple[str, str]
_LISTS = ("key", "event_id", "sequence_by")
# Types that event_time can be of: `_event_date` follows from it.
_TIMES = T.StringType | T.DateType | T.TimestampType | T.TimestampNTZType
_NO_TEXT = T.StructType | T.ArrayType | T.MapType | T.BinaryType


def declared_hints(columns: Mapping[str, Any]) -> tuple[tuple[ColumnHint, ...], list[_Problem]]:
    """The declared columns, and each (key, reason) why one of them cannot be."""
    hints: list[ColumnHint] = []
    problems: list[_Problem] = []
    for column in columns.values():
        name, declared = column["name"], column.get("data_type")
        if name.startswith("_"):
            if declared:
                problems.append((f"columns.{name}", "names with _ belong to ingest"))
            continue
        try:
            kind = data_type(declared) if declared else None
        except ValueError as error:
            problems.append((f"columns.{name}.data_type", str(error)))
            continue
        if reason := _name_problem(name, is_typed=kind is not None):
            problems.append((f"columns.{name}", reason))
        elif kind is not None and (reason := _type_problem(kind)):
            problems.append((f"columns.{name}.data_type", reason))
        else:
            hints.append(ColumnHint(path=split_path(name), type=kind))
    return tuple(hints), [*problems, *_names_twice(hints)]


def _name_problem(name: str, *, is_typed: bool) -> str | None:
    if not is_path(name):
        return "is no path, such as a.b; a name with a dot in it stands between backticks"
    refused = [part for part in split_path(name) if is_typed and not is_column_name(part)]
    return f"{refused[0]!r}: {_REFUSED_NAME}" if refused else None


def _type_problem(kind: T.DataType) -> str | None:
    """Why no table can have a column of a type."""
    structs = (one for one in all_types(kind) if isinstance(one, T.StructType))
    return next(filter(None, map(_members_problem, structs)), None)


def _members_problem(kind: T.StructType) -> str | None:
    names: dict[str, str] = {}
    for name in kind.fieldNames():
        if not is_column_name(name):
            return f"{name!r}: {_REFUSED_NAME}"
        if other := names.get(folded(name)):
            return f"members {other!r} and {name!r}: Spark takes both for one"
        names[folded(name)] = name
    return None if names else "no file stores a struct<> of no members"


def _names_twice(hints: Sequence[ColumnHint]) -> Iterator[_Problem]:
    """Paths that Spark takes for one, a struct's members among them."""
    spelled: dict[Path, Path] = {}
    ends: set[Path] = set()
    for hint in hints:
        for path in _leaves(hint.path, hint.type):
            same = _folded(path)
            for size in range(1, len(path) + 1):
                other = spelled.setdefault(same[:size], path[:size])
                if other != path[:size]:
                    reason = f"Spark takes it and {_written(other)} for one column"
                    yield f"columns.{_written(path[:size])}", reason
                    break
            else:
                if same in ends:
                    yield f"columns.{_written(path)}", "is declared twice"
            ends.add(same)


def _leaves(path: Path, kind: T.DataType | None) -> Iterator[Path]:
    if not isinstance(kind, T.StructType):
        yield path
        return
    for member in kind.fields:
        yield from _leaves((*path, member.name), member.dataType)


def hint_problems(
    columns: Mapping[str, Any], hints: tuple[ColumnHint, ...], declared: Mapping[str, Any]
) -> Iterator[_Problem]:
    """Each (key, reason) why declared columns cannot be honoured, or cannot serve."""
    given = with_identity(declared)
    payload = split_path(given["payload"]) if "payload" in given else None
    typed = {_folded(one.path): one.type for one in hints if one.type is not None}
    for hint in hints:
        if hint.type is not None and (reason := _below(hint.path, typed, payload)):
            yield f"columns.{_written(hint.path)}", reason
    if declared["format"] == "csv" and not declared.get("csv", {}).get("header", True):
        yield from _problems_without_header(hints)
    there = with_envelope_hints(hints, Envelope(declared.get("envelope", "none")))
    typed = {_folded(one.path): one.type for one in there if one.type is not None}
    yield from _identity_problems(given, typed, dropped_columns(columns))
    is_split = declared.get("per_type", "none") != "none" or "event_groups" in declared
    kind = typed.get(_folded(payload)) if payload and is_split else None
    if kind is not None and not isinstance(kind, T.VariantType):
        reason = f"{given['payload']} is declared as {kind.simpleString()}; types need a variant"
        yield "meta.ingest.payload", reason


def _problems_without_header(hints: Sequence[ColumnHint]) -> Iterator[_Problem]:
    if not any(one.type for one in hints):
        yield "meta.ingest.csv.header", "false: columns must declare the names, in their order"
    for hint in hints:
        if len(hint.path) > 1:
            reason = "is a path; with csv.header: false columns stand for values of a line"
            yield f"columns.{_written(hint.path)}", reason


def _identity_problems(
    given: Mapping[str, Any], typed: Mapping[Path, T.DataType], dropped: set[Path]
) -> Iterator[_Problem]:
    named = [(key, path) for key in _LISTS for path in given.get(key, ())]
    named += [(key, given[key]) for key in ("event_type", "event_time") if key in given]
    for key, text in named:
        where, path = f"meta.ingest.{key}", split_path(text)
        if not is_path(text):
            yield where, f"{text!r} is no path, such as a.b"
            continue
        if path in dropped:
            yield where, f"{text}: its mask drops the column"
        if reason := _below(path, typed, None):
            yield where, f"{text}: {reason}"
        elif (kind := _type_at(path, typed)) and not _serves(key, kind):
            wanted = {
                "event_time": "needs a date, a timestamp or a string",
                "event_type": "needs a string",
            }.get(key, "needs a type whose values can be compared: no map, no variant")
            yield where, f"{text} is declared as {kind.simpleString()}; {wanted}"


def _serves(key: str, kind: T.DataType) -> bool:
    if key == "event_time":
        return isinstance(kind, _TIMES)
    if key == "event_type":
        return not isinstance(kind, _NO_TEXT)
    return _can_be_compared(kind)


def _can_be_compared(kind: T.DataType) -> bool:
    return not any(isinstance(one, T.MapType | T.VariantType) for one in all_types(kind))


def _below(path: Path, typed: Mapping[Path, T.DataType], payload: Path | None) -> str | None:
    """Why there can be no column at a path: one above it is declared, and is no struct."""
    for size in range(1, len(path)):
        kind = typed.get(_folded(path[:size]))
        if kind is None or isinstance(kind, T.StructType):
            continue
        # Columns below a payload give attributes their types in the views of types.
        if not (isinstance(kind, T.VariantType) and path[:size] == payload):
            above = _written(path[:size])
            return f"{above} is declared as {kind.simpleString()}, which has no columns below it"
    return None


def _type_at(path: Path, typed: Mapping[Path, T.DataType]) -> T.DataType | None:
    for size in range(len(path), 0, -1):
        kind = typed.get(_folded(path[:size]))
        for name in path[size:]:
            members = {folded(one.name): one.dataType for one in getattr(kind, "fields", ())}
            kind = members.get(folded(name))
        if kind is not None:
            return kind
    return None


def _folded(path: Path) -> Path:
    return tuple(map(folded, path))


def _written(path: Path) -> str:
    return ".".join(f"`{one}`" if "." in one else one for one in path)
