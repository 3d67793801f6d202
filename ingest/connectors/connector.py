"""Configuration of a Debezium connector, from the tables that are declared."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence

from ingest.declarations.stream import Database

# Where a connector's own words keep the place of a snapshot's rows, see envelopes/debezium.py.
SNAPSHOT_LSN = "transforms.snapshot.static.value"
_TABLES, _KEYS = "table.include.list", "message.key.columns"
# There where a new snapshot was asked for, in front of which the old rows were removed.
_RENEWED = "headwater.renewed"
_JSON = {
    "": "org.apache.kafka.connect.json.JsonConverter",
    "schemas.enable": "true",
    "replace.null.with.default": "false",
}
# Names of schemas may have signs that Avro does not allow.
_AVRO_NAMES = {"schema.name.adjustment.mode": "avro", "field.name.adjustment.mode": "avro"}
# What a task says that finds its place in the log gone, or somebody else's slot.
_GAP = re.compile(
    r"no longer available on the server|can no longer get changes from replication slot"
    r"|slot .{0,200}(?:recreated|ahead of)|requested WAL segment .{0,80} has already been removed",
    re.IGNORECASE | re.DOTALL,
)
# What Apicurio's converter says of a schema that is refused, and Confluent's.
_REFUSED = re.compile(
    r"(?:Incompatible artifact: |incompatible with an earlier schema for subject \"?)"
    r"(?P<subject>[^\s\";]+)"
)
# Tables of a database as `schema.table`, and the columns of their keys.
Tables = Mapping[str, Sequence[str]]


def connector_name(database: Database) -> str:
    """The name of a database's connector, its slot and its publication."""
    return f"headwater_{database.name}"


def signal_topic(database: Database) -> str:
    """The topic by which a connector is asked for snapshots."""
    return f"{database.name}.headwater.signals"


def snapshot_wish(tables: Sequence[str]) -> bytes:
    """The message on that topic which asks for a snapshot of tables beside the stream."""
    asked = {
        "id": str(uuid.uuid4()),
        "type": "execute-snapshot",
        "data": {"type": "incremental", "data-collections": tables},
    }
    return json.dumps(asked).encode()


def followed_tables(config: Mapping[str, str]) -> Tables:
    """The tables in the configuration of a connector of ours."""
    given = (one.split(":") for one in config.get(_KEYS, "").split(";") if one)
    keys = {name.replace("[.]", "."): tuple(columns.split(",")) for name, columns in given}
    names = (one.replace("\\.", ".") for one in config.get(_TABLES, "").split(",") if one)
    return {name: keys.get(name, ()) for name in names}


def is_renewed(config: Mapping[str, str]) -> bool:
    """Whether the snapshot that a connector makes first is a new one, see `renewed_config`."""
    return _RENEWED in config


def renewed_config(config: Mapping[str, str]) -> Mapping[str, str]:
    """The words for a connector whose first snapshot stands behind the removal of older rows."""
    return {**config, _RENEWED: "true"}


def connector_config(
    database: Database,
    tables: Tables,
    properties: Mapping[str, str],
    kafka: Mapping[str, str],
    snapshot_lsn: int | str,
    avro: Mapping[str, str] | None = None,
) -> Mapping[str, str]:
    """The words for the connector of a database, which is to follow `tables`.

    `properties` are the user's, and come last; `kafka` are those of our own clients. Rows of a
    snapshot have the place `snapshot_lsn`. `avro` are properties of its
    converter, where it writes Avro.
    """
    name = connector_name(database)
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": "1",
        "plugin.name": "pgoutput",
        "slot.name": name,
        # Where a standby copies such slots, it can take over; a server before 17 has none.
        "slot.failover": "true",
        "publication.name": name,
        "publication.autocreate.mode": "filtered",
        # Else changes come under the names of partitions, which nobody has declared.
        "publish.via.partition.root": "true",
        "topic.prefix": database.name,
        _TABLES: ",".join(table.replace(".", "\\.") for table in sorted(tables)),
        _KEYS: ";".join(
            f"{table.replace('.', '[.]')}:{','.join(key)}"
            for table, key in sorted(tables.items())
            if key
        ),
        "snapshot.mode": "initial",
        # A slot that was created again is not taken for the old one.
        "offset.mismatch.strategy": "trust_offset",
        "provide.transaction.metadata": "true",
        "skipped.operations": "none",
        "tombstones.on.delete": "false",
        "heartbeat.interval.ms": "5000",
        "topic.creation.default.partitions": "1",
        "topic.creation.default.replication.factor": "-1",
        **(_AVRO_NAMES if avro else {}),
        **_converters(avro or _JSON),
        **_snapshots(database, kafka, snapshot_lsn),
        **properties,
    }


def _converters(given: Mapping[str, str]) -> Mapping[str, str]:
    """Words for the converters of keys and of values; the class has no name of its own."""
    return {
        f"{which}.converter{'.' if name else ''}{name}": value
        for which in ("key", "value")
        for name, value in given.items()
    }


def refused_subject(trace: str) -> str | None:
    """The subject of which a registry has refused a new schema, as a failed task says."""
    found = _REFUSED.search(trace)
    return found["subject"] if found else None


def _snapshots(
    database: Database, kafka: Mapping[str, str], snapshot_lsn: int | str
) -> Mapping[str, str]:
    """Snapshots of tables that come later: asked for by topic, so that nothing is written there."""
    security = {
        f"signal.consumer.{key}": value
        for key, value in kafka.items()
        if key != "bootstrap.servers"
    }
    return {
        "read.only": "true",
        "signal.enabled.channels": "kafka",
        "signal.kafka.topic": signal_topic(database),
        "signal.kafka.groupId": connector_name(database),
        "signal.kafka.bootstrap.servers": kafka["bootstrap.servers"],
        "signal.consumer.auto.offset.reset": "earliest",
        "signal.poll.interval.ms": "1000",
        **security,
        "transforms": "snapshot",
        "transforms.snapshot.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.snapshot.static.field": "snapshot_lsn",
        SNAPSHOT_LSN: str(snapshot_lsn),
    }


def is_gap(trace: str) -> bool:
    """Whether a failed task says that changes are gone."""
    return bool(_GAP.search(trace))
