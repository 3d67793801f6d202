"""Debezium's change messages as flat records: the row, and columns of the change.

Source: Debezium's documentation, "Data change events" of its PostgreSQL connector.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.declarations.stream import DebeziumOptions
from ingest.envelopes.connect import ConnectMessages
from ingest.parse.json_exact import Number, Refused
from ingest.parse.known_shapes import Convert

# Create, read (of a snapshot), update, delete; `m` is a message that changes nothing.
ROW_OPERATIONS = ("c", "r", "u", "d")
TRUNCATE = "t"
CHANGE_OPERATIONS = (*ROW_OPERATIONS, TRUNCATE)
_OPERATIONS = (*CHANGE_OPERATIONS, "m")
# Columns of the change itself, and the struct of everything else that came with it.
OPERATION, LSN, COMMITTED, ORDER, REST = (
    "op",
    "source_lsn",
    "source_ts_ms",
    "transaction_order",
    "debezium",
)
BEFORE = "before"
_ROWS = (BEFORE, "after")
# A connector of ours sends the position of a snapshot's rows: before all that it sends otherwise.
# Debezium has that of the snapshot's end for them, or none, and a change that was made before
# that, and committed after, would come first.
SNAPSHOT_LSN = "snapshot_lsn"
# In that struct: a row was created without values that PostgreSQL did not send.
INCOMPLETE = "incomplete"
_CHANGE_COLUMNS = frozenset({OPERATION, LSN, COMMITTED, ORDER, REST})


class DebeziumMessages(ConnectMessages):
    """Reads change messages; a tombstone is an empty record."""

    def __init__(self, declared: T.StructType, options: DebeziumOptions) -> None:
        super().__init__(declared, options)
        # What Debezium writes into types for a value that was not sent; see `is_toast_placeholder`
        # of macros/apply_changes.
        text = options.unavailable_value_placeholder
        hstore, raw = json.dumps({text: text}, separators=(",", ":")), b64encode(text.encode())
        self._unavailable_texts = {text, hstore, raw.decode()} if text else set()
        self._unavailable_lists = [[text], [str(one) for one in text.encode()]] if text else []

    def flat(self, payload: Any, convert: Convert) -> dict[str, Any]:
        """See ConnectMessages: the row of a change, and columns of the change.

        A created row that lacks a value is marked: there is none that could stay.
        """
        if payload is None:
            return {}
        record = _flat(payload, convert)
        if payload["op"] in ("c", "r") and any(
            map(self._is_unavailable, payload["after"].values())
        ):
            record[REST][INCOMPLETE] = True
        return record

    def _is_unavailable(self, value: Any) -> bool:
        if isinstance(value, list):
            return value in self._unavailable_lists
        return isinstance(value, str) and value in self._unavailable_texts

    def row_schema(self, schema: Any) -> Any:
        """See ConnectMessages: `before` and `after` have the same."""
        fields = schema.get("fields", ())
        return next((one for one in fields if one.get("field") == "after"), None)


def _flat(payload: Any, convert: Convert) -> dict[str, Any]:
    operation = payload.get("op") if isinstance(payload, dict) else None
    if operation not in _OPERATIONS:
        raise Refused("NOT_DEBEZIUM", f"op is {operation!r}, not one of {', '.join(_OPERATIONS)}")
    rows = {name: convert(payload[name]) for name in _ROWS if isinstance(payload.get(name), dict)}
    holder = BEFORE if operation == "d" else "after"
    row = rows.pop(holder, None)
    if row is None and operation in ROW_OPERATIONS:
        raise Refused("NOT_DEBEZIUM", f"op is {operation}, but {holder} is no object")
    source, transaction = (_object(payload, name) for name in ("source", "transaction"))
    order = transaction.get("total_order")
    known_names = {"op", *(one for one in _ROWS if isinstance(payload.get(one), dict | None))}
    lsn, snapshot = source.get("lsn"), payload.get(SNAPSHOT_LSN)
    if isinstance(snapshot, str) and snapshot.isdecimal():
        known_names.add(SNAPSHOT_LSN)
        lsn = Number(snapshot) if operation == "r" else lsn
    return _columns(row or {}) | {
        OPERATION: operation,
        LSN: lsn,
        COMMITTED: source.get("ts_ms"),
        # Changes outside a transaction of which Debezium has metadata, such as rows of a snapshot.
        ORDER: Number("0") if order is None else order,
        REST: {name: value for name, value in payload.items() if name not in known_names} | rows,
    }


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    """The row; columns that are called like columns of the change have another name."""
    columns = {name: value for name, value in row.items() if folded(name) not in _CHANGE_COLUMNS}
    for name in row.keys() - columns.keys():
        free = f"after_{name}"
        while free in columns:
            free = f"after_{free}"
        columns[free] = row[name]
    return columns


def _object(payload: dict[str, Any], name: str) -> dict[str, Any]:
    found = payload.get(name)
    return found if isinstance(found, dict) else {}
