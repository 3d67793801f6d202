"""Payloads of Kafka Connect, as Python has them, as the JSON of what they mean.

The same that `ConnectMessages` makes of a message and `written` of that, without a text between
that is written only to be read: that took most of the time of events in Avro.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from ingest.envelopes.connect_types import by_schema, unchanged
from ingest.parse.json_exact import Number, loaded, named, written
from ingest.parse.known_shapes import Convert

Write = Callable[[Any], str]
# Levels of a schema; what is nested deeper is read as any message is, which refuses some.
_MOST_LEVELS = 50
_json = json.JSONEncoder(ensure_ascii=False).encode


def writer(schema: Mapping[str, Any]) -> Write | None:
    """What writes a payload, a dict, that has this schema; None where each is to be read.

    So it is where it is nested deep, or is no schema: then each message is refused.
    """
    try:
        return _struct(schema["fields"], _MOST_LEVELS)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None


def _of(schema: Mapping[str, Any], levels: int) -> Write:
    """For values of a Connect schema, never null."""
    if not levels:
        raise RecursionError
    convert, kind = by_schema(schema, None), str(schema.get("type"))
    # A semantic type may be that of a struct, too: such a value is no struct any more.
    if not _is_named(schema):
        if kind == "struct":
            return _struct(schema["fields"], levels - 1)
        if kind == "array":
            return _array(_of(schema["items"], levels - 1))
        if kind == "map":
            return _map(_of(schema["values"], levels - 1))
        if kind in _LITERALS:
            return _LITERALS[kind]
    if kind in ("int32", "int64"):
        return lambda value: written(convert(Number(value)))
    return _as_read(convert)


def _is_named(schema: Mapping[str, Any]) -> bool:
    """Whether a semantic type says more than the literal one."""
    return by_schema({**schema, "type": None}, None) is not unchanged


def _struct(fields: list[Mapping[str, Any]], levels: int) -> Write:
    members = [(one["field"], named(one["field"]), _of(one, levels)) for one in fields]

    def write(value: Any) -> str:
        texts = [
            f"{head}{'null' if (one := value[name]) is None else write_one(one)}"
            for name, head, write_one in members
        ]
        return f"{{{','.join(texts)}}}"

    return write


def _array(write: Write) -> Write:
    return lambda value: f"[{','.join(['null' if one is None else write(one) for one in value])}]"


def _map(write: Write) -> Write:
    def written_map(value: Any) -> str:
        texts = [
            f"{named(name)}{'null' if one is None else write(one)}" for name, one in value.items()
        ]
        return f"{{{','.join(texts)}}}"

    return written_map


def _as_read(convert: Convert) -> Write:
    """For anything: it is written, read and converted."""
    return lambda value: written(convert(loaded(_json(value))))


def _boolean(value: Any) -> str:
    return "true" if value else "false"


def _double(value: Any) -> str:
    """A number's shortest digits; those for which JSON has none are text already."""
    return repr(value) if isinstance(value, float) else quoted(value)


_LITERALS: Mapping[str, Write] = {
    "int32": str,
    "int64": str,
    "string": quoted,
    "boolean": _boolean,
    "double": _double,
    "float": _double,
}
