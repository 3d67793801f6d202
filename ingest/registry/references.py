"""Schemas that refer to others: made whole, since a decoder is given one text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_NAMED = ("record", "error", "enum", "fixed")


def inlined(text: str, referenced: Sequence[str]) -> str:
    """A schema in which each name that `referenced` define stands defined where it first comes."""
    if not referenced:
        return text
    known: dict[str, Any] = {}
    for one in referenced:
        _collect(json.loads(one), "", known)
    return json.dumps(_whole(json.loads(text), "", known, set()))


def _collect(schema: Any, space: str, known: dict[str, Any]) -> None:
    for one in schema if isinstance(schema, list) else [schema]:
        if isinstance(one, dict) and one.get("type") in _NAMED:
            known[full_name(one, space)] = one


def _whole(schema: Any, space: str, known: dict[str, Any], defined: set[str]) -> Any:
    if isinstance(schema, list):
        return [_whole(one, space, known, defined) for one in schema]
    if isinstance(schema, str):
        name = schema if "." in schema or not space else f"{space}.{schema}"
        found = known.get(name) or known.get(schema)
        if found is None or name in defined:
            return schema
        outer = name.rpartition(".")[0]
        return _whole({**found, "namespace": outer} if outer else found, outer, known, defined)
    if not isinstance(schema, dict):
        return schema
    if schema.get("type") in _NAMED:
        name = full_name(schema, space)
        defined.add(name)
        space = name.rpartition(".")[0]
    whole = dict(schema)
    for key in ("type", "items", "values"):
        if key in schema and schema[key] not in _NAMED:
            whole[key] = _whole(schema[key], space, known, defined)
    if "fields" in schema:
        whole["fields"] = [
            {**one, "type": _whole(one["type"], space, known, defined)} for one in schema["fields"]
        ]
    return whole


def full_name(schema: dict[str, Any], space: str) -> str:
    """The name of a type with its namespace; `space` is that around it."""
    name = str(schema["name"])
    space = schema.get("namespace", space)
    return name if "." in name or not space else f"{space}.{name}"
