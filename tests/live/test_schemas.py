"""The registry as the gate: schemas of the project are registered, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.schema_registry.error import SchemaRegistryError

from ingest.client_properties import schema_registry_properties
from ingest.contracts.comparison import against_registry
from ingest.contracts.promises import promised
from ingest.contracts.registration import ask_for_compatibility, register
from ingest.declarations.stream import Stream
from ingest.errors import SchemaRefused
from ingest.lineage.readers import Readers
from ingest.registry.client import SchemaRegistry
from tests.live.avro import client, record, registered
from tests.live.topics import Topics

FIRST = record("Sale", ("id", "long"), ("amount", "int"))
WITH_DEFAULT = record("Sale", ("id", "long"), ("amount", "int"), ("note", "string", ""))
WITHOUT = record("Sale", ("id", "long"), ("amount", "int"), ("note", "string"))


@pytest.fixture
def registry(topics: Topics) -> SchemaRegistry:
    """That of the stack."""
    return SchemaRegistry(schema_registry_properties(topics.lake))


def declared(topics: Topics, file: Path, schema: str, **avro: str) -> Stream:
    """A stream that declares a schema."""
    file.write_text(schema, "utf-8")
    return topics.subscribe(file.stem, format="avro", avro={"schema": str(file), **avro})


def test_a_declared_schema_is_registered_once_and_refused_where_it_does_not_fit(
    topics: Topics, registry: SchemaRegistry, tmp_path: Path
) -> None:
    file = tmp_path / "sales.avsc"
    stream = declared(topics, file, FIRST, compatibility="full_transitive")
    (first,) = register(registry, stream)
    assert (first.subject, first.compatibility) == ("sales-value", "full_transitive")
    assert (first.version, first.change) == (1, "registered")
    assert first.schema_id == client(topics).get_latest_version("sales-value").schema_id
    (again,) = register(registry, stream)
    assert (again.schema_id, again.version, again.change) == (first.schema_id, 1, "unchanged")
    (second,) = register(registry, declared(topics, file, WITH_DEFAULT))
    assert (second.version, second.compatibility) == (2, "full_transitive")
    with pytest.raises(SchemaRefused, match=r"test.sales: subject sales-value: .*409") as refused:
        list(register(registry, declared(topics, file, WITHOUT)))
    assert refused.value.exit_code == 2
    assert len(registry.versions("sales-value")) == 2


def test_a_schema_is_checked_against_the_versions_of_its_subject(
    topics: Topics, registry: SchemaRegistry, tmp_path: Path
) -> None:
    file = tmp_path / "gated.avsc"

    def found(schema: str) -> list[tuple[str | None, bool, str]]:
        now = promised([declared(topics, file, schema, compatibility="backward_transitive")])
        changes = against_registry(now, registry, lambda _: Readers(models=("m",)))
        return [(one.column, one.is_refused, one.change) for one in changes]

    # A subject that is not there has nothing to say.
    assert found(FIRST) == []
    registered(topics, "gated-value", FIRST)
    registered(topics, "gated-value", WITH_DEFAULT)
    assert found(FIRST) == []
    # The newest has what it wants, the first has not.
    ((column, is_refused, change),) = found(WITHOUT)
    assert (column, is_refused) == (None, True)
    assert "cannot read what was written by version 1" in change
    # Both columns are gone; a model reads them.
    gone = [("amount", True, "int, is no longer declared")]
    gone.append(("note", True, "string, is no longer declared"))
    assert found(record("Sale", ("id", "long"))) == gone


def test_a_connector_registers_under_the_declared_mode(
    topics: Topics, registry: SchemaRegistry
) -> None:
    stream = topics.subscribe(
        "changed", format="avro", envelope="debezium", avro={"compatibility": "backward"}
    )
    assert ask_for_compatibility(registry, stream) == ["changed-key", "changed-value"]
    registered(topics, "changed-value", FIRST)
    with pytest.raises(SchemaRegistryError) as refused:
        registered(topics, "changed-value", WITHOUT)
    assert refused.value.http_status_code == 409
