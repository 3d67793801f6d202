"""How clients find the parts: the company's own, as the environment says, or those of the stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ingest import settings
from ingest.errors import InputError, RegistryUnknown, ServersUnknown
from ingest.lake import Lake


def stack_file(lake: Lake) -> Path:
    """What is known of the parts of a lake."""
    return Path(lake.root, "_stack", "stack.json")


def kafka_properties(lake: Lake) -> Mapping[str, str]:
    """Properties of a Kafka client, by Kafka's names. Raises ServersUnknown."""
    declared = settings.kafka_properties()
    if declared:
        return _read(declared, "HEADWATER_KAFKA_PROPERTIES", "bootstrap.servers", ServersUnknown)
    port = _port(lake, "kafka")
    if port is None:
        raise ServersUnknown(
            "no Kafka is known: name a file of client properties in HEADWATER_KAFKA_PROPERTIES, "
            "or start one of your own with `ingest stack up`"
        )
    return {"bootstrap.servers": f"127.0.0.1:{port}"}


def schema_registry_properties(lake: Lake) -> Mapping[str, str]:
    """Properties of a schema registry's client, by Confluent's names. Raises RegistryUnknown."""
    declared, name = settings.schema_registry_properties(), "HEADWATER_SCHEMA_REGISTRY_PROPERTIES"
    if declared:
        return _read(declared, name, "url", RegistryUnknown)
    port = _port(lake, "registry")
    if port is None:
        raise RegistryUnknown(
            f"no schema registry is known: name a file of its properties in {name}, "
            "or start one of your own with `ingest stack up`"
        )
    return {"url": f"http://127.0.0.1:{port}/apis/ccompat/v7"}


def _port(lake: Lake, part: str) -> int | None:
    try:
        known = json.loads(stack_file(lake).read_text("utf-8"))
        port: int = known[part]["ports"]["clients"]
    except (FileNotFoundError, KeyError):
        return None
    return port


def _read(declared: str, setting: str, needed: str, refusal: type[InputError]) -> Mapping[str, str]:
    path = Path(declared)
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except OSError as error:
        raise refusal(f"{setting}: {path}: {error.strerror}") from error
    told = [line for line in lines if line and not line.startswith(("#", "!"))]
    pairs = [line.partition("=") for line in told]
    if wrong := [line for line, sign, _ in pairs if not sign]:
        raise refusal(f"{setting}: {path}: {wrong[0]!r} is no key=value")
    found = {key.strip(): value.strip() for key, _, value in pairs}
    if needed not in found:
        raise refusal(f"{setting}: {path} has no {needed}")
    return found
