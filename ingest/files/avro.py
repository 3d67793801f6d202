"""Avro's object container files: their schema, and their records as they were encoded."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

import fastavro
from fastavro.schema import SchemaParseException

from ingest.files.listing import opened

# What reading a broken file raises.
BROKEN_AVRO = (
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    zlib.error,
    SchemaParseException,
)


def avro_records(path: str) -> Iterator[tuple[Any, Any]]:
    """The schema of the file, with each record; logical types are left as they are encoded.

    Raises one of BROKEN_AVRO where the file is broken.
    """
    system, inside = opened(path)
    with system.open_input_file(inside) as stream:
        blocks = fastavro.block_reader(stream)
        schema = json.loads(blocks.metadata["avro.schema"])
        # Python's dates end at year 9999, and a reader of logical types would make them.
        encoded = fastavro.parse_schema(_without_logical_types(schema))
        block: Any
        for block in blocks:
            for _ in range(block.num_records):
                yield schema, fastavro.schemaless_reader(block.bytes_, encoded, None)


def _without_logical_types(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_logical_types(one) for one in schema]
    if isinstance(schema, dict):
        return {
            name: one if name in ("default", "symbols") else _without_logical_types(one)
            for name, one in schema.items()
            if name != "logicalType"
        }
    return schema
