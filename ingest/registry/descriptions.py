"""What schemas of Avro say of the columns that come from them (`doc`)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# Types within types that are looked into: what holds itself ends there, too.
_DEEPEST = 32


def descriptions(schemas: Iterable[str]) -> Mapping[tuple[str, ...], str]:
    """The texts of columns by their paths, and of the record by the empty path.

    Of several schemas the last one that has a text counts.
    """
    found: dict[tuple[str, ...], str] = {}
    for text in schemas:
        try:
            found |= dict(_descriptions(json.loads(text), (), {}))
        except ValueError:
            # What a registry holds may be anything.
            continue
    return found


def _descriptions(
    schema: Any, path: tuple[str, ...], known: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    if len(path) > _DEEPEST:
        return
    if isinstance(schema, list):
        branches = [one for one in schema if one != "null"]
        # The members of a union of several are no fields of the schema.
        yield from _descriptions(branches[0], path, known) if len(branches) == 1 else ()
        return
    schema = known.get(schema, {}) if isinstance(schema, str) else schema
    if not isinstance(schema, dict):
        return
    if isinstance(name := schema.get("name"), str):
        known[name] = schema
        known[f"{schema.get('namespace', '')}.{name}"] = schema
    if not path and _is_text(schema.get("doc")):
        yield path, schema["doc"].strip()
    if isinstance(schema.get("type"), dict | list):
        yield from _descriptions(schema["type"], path, known)
    fields = schema.get("fields")
    for field in fields if isinstance(fields, list) else ():
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            continue
        below = (*path, field["name"])
        yield from _descriptions(field.get("type"), below, known)
        if _is_text(field.get("doc")):
            yield below, field["doc"].strip()


def _is_text(doc: Any) -> bool:
    return isinstance(doc, str) and bool(doc.strip())
