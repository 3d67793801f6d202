"""Keys, order and types that an envelope gives a declaration, which may say otherwise.

The records themselves are read in `ingest/envelopes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from ingest.column_names import folded
from ingest.declarations.datatypes import data_type
from ingest.declarations.stream import ColumnHint, Envelope, Format, SourceKind

# CloudEvents 1.0: source + id is unique for each event.
# Debezium for PostgreSQL: the position in the log orders changes, also across transactions.
_IDENTITY: dict[Envelope, dict[str, Any]] = {
    Envelope.NONE: {},
    Envelope.CLOUDEVENTS: {
        "key": ["source", "id"],
        "event_type": "type",
        "event_time": "time",
        "payload": "data",
    },
    Envelope.DEBEZIUM: {
        "sequence_by": ["source_lsn", "transaction_order"],
        "apply_as_deletes": "op = 'd'",
    },
    Envelope.DMS: {"apply_as_deletes": "Op = 'D'"},
}

# Types of an envelope's own fields. CloudEvents' `data` is another thing in each type of event,
# so it is held as VARIANT unless the declaration says otherwise.
_TYPES: dict[Envelope, dict[str, str]] = {
    Envelope.NONE: {},
    Envelope.DMS: {"Op": "string"},
    Envelope.DEBEZIUM: {
        "op": "string",
        "source_lsn": "bigint",
        "source_ts_ms": "bigint",
        "transaction_order": "bigint",
    },
    Envelope.CLOUDEVENTS: {
        "specversion": "string",
        "id": "string",
        "source": "string",
        "type": "string",
        "time": "timestamp",
        "subject": "string",
        "datacontenttype": "string",
        "data": "variant",
    },
}


def with_source(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """A declaration, with what its source says of bytes and envelope."""
    match source := SourceKind(declared["from"]):
        case SourceKind.POSTGRES:
            said = {"format": Format.JSON.value, "envelope": Envelope.DEBEZIUM.value}
            return {**said, **declared}
        case SourceKind.FILES | SourceKind.KAFKA:
            return declared
        case _:
            assert_never(source)


def with_identity(declared: Mapping[str, Any]) -> Mapping[str, Any]:
    """A declaration, with what its envelope says of keys and order."""
    return {**_IDENTITY[Envelope(declared.get("envelope", "none"))], **declared}


def with_envelope_hints(
    hints: tuple[ColumnHint, ...], envelope: Envelope
) -> tuple[ColumnHint, ...]:
    """The declared columns that have a type, after those of the envelope that they leave."""
    typed = {folded(hint.path[0]) for hint in hints if hint.type is not None}
    standard = tuple(
        ColumnHint(path=(name,), type=data_type(text))
        for name, text in _TYPES[envelope].items()
        if folded(name) not in typed
    )
    return standard + tuple(hint for hint in hints if hint.type is not None)
