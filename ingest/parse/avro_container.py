"""Avro's object container files: their schema, and their records as they were encoded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fastavro

from ingest.registry.unsupported import unsupported
from ingest.storage.files import open_file

# The only column of what is no record.
VALUE = "value"


def avro_records(path: str) -> Iterator[tuple[Any, Any]]:
    """The schema of the file, with each record; logical types are left as they are encoded.

    Types are defined once, and then referred to, by their full names. A broken file raises
    whatever its bytes led to, for fastavro checks little.
    """
    with open_file(path) as stream:
        blocks = fastavro.block_reader(stream)
        schema = fastavro.parse_schema(blocks.writer_schema)
        # Values of a type that holds itself may be nested so deep that reading them would end the
        # process.
        if why := unsupported(schema):
            raise ValueError(f"{why}, which is not read")
        # Python's dates end at year 9999, and a reader of logical types would make them.
        encoded = fastavro.parse_schema(without_logical_types(schema))
        rows, wrapped = _as_rows(schema)
        block: Any
        for block in blocks:
            body, count = block.bytes_, block.num_records
            size = len(body.getbuffer())
            if not 0 <= count <= size:
                raise ValueError(f"a block of {size} bytes cannot have {count} records")
            for _ in range(count):
                value = fastavro.schemaless_reader(body, encoded, None)
                yield rows, {VALUE: value} if wrapped else value
            if left := size - body.tell():
                raise ValueError(f"{left} bytes are left over in a block of {count} records")


def _as_rows(schema: Any) -> tuple[Any, bool]:
    """The schema of a file's rows, and whether each of its values is a row's only column."""
    branches = schema if isinstance(schema, list) else [schema]
    tops = [one for one in branches if one != "null"]
    if len(tops) == 1 and isinstance(tops[0], dict) and tops[0]["type"] in ("record", "error"):
        return schema, False
    return {"type": "record", "name": "", "fields": [{"name": VALUE, "type": schema}]}, True


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
