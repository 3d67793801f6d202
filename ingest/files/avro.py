"""Avro's object container files: their schema, and their records as they were encoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fastavro

from ingest.files.listing import opened

_NAMED = ("record", "error", "enum", "fixed")


def avro_records(path: str) -> Iterator[tuple[Any, Any]]:
    """The schema of the file, with each record; logical types are left as they are encoded.

    Types are defined once, and then referred to, by their full names. A broken file raises
    whatever its bytes led to, for fastavro checks little.
    """
    system, inside = opened(path)
    with system.open_input_file(inside) as stream:
        blocks = fastavro.block_reader(stream)
        schema = fastavro.parse_schema(blocks.writer_schema)
        if holder := _holds_itself(schema, ()):
            # Such values may be nested so deep that the process would die of reading them.
            raise ValueError(f"{holder} holds itself, which is not read")
        # Python's dates end at year 9999, and a reader of logical types would make them.
        encoded = fastavro.parse_schema(without_logical_types(schema))
        block: Any
        for block in blocks:
            if block.num_records > len(block.bytes_.getbuffer()):
                raise ValueError(f"{block.num_records} records in fewer bytes")
            for _ in range(block.num_records):
                yield schema, fastavro.schemaless_reader(block.bytes_, encoded, None)


def _holds_itself(schema: Any, around: tuple[str, ...]) -> str:
    """The name of a type that is inside of itself; empty if there is none."""
    if isinstance(schema, str):
        return schema if schema in around else ""
    if isinstance(schema, list):
        return next(filter(None, (_holds_itself(one, around) for one in schema)), "")
    if schema["type"] in _NAMED:
        around = (*around, schema["name"])
    inner = [schema.get("items", "null"), schema.get("values", "null")]
    inner += [one["type"] for one in schema.get("fields", ())]
    if isinstance(schema["type"], dict | list):
        inner.append(schema["type"])
    return _holds_itself(inner, around)


def without_logical_types(schema: Any) -> Any:
    """A schema whose values are read as they are encoded."""
    if isinstance(schema, list):
        return [without_logical_types(one) for one in schema]
    if isinstance(schema, dict):
        return {
            name: one if name in ("default", "symbols") else without_logical_types(one)
            for name, one in schema.items()
            if name != "logicalType" and not name.startswith("__")
        }
    return schema
