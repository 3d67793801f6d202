"""Schemas of declared streams, brought to the registry by the project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from ingest.declarations.stream import Envelope, Stream
from ingest.errors import SchemaRefused
from ingest.registry.client import SchemaRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A subject of a stream after registration; the schema's facts where the project has one."""

    stream: str
    subject: str
    compatibility: str
    schema_id: int | None = None
    version: int | None = None
    change: str


def register(registry: SchemaRegistry, stream: Stream) -> Iterator[Registered]:
    """Ask for the declared compatibility, then register the declared schema if it is not there.

    Raises SchemaRefused, RegistryUnreachable.
    """
    subject, schema = stream.subject, stream.avro.schema
    if not stream.is_plain_avro or not schema or not subject:
        for each in ask_for_compatibility(registry, stream):
            asked = registry.compatibility(each).value
            yield Registered(
                stream=stream.name, subject=each, compatibility=asked, change="asked for"
            )
        return
    ask_for_compatibility(registry, stream)
    found, change = registry.version_of(subject, schema), "unchanged"
    if found is None:
        try:
            found, change = registry.register(subject, schema), "registered"
        except SchemaRefused as error:
            raise SchemaRefused(
                f"{stream.declared_in}: {stream.name}: subject {subject}: {error}"
            ) from error
    yield Registered(
        stream=stream.name,
        subject=subject,
        compatibility=registry.compatibility(subject).value,
        schema_id=found.id,
        version=found.number,
        change=change,
    )


def ask_for_compatibility(registry: SchemaRegistry, stream: Stream) -> list[str]:
    """Ask for the declared compatibility of a stream's subjects; these are given back.

    A connector registers schemas of keys and of values by itself, for each topic. Ask before it
    starts: then the registry refuses what does not go with what was before, and its task stops.
    Nothing is asked where nothing is declared. Raises RegistryUnreachable.
    """
    asked = stream.avro.compatibility
    if asked is None:
        return []
    subjects = _subjects(stream)
    for subject in subjects:
        registry.ask_for(subject, asked)
    return subjects


def _subjects(stream: Stream) -> list[str]:
    if not stream.has_writer_schemas:
        return []
    match stream.envelope:
        case Envelope.NONE:
            return [stream.subject] if stream.subject else []
        case Envelope.CLOUDEVENTS | Envelope.DEBEZIUM | Envelope.DMS:
            return [f"{topic}-{part}" for topic in stream.topics for part in ("key", "value")]
        case _:
            assert_never(stream.envelope)
