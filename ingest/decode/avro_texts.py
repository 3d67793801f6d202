"""Avro's records as Kafka Connect writes them in JSON: each with its schema, and bytes in base64.

So Avro needs no reader of its own further on. The schema is Connect's, from the properties that
its converters leave in Avro's (`connect.name`), or from Avro's logical types.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ingest.files.avro import avro_records

# Avro's named types, by both of their names.
_Names = dict[str, dict[str, Any]]
_Show = Callable[[Any], Any]
_TYPES = {"int": "int32", "long": "int64", "fixed": "bytes", "enum": "string", "record": "struct"}
_CONNECT, _DEBEZIUM = "org.apache.kafka.connect.data", "io.debezium.time"
_LOGICAL = {
    "date": f"{_CONNECT}.Date",
    "time-millis": f"{_CONNECT}.Time",
    "time-micros": f"{_DEBEZIUM}.MicroTime",
    "timestamp-millis": f"{_CONNECT}.Timestamp",
    "timestamp-micros": f"{_DEBEZIUM}.MicroTimestamp",
    "timestamp-nanos": f"{_DEBEZIUM}.NanoTimestamp",
    "local-timestamp-millis": f"{_CONNECT}.Timestamp",
    "local-timestamp-micros": f"{_DEBEZIUM}.MicroTimestamp",
    "local-timestamp-nanos": f"{_DEBEZIUM}.NanoTimestamp",
}


def avro_texts(path: str) -> Iterator[str]:
    """Each record of a container file, as JSON with its schema."""
    head = ""
    shown: _Show = _same
    for schema, record in avro_records(path):
        if not head:
            names: _Names = {}
            head = f'{{"schema":{_json(connect_schema(schema, names))},"payload":'
            shown = _shown(schema, names)
        yield f"{head}{_json(shown(record))}}}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def connect_schema(schema: Any, names: _Names) -> dict[str, Any]:
    """Connect's schema for Avro's; `names` learns Avro's named types. What refers to a type
    that holds it is told without its members.
    """
    if isinstance(schema, list):
        branches = [one for one in schema if one != "null"]
        return connect_schema(branches[0], names) if len(branches) == 1 else {"type": "union"}
    if isinstance(schema, str):
        known = names.get(schema)
        return _connect(schema) if known is None else known["connect"]
    return _connect_named(schema, names) if "name" in schema else _connect_unnamed(schema, names)


def _connect(kind: str) -> dict[str, Any]:
    return {"type": _TYPES.get(kind, kind)}


def _connect_unnamed(schema: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return connect_schema(kind, names)
    found = _connect(kind) | _semantics(schema)
    if kind == "array":
        found["items"] = connect_schema(schema["items"], names)
    elif kind == "map":
        found["values"] = connect_schema(schema["values"], names)
    return found


def _connect_named(schema: Mapping[str, Any], names: _Names) -> dict[str, Any]:
    found = _connect(schema["type"]) | _semantics(schema)
    named = {"avro": schema, "connect": found}
    # A reference has the short name, or the full one.
    names[schema["name"]] = names[f"{schema.get('namespace', '')}.{schema['name']}"] = named
    if schema["type"] == "record":
        fields = [
            connect_schema(one["type"], names) | {"field": one["name"]} for one in schema["fields"]
        ]
        named["connect"] = found = found | {"fields": fields}
    return found


def _semantics(schema: Mapping[str, Any]) -> dict[str, Any]:
    logical = schema.get("logicalType")
    if logical == "decimal":
        scale, precision = schema.get("scale", 0), schema.get("precision", 38)
        parameters = {"scale": str(scale), "connect.decimal.precision": str(precision)}
        given = schema.get("connect.parameters", {})
        return {"name": f"{_CONNECT}.Decimal", "parameters": given or parameters}
    name = schema.get("connect.name") or _LOGICAL.get(str(logical))
    return {"name": name, "parameters": schema.get("connect.parameters", {})} if name else {}


def _shown(schema: Any, names: _Names) -> _Show:
    """For a value of an Avro schema: the same in what JSON has words for."""
    if isinstance(schema, list):
        branches = [one for one in schema if one != "null"]
        # Avro's reader does not tell which branch a value is of.
        return _or_null(_shown(branches[0], names) if len(branches) == 1 else _plain)
    if isinstance(schema, str):
        return _reference(names[schema], names) if schema in names else _SCALARS.get(schema, _same)
    kind = schema["type"]
    if kind == "record":
        members = {one["name"]: _shown(one["type"], names) for one in schema["fields"]}
        return lambda value: {name: shown(value[name]) for name, shown in members.items()}
    if kind == "array":
        element = _shown(schema["items"], names)
        return lambda value: [element(one) for one in value]
    if kind == "map":
        inner = _shown(schema["values"], names)
        return lambda value: {name: inner(one) for name, one in value.items()}
    return _shown(kind, names)


def _or_null(shown: _Show) -> _Show:
    return lambda value: None if value is None else shown(value)


def _reference(named: dict[str, Any], names: _Names) -> _Show:
    """Made with the first value, because a type may hold itself."""

    def shown(value: Any) -> Any:
        if "shown" not in named:
            named["shown"] = _shown(named["avro"], names)
        return named["shown"](value)

    return shown


def _same(value: Any) -> Any:
    return value


def _bytes(value: bytes) -> str:
    return b64encode(value).decode()


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
