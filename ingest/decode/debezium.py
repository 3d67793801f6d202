"""Debezium's change messages as flat records: the row, and what is told about the change.

Source: Debezium's documentation, "Data change events" of its PostgreSQL connector.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import types as T

from ingest.declarations.stream import DebeziumOptions
from ingest.decode.connect_values import Convert, by_name, by_schema, by_type
from ingest.decode.exact_json import Number, Refused, loaded, written

# Create, read (of a snapshot), update, delete; `m` is a message that changes nothing.
ROW_OPERATIONS = ("c", "r", "u", "d")
TRUNCATE = "t"
CHANGE_OPERATIONS = (*ROW_OPERATIONS, TRUNCATE)
_OPERATIONS = (*CHANGE_OPERATIONS, "m")
# Columns that tell about the change, and the struct of everything else that came with it.
OPERATION, LSN, COMMITTED, ORDER, REST = (
    "op",
    "source_lsn",
    "source_ts_ms",
    "transaction_order",
    "debezium",
)
_TOLD = frozenset({OPERATION, LSN, COMMITTED, ORDER, REST})
_SCHEMA, _PAYLOAD = '{"schema":{', ',"payload":'
# Schemas of one stream that are remembered at a time.
_MOST_SCHEMAS = 100


class DebeziumMessages:
    """Reads the messages of one stream; `declared` are the columns that it declares."""

    def __init__(self, declared: T.StructType, options: DebeziumOptions) -> None:
        self._declared, self._options = declared, options
        self._plain = self._without_schema()
        # By the text of messages up to their payload, which Connect writes again and again.
        self._by_head: dict[str, Convert] = {}
        self._newest_head = ""

    def document(self, text: str) -> dict[str, Any]:
        """A message as a flat record, empty for a tombstone. Raises Refused."""
        payload, convert = self._parts(text)
        return {} if payload is None else _flat(payload, convert)

    def text(self, text: str) -> str:
        """A message as the JSON text of its flat record; empty where it is none."""
        try:
            return written(self.document(text))
        except Refused:
            return ""

    def _parts(self, text: str) -> tuple[Any, Convert]:
        head = self._newest_head
        if head and text.startswith(head):
            try:
                return loaded(text.rstrip()[len(head) : -1]), self._by_head[head]
            except Refused:
                # Something stands behind the payload, or the message is broken: see below.
                pass
        message = loaded(text)
        if not isinstance(message, dict) or message.keys() != {"schema", "payload"}:
            return message, self._plain
        return message["payload"], self._with_schema(text, message["schema"])

    def _with_schema(self, text: str, schema: Any) -> Convert:
        head = _head(text)
        if head in self._by_head:
            self._newest_head = head
            return self._by_head[head]
        if schema is None:
            return self._plain
        rows = [one for one in schema.get("fields", ()) if one.get("field") in ("after", "before")]
        convert = by_schema(rows[-1], self._declared) if rows else self._plain
        if head:
            if len(self._by_head) >= _MOST_SCHEMAS:
                self._by_head.clear()
            self._by_head[head], self._newest_head = convert, head
        return convert

    def _without_schema(self) -> Convert:
        converts = {one.name: by_type(one.dataType, self._options) for one in self._declared.fields}
        for name, semantic in self._options.semantic_types.items():
            kind = self._declared[name].dataType if name in self._declared.fieldNames() else None
            converts[name] = by_name(semantic, kind)

        def converted(row: Any) -> Any:
            return {
                name: converts[name](value) if name in converts else value
                for name, value in row.items()
            }

        return converted


def _head(text: str) -> str:
    """A message up to its payload, where it is written as Connect does; else nothing."""
    if not text.startswith(_SCHEMA):
        return ""
    _, end = json.JSONDecoder().raw_decode(text, len(_SCHEMA) - 1)
    end += len(_PAYLOAD)
    return text[:end] if text[:end].endswith(_PAYLOAD) else ""


def _flat(payload: Any, convert: Convert) -> dict[str, Any]:
    operation = payload.get("op") if isinstance(payload, dict) else None
    if operation not in _OPERATIONS:
        raise Refused("NOT_DEBEZIUM", f"op is {operation!r}, not one of {', '.join(_OPERATIONS)}")
    rows = {
        name: convert(payload[name])
        for name in ("before", "after")
        if isinstance(payload.get(name), dict)
    }
    holder = "before" if operation == "d" else "after"
    row = rows.pop(holder, None)
    if row is None and operation in ROW_OPERATIONS:
        raise Refused("NOT_DEBEZIUM", f"op is {operation}, but {holder} is no object")
    source, transaction = (_object(payload, name) for name in ("source", "transaction"))
    rest = {name: value for name, value in payload.items() if name not in ("op", "before", "after")}
    return {
        f"after_{name}" if name in _TOLD else name: one for name, one in (row or {}).items()
    } | {
        OPERATION: operation,
        LSN: source.get("lsn"),
        COMMITTED: source.get("ts_ms"),
        # Changes outside a transaction that Debezium tells of, such as rows of a snapshot.
        ORDER: transaction.get("total_order", Number("0")),
        REST: rest | rows,
    }


def _object(payload: dict[str, Any], name: str) -> dict[str, Any]:
    found = payload.get(name)
    return found if isinstance(found, dict) else {}
