"""How connectors are, for people who ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest.client_properties import connect_api
from ingest.connectors.connect import Connect
from ingest.connectors.connector import connector_name
from ingest.declarations.stream import Stream
from ingest.errors import ConnectorFailed, ServersUnknown
from ingest.storage.layout import Lake


def connector_states(lake: Lake, streams: Sequence[Stream]) -> Mapping[str, str]:
    """How the connectors of streams are, by the streams' names, as Kafka Connect reports it."""
    by_database: dict[str, str] = {}
    found: dict[str, str] = {}
    for one in streams:
        if (database := one.database) is None:
            continue
        if database.name not in by_database:
            by_database[database.name] = _state_of(lake, connector_name(database))
        found[one.name] = by_database[database.name]
    return found


def _state_of(lake: Lake, name: str) -> str:
    try:
        return str(Connect(connect_api(lake)).state(name) or "there is none")
    except (ConnectorFailed, ServersUnknown) as error:
        return f"not known: {error}"
