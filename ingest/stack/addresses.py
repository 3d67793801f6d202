"""How clients find the parts: the company's own, as the environment says, or those of the stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ingest import settings
from ingest.errors import ServersUnknown
from ingest.lake import Lake


def stack_file(lake: Lake) -> Path:
    """What is known of the parts of a lake."""
    return Path(lake.root, "_stack", "stack.json")


def kafka_properties(lake: Lake) -> Mapping[str, str]:
    """Properties of a Kafka client, by Kafka's names. Raises ServersUnknown."""
    declared = settings.kafka_properties()
    if declared:
        return _read(Path(declared))
    try:
        ports = json.loads(stack_file(lake).read_text("utf-8"))["kafka"]["ports"]
    except (FileNotFoundError, KeyError):
        raise ServersUnknown(
            "no Kafka is known: name a file of client properties in HEADWATER_KAFKA_PROPERTIES, "
            "or start one of your own with `ingest stack up`"
        ) from None
    return {"bootstrap.servers": f"127.0.0.1:{ports['clients']}"}


def _read(path: Path) -> Mapping[str, str]:
    try:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
    except OSError as error:
        raise ServersUnknown(f"HEADWATER_KAFKA_PROPERTIES: {path}: {error.strerror}") from error
    told = [line for line in lines if line and not line.startswith(("#", "!"))]
    pairs = [line.partition("=") for line in told]
    if wrong := [line for line, sign, _ in pairs if not sign]:
        raise ServersUnknown(f"HEADWATER_KAFKA_PROPERTIES: {path}: {wrong[0]!r} is no key=value")
    found = {key.strip(): value.strip() for key, _, value in pairs}
    if "bootstrap.servers" not in found:
        raise ServersUnknown(f"HEADWATER_KAFKA_PROPERTIES: {path} has no bootstrap.servers")
    return found
