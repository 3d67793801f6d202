"""The message of a table that was truncated, as Debezium would write it."""

from __future__ import annotations

import io
import json
import time

import fastavro

from ingest.declarations.stream import Database, DatabaseTable
from ingest.registry.client import SchemaRegistry

# Its subject is our own: a connector's has schemas that go with each other.
_SUBJECT = "headwater.truncated-value"
_SOURCE = {
    "type": "record",
    "name": "Source",
    "fields": [
        *({"name": name, "type": "string"} for name in ("name", "schema", "table")),
        *({"name": name, "type": "long"} for name in ("lsn", "ts_ms")),
    ],
}
_SCHEMA = {
    "type": "record",
    "name": "Truncated",
    "namespace": "headwater",
    "fields": [
        {"name": "op", "type": "string"},
        {"name": "source", "type": _SOURCE},
        {"name": "ts_ms", "type": "long"},
    ],
}


def truncated(
    database: Database, table: DatabaseTable, place: int, registry: SchemaRegistry | None
) -> bytes:
    """That a table was truncated at a place of the log: of Avro with a registry, else of JSON.

    Raises RegistryUnreachable, SchemaRefused.
    """
    schema, _, name = table.name.partition(".")
    now = time.time_ns() // 1_000_000
    source = {"name": database.name, "schema": schema, "table": name, "lsn": place, "ts_ms": now}
    message = {"op": "t", "source": source, "ts_ms": now}
    if registry is None:
        return json.dumps(message).encode()
    number = registry.register(_SUBJECT, json.dumps(_SCHEMA)).id
    # A byte 0 and the schema's id in front, as the converters write it.
    stream = io.BytesIO(b"\0" + number.to_bytes(4, "big"))
    stream.seek(0, io.SEEK_END)
    fastavro.schemaless_writer(stream, fastavro.parse_schema(_SCHEMA), message)
    return stream.getvalue()
