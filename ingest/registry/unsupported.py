"""Schemas of Avro that no record is read by, in files and in messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ingest.registry.references import full_name

_RECORDS = ("record", "error")
_NAMED = (*_RECORDS, "enum", "fixed")


def unsupported(schema: Any) -> str:
    """Why no record of a schema is read; empty where they are.

    A type that holds itself has no columns. Items of no bytes could be any number of them.
    """
    return _unsupported(schema, "", (), {})


def _unsupported(schema: Any, space: str, around: Sequence[str], empty: dict[str, bool]) -> str:
    """See `unsupported`; `empty` learns of each named type whether it has no bytes."""
    if isinstance(schema, str):
        return f"{schema} holds itself" if _resolved(schema, space, empty) in around else ""
    if isinstance(schema, list):
        found = (_unsupported(one, space, around, empty) for one in schema)
        return next(filter(None, found), "")
    if not isinstance(schema, dict):
        return "not a schema of Avro"
    kind = schema.get("type")
    if kind in _NAMED and "name" in schema:
        name = full_name(schema, space)
        space, around = name.rpartition(".")[0], (*around, name)
        empty[name] = _is_empty(schema, space, empty)
    if kind == "array" and _is_empty(schema.get("items"), space, empty):
        return "an array of items without bytes"
    inner = [schema.get("items", "null"), schema.get("values", "null")]
    inner += [one.get("type") for one in schema.get("fields", ())]
    if isinstance(kind, dict | list):
        inner.append(kind)
    return _unsupported(inner, space, around, empty)


def _is_empty(items: Any, space: str, empty: Mapping[str, bool]) -> bool:
    """Whether items take no bytes; a name may stand for such a type."""
    if isinstance(items, dict):
        kind = items.get("type")
        if kind in _NAMED and "name" in items:
            space = full_name(items, space).rpartition(".")[0]
        if kind in _RECORDS:
            return all(_is_empty(one.get("type"), space, empty) for one in items.get("fields", ()))
        return _is_empty(kind, space, empty) or (kind == "fixed" and not items.get("size"))
    is_name = isinstance(items, str)
    return items == "null" or (is_name and empty.get(_resolved(items, space, empty), False))


def _resolved(name: str, space: str, known: Mapping[str, bool]) -> str:
    """The full name of a type that is named in a namespace."""
    whole = f"{space}.{name}"
    return whole if space and "." not in name and whole in known else name
