"""Whether data of one Avro schema can be read by another, by Avro's rules, and which have to be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from ingest.registry.references import full_name

_NAMED = ("record", "error", "enum", "fixed")


class Compatibility(Enum):
    """What must be readable when a subject gets a new schema, in Confluent's words.

    backward: data of the one before, by the new one; forward: data of the new one, by the one
    before; full: both. Transitive: not the one before only, but all.
    """

    NONE = "none"
    BACKWARD = "backward"
    BACKWARD_TRANSITIVE = "backward_transitive"
    FORWARD = "forward"
    FORWARD_TRANSITIVE = "forward_transitive"
    FULL = "full"
    FULL_TRANSITIVE = "full_transitive"

    @property
    def is_transitive(self) -> bool:
        """Whether all schemas before count."""
        return self.value.endswith("_transitive")

    @property
    def reads_old(self) -> bool:
        """Whether the new schema must read what the one before wrote."""
        return self.value.startswith(("backward", "full"))

    @property
    def is_read_by_old(self) -> bool:
        """Whether the one before must read what the new schema writes."""
        return self.value.startswith(("forward", "full"))

    def is_looser_than(self, other: Compatibility) -> bool:
        """Whether this mode does not ask for all that another one asks for."""
        asked = [(one.reads_old, one.is_read_by_old, one.is_transitive) for one in (self, other)]
        return any(there and not here for here, there in zip(*asked, strict=True))

    def refusals(self, new: str, before: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Why a new schema is refused; `before` are (name, schema), the newest last."""
        for name, old in before if self.is_transitive else before[-1:]:
            if self.reads_old and (why := why_not_readable(old, new)):
                yield f"it cannot read what was written by {name}: {why}"
            if self.is_read_by_old and (why := why_not_readable(new, old)):
                yield f"{name} cannot read what it writes: {why}"


@lru_cache(maxsize=10_000)
def why_not_readable(writer: str, reader: str) -> str | None:
    """Why not all data of `writer` can be read by `reader`, in words; None where it can.

    Raises ValueError where one of them is no schema.
    """
    from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType

    checker: Any = ReaderWriterCompatibilityChecker  # which has no types
    found = checker().get_compatibility(_parsed(reader), _parsed(writer))
    if found.compatibility is SchemaCompatibilityType.compatible:
        return None
    return "; ".join(sorted(set(found.messages))) or "they do not match"


def _parsed(text: str) -> Any:
    import avro.errors
    import avro.schema

    try:
        return avro.schema.make_avsc_object(_qualified(json.loads(text), ""), validate_names=False)
    except (avro.errors.AvroException, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a schema of Avro: {error}") from error


def _qualified(schema: Any, space: str) -> Any:
    """The schema with the full names of aliases, which the checker compares as they stand."""
    if isinstance(schema, list):
        return [_qualified(one, space) for one in schema]
    if not isinstance(schema, dict):
        return schema
    whole = dict(schema)
    if schema.get("type") in _NAMED:
        space = full_name(schema, space).rpartition(".")[0]
        if "aliases" in schema:
            whole["aliases"] = [
                one if "." in one or not space else f"{space}.{one}" for one in schema["aliases"]
            ]
    for key in ("type", "items", "values"):
        if key in schema:
            whole[key] = _qualified(schema[key], space)
    if "fields" in schema:
        whole["fields"] = [
            {**one, "type": _qualified(one["type"], space)} for one in schema["fields"]
        ]
    return whole
