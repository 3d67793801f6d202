"""Avro's records as Kafka Connect writes them in JSON: each with its schema, and bytes in base64.

So Avro needs no reader of its own further on. The schema is Connect's, from the properties that
its converters leave in Avro's (`connect.name`), or from Avro's logical types.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from pyspark.sql import types as T

from ingest.envelopes.connect import ConnectMessages
from ingest.envelopes.connect_documents import Write, writer
from ingest.envelopes.connect_types import LOCAL_TICKS, unchanged
from ingest.errors import SourceUnreadable
from ingest.parse.avro_container import avro_records
from ingest.parse.json_exact import loaded, may_be_deep, written
from ingest.parse.known_shapes import AVRO
from ingest.registry.logical_types import decimal_size, is_uuid

_Show = Callable[[Any], Any]
_TYPES = {"int": "int32", "long": "int64", "fixed": "bytes", "enum": "string"}
_CONNECT, _DEBEZIUM = "org.apache.kafka.connect.data", "io.debezium.time"
# What a logical type means of its own type; of any other it means nothing.
_LOGICAL = {
    ("int", "date"): f"{_CONNECT}.Date",
    ("long", "timestamp-millis"): f"{_CONNECT}.Timestamp",
    ("long", "timestamp-micros"): f"{_DEBEZIUM}.MicroTimestamp",
    # Of Avro's own, for which Connect has no name.
    ("int", "time-millis"): f"{AVRO}.time-millis",
    ("long", "time-micros"): f"{AVRO}.time-micros",
    **{("long", name): f"{AVRO}.{name}" for name in ("timestamp-nanos", *LOCAL_TICKS)},
}


@dataclass(slots=True)
class _Named:
    """A named type of Avro: its Connect schema, and how its values are shown."""

    schema: dict[str, Any]
    show: _Show


class AvroText:
    """Shows records of one schema, which fastavro has parsed; they are as they were encoded."""

    def __init__(self, schema: Any) -> None:
        connect, self._shown = _connect_type(schema, {})
        self._schema = _json(connect)
        self._head = f'{{"schema":{self._schema},"payload":'
        self._messages = ConnectMessages(T.StructType())

    def text(self, record: Any) -> str:
        """A record as JSON with its schema."""
        return f"{self._head}{_json(self._shown(record))}}}"

    def document(self, record: Any) -> str:
        """A record as the JSON of what it means. Raises Refused."""
        payload = self._shown(record)
        if self._write and isinstance(payload, dict):
            text = self._write(payload)
            if not may_be_deep(text):
                return text
        return written(self._messages.document(self.text(record)))

    @cached_property
    def _write(self) -> Write | None:
        """Not before a document is asked for, as a schema may be of no use for one."""
        return writer(loaded(self._schema))


def avro_texts(path: str) -> Iterator[str]:
    """Each record of a container file, as JSON with its schema. Raises SourceUnreadable."""
    connect_schema: AvroText | None = None
    try:
        for schema, record in avro_records(path):
            connect_schema = connect_schema or AvroText(schema)
            text = connect_schema.text(record)
            # A name may be half of a surrogate pair, which no file can hold.
            text.encode()
            yield text
    except RecursionError as error:
        raise SourceUnreadable(f"{path}: its schema is nested too deep") from error
    except Exception as error:
        # Broken bytes lead anywhere: errors of codecs, of memory, of the interpreter.
        reason = " ".join(str(error).split())
        raise SourceUnreadable(f"{path}: {type(error).__name__}: {reason}") from error


def why_no_avro(path: str) -> None:
    """Read a file to its end. Raises SourceUnreadable."""
    deque(avro_texts(path), maxlen=0)


# Made once: json.dumps makes one for each value.
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _connect_type(schema: Any, names: dict[str, _Named]) -> tuple[dict[str, Any], _Show]:
    """Connect's schema for Avro's, and how its values are shown; `names` learns named types."""
    if isinstance(schema, list):
        return _union_type([one for one in schema if one != "null"], names)
    if isinstance(schema, str):
        named = names.get(schema)
        return (named.schema, named.show) if named else _scalar_type(schema)
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return _connect_type(kind, names)
    if kind == "array":
        element, show = _connect_type(schema["items"], names)
        shown = unchanged if show is unchanged else lambda value: [show(one) for one in value]
        return {"type": kind, "items": element}, shown
    if kind == "map":
        inner, show = _connect_type(schema["values"], names)
        shown = lambda value: {name: show(one) for name, one in value.items()}  # noqa: E731
        return {"type": kind, "values": inner}, shown
    connect_schema, show = _record_type(schema, names) if "fields" in schema else _scalar_type(kind)
    if is_uuid(schema):
        connect_schema, show = {"type": "string"}, _uuid
    connect_schema |= _semantics(schema)
    if "name" in schema:
        names[schema["name"]] = _Named(connect_schema, show)
    return connect_schema, show


def _union_type(branches: list[Any], names: dict[str, _Named]) -> tuple[dict[str, Any], _Show]:
    connect_schema = [_connect_type(one, names) for one in branches]
    # Avro's reader does not say which branch a value is of.
    schema, show = connect_schema[0] if len(connect_schema) == 1 else ({"type": "union"}, _plain)
    if show is unchanged:
        return schema, unchanged
    return schema, lambda value: None if value is None else show(value)


def _record_type(schema: dict[str, Any], names: dict[str, _Named]) -> tuple[dict[str, Any], _Show]:
    members = {one["name"]: _connect_type(one["type"], names) for one in schema["fields"]}
    fields = [connect_schema | {"field": name} for name, (connect_schema, _) in members.items()]
    others = [(name, show) for name, (_, show) in members.items() if show is not unchanged]

    def shown(value: dict[str, Any]) -> dict[str, Any]:
        return value | {name: show(value[name]) for name, show in others}

    return {"type": "struct", "fields": fields}, shown if others else unchanged


def _scalar_type(kind: str) -> tuple[dict[str, Any], _Show]:
    return {"type": _TYPES.get(kind, kind)}, _SCALARS.get(kind, unchanged)


def _semantics(schema: dict[str, Any]) -> dict[str, Any]:
    given = schema.get("connect.parameters")
    parameters = given if isinstance(given, dict) else {}
    if size := decimal_size(schema):
        own = {"scale": str(size[1]), "connect.decimal.precision": str(size[0])}
        return {"name": f"{_CONNECT}.Decimal", "parameters": own | parameters}
    logical = schema["type"], str(schema.get("logicalType"))
    name = schema.get("connect.name") or _LOGICAL.get(logical)
    return {"name": name, "parameters": parameters} if name else {}


def _bytes(value: bytes) -> str:
    return b64encode(value).decode()


def _uuid(value: bytes) -> str:
    return str(UUID(bytes=value))


def _double(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _float(value: float) -> float | str:
    """The shortest digits that 32 bits come back from, as Java writes them."""
    return float(str(np.float32(value))) if math.isfinite(value) else _double(value)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, bytes):
        return _bytes(value)
    return _double(value) if isinstance(value, float) else value


_SCALARS: Mapping[str, _Show] = {
    "bytes": _bytes,
    "fixed": _bytes,
    "float": _float,
    "double": _double,
}
