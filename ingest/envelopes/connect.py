"""Messages of Kafka Connect in JSON, each with its schema or without."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import types as T

from ingest.declarations.stream import DebeziumOptions
from ingest.envelopes.connect_types import by_fields, by_name, by_type
from ingest.parse.json_exact import DEEPEST, Refused, deeper, loaded, may_be_deep
from ingest.parse.known_shapes import Convert

_SCHEMA, _PAYLOAD = '{"schema":{', ',"payload":'
_SPACES = " \t\r\n"
# Schemas of one stream that are remembered at a time, and how long their text may be.
_MOST_SCHEMAS, _LONGEST_HEAD = 100, 1 << 20


class ConnectMessages:
    """Reads the messages of one stream; `declared` are the columns that it declares."""

    def __init__(self, declared: T.StructType, options: DebeziumOptions | None = None) -> None:
        self._declared, self._options = declared, options or DebeziumOptions()
        self._plain = self._without_schema()
        # By the text of messages up to their payload, which Connect writes again and again.
        self._by_head: dict[str, Convert] = {}
        self._newest_head = ""

    def document(self, text: str) -> dict[str, Any]:
        """A message as a flat record. Raises Refused."""
        payload_text, payload, convert = self._parts(text)
        record = self.flat(payload, convert)
        # What a message holds, a record may hold one level further down.
        if may_be_deep(payload_text) and deeper(record, DEEPEST):
            raise Refused("TOO_DEEP", f"nested deeper than {DEEPEST} levels")
        return record

    def flat(self, payload: Any, convert: Convert) -> dict[str, Any]:
        """The record that a payload is; `convert` reads values by `row_schema`."""
        if not isinstance(payload, dict):
            raise Refused("NOT_AN_OBJECT", "the payload is not an object")
        record: dict[str, Any] = convert(payload)
        return record

    def row_schema(self, schema: Any) -> Any:
        """The schema of a row, from that of the payload."""
        return schema

    def _parts(self, text: str) -> tuple[str, Any, Convert]:
        """A text that holds the payload, the payload, and what reads it. Raises Refused."""
        body = text.rstrip(_SPACES)
        head = self._known_head(body)
        if head and body.endswith("}"):
            try:
                payload_text = body[len(head) : -1]
                return payload_text, loaded(payload_text), self._by_head[head]
            except Refused:
                # Something stands behind the payload, or the message is broken: see below.
                pass
        message = loaded(text)
        if not isinstance(message, dict) or message.keys() != {"schema", "payload"}:
            return text, message, self._plain
        return text, message["payload"], self._with_schema(message["schema"])

    def _known_head(self, body: str) -> str:
        """The head of a message, where one like it has come before: of several schemas by turns."""
        if not (self._newest_head and body.startswith(self._newest_head)):
            known = filter(body.startswith, self._by_head)
            self._newest_head = next(known, "") or self._new_head(body)
        return self._newest_head

    def _new_head(self, body: str) -> str:
        """The head of a message, once its schema is understood; else nothing.

        A schema may be nested deeper than its values may.
        """
        try:
            head = _head(body)
            schema = json.loads(head[len(_SCHEMA) - 1 : -len(_PAYLOAD)]) if head else None
            convert = self._with_schema(schema)
        except (Refused, ValueError, RecursionError):
            return ""
        if not 0 < len(head) <= _LONGEST_HEAD:
            return ""
        if len(self._by_head) >= _MOST_SCHEMAS:
            self._by_head.clear()
        self._by_head[head] = convert
        return head

    def _with_schema(self, schema: Any) -> Convert:
        if schema is None:
            return self._plain
        try:
            row = self.row_schema(schema)
            if row and "fields" not in row:
                raise ValueError(f"of type {row.get('type')}, whose values are no rows")
            # Its columns alone: a row is no value of a semantic type.
            return by_fields(row, self._declared) if row else self._plain
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            why = f"not a schema of Connect: {error!r}"
            raise Refused("MALFORMED_SCHEMA", why) from error
        except RecursionError as error:
            raise Refused("TOO_DEEP", "its schema is nested too deep") from error

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
    _, end = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode(text, len(_SCHEMA) - 1)
    end += len(_PAYLOAD)
    return text[:end] if text[:end].endswith(_PAYLOAD) else ""
