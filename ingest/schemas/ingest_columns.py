"""The columns that ingest adds: one name, one meaning, everywhere. They stand first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from pyspark.sql import types as T

from ingest.declarations.datatypes import data_type

_HEADERS = "array<struct<key:string,value:binary>>"

# (name, type, meaning)
_PROVENANCE = (
    ("_ingested_at", "timestamp", "When the batch that landed the row began (UTC)."),
    ("_batch_id", "bigint", "Number of the commit that landed the row; never goes back."),
    ("_source", "string", "File path or topic that the record came from."),
    ("_partition", "int", "Partition of the topic; null for files."),
    ("_offset", "bigint", "Offset in the partition; null for files."),
    ("_key", "binary", "Key of the message; null for files."),
    ("_headers", _HEADERS, "Headers of the message; null for files."),
    ("_timestamp", "timestamp", "The message's own time; null for files."),
    ("_schema_id", "string", "Variation of the event; or its writer's schema, in a registry."),
)
_MEANING = (
    ("_event_date", "date", "UTC date of the declared event time, else of arrival."),
    ("_event_type", "string", "Type of the event, where one is declared."),
    ("_rescued", "string", "JSON object, path to text: what fitted no column."),
)
_REASON = (
    ("_raw", "binary", "The record's bytes as they came."),
    ("_reason_code", "string", "Stable code of the reason."),
    ("_reason", "string", "The reason in words."),
    ("_position", "bigint", "Line in the file, from 1."),
    ("_rule", "string", "The declared promise that the record broke."),
    ("_code_version", "string", "Version of Headwater that judged the record."),
)


def _struct(columns: tuple[tuple[str, str, str], ...]) -> T.StructType:
    return T.StructType(
        [
            T.StructField(name, data_type(kind), metadata={"comment": meaning})
            for name, kind, meaning in columns
        ]
    )


INGEST = _struct(_PROVENANCE + _MEANING)
QUARANTINE = _struct(_PROVENANCE + _REASON)
NAMES = frozenset(INGEST.fieldNames())


def ddl(names: Iterable[str]) -> str:
    """Ingest columns with their types, as Spark's DDL has them."""
    return ", ".join(f"{name} {INGEST[name].dataType.simpleString()}" for name in names)


def record_schema(table: T.StructType) -> T.StructType:
    """A bronze table's columns without those that ingest adds."""
    return T.StructType([member for member in table.fields if member.name not in NAMES])


def of_the_batch(value: str) -> str:
    """SQL of a value that all rows of a batch share, kept out of the code that Spark generates.

    A literal would stand in that code, and the JVM would compile it again for each batch.
    """
    return f"get(array({value}), octet_length(_source) * 0)"


def instant(at: datetime) -> str:
    """SQL of a moment."""
    return f"timestamp'{at.isoformat()}'"


def ingest_values(schema: T.StructType, values: Mapping[str, str]) -> list[str]:
    """SQL of each column. As text: Py4J would take a hundred calls to build it up."""
    return [
        f"cast({values.get(one.name, 'null')} as {one.dataType.simpleString()}) as {one.name}"
        for one in schema.fields
    ]
