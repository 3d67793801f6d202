"""Agree on schemas with a real registry, and write messages by them."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from ingest.client_properties import schema_registry_properties
from tests.live.topics import Topics


def record(name: str, *fields: Any, **more: Any) -> str:
    """A record's schema; fields as (name, type) or (name, type, default)."""
    told = [dict(zip(("name", "type", "default"), one, strict=False)) for one in fields]
    return json.dumps({"type": "record", "name": name, "fields": told, **more})


def registered(topics: Topics, subject: str, schema: str) -> int:
    """The id of a schema, which becomes the newest of its subject."""
    return client(topics).register_schema(subject, Schema(schema, "AVRO"))


def client(topics: Topics) -> SchemaRegistryClient:
    """The registry of the tests' stack."""
    return SchemaRegistryClient(dict(schema_registry_properties(topics.lake)))


def encoded(schema: str, value: Any) -> bytes:
    """A value as bytes of Avro."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(json.loads(schema)), value)
    return stream.getvalue()


def framed(number: int, schema: str, value: Any) -> bytes:
    """A value as Confluent's serializers write it."""
    return b"\0" + number.to_bytes(4, "big") + encoded(schema, value)
