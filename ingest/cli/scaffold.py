"""`ingest scaffold`: models of one type of event for a person to go on from.

A staging view, an incremental table of its events, and what both mean. Columns keep their names,
so that the models also build where the type has not come yet.
"""

from __future__ import annotations

import json
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import types as T

from ingest import settings
from ingest.cli.models import Column, Columns, descriptions, events_model, staging_model
from ingest.declarations.project import declared_streams
from ingest.declarations.stream import Stream
from ingest.errors import TypeUnknown
from ingest.events import registry
from ingest.events.columns import ATTRIBUTE
from ingest.events.registry import Registered
from ingest.lake import Lake
from ingest.tables.columns import record_schema

# What CloudEvents has in each event, and says nothing of this one.
_OF_THE_ENVELOPE = {"specversion", "type", "datacontenttype", "dataschema"}


def write(event_type: str, stream_name: str | None) -> list[tuple[str, bool]]:
    """Write what is missing of a type's models: each file, and whether it is new."""
    lake = Lake(settings.lake())
    one = registry.chosen(registry.registered(lake), event_type, stream_name)
    streams = {stream.name: stream for stream in declared_streams()}
    if one.stream not in streams:
        raise TypeUnknown(f"{one.stream}, which brought {event_type!r}, is not declared any more")
    stream = streams[one.stream]
    schema, table = one.bronze_table.split(".")
    bronze = T.StructType.fromJson(
        json.loads(DeltaTable(lake.table(schema, table)).schema().to_json())
    )
    root = settings.project_dir()
    return written(root, texts(one, stream, bronze, _entity(root / "models", one)))


def texts(one: Registered, stream: Stream, bronze: T.StructType, entity: str) -> dict[str, str]:
    """The files of a type's models, by their paths below the project."""
    source, table = one.stream.split(".", 1)
    folder = f"models/silver/{source}"
    staging, events = f"stg_{source}__{entity}", f"{entity}_events"
    columns = columns_of(one, stream, bronze)
    return {
        f"{folder}/{staging}.sql": staging_model(columns, source, one.event_type, table),
        f"{folder}/{events}.sql": events_model(columns, staging, source, table),
        f"{folder}/_{entity}__models.yml": descriptions(columns, staging, events, one.event_type),
    }


def columns_of(one: Registered, stream: Stream, bronze: T.StructType) -> Columns:
    """What a type's models select, under which names. Raises TypeUnknown."""
    own = T.StructType.fromJson(json.loads(one.schema)).fields
    names = {field.metadata[ATTRIBUTE]: field.name for field in own}
    payload = stream.events.payload
    taken = {field.name.lower() for field in own}

    def column(path: tuple[str, ...]) -> str | None:
        """The column that shows a path of the record."""
        if len(path) == 1:
            return path[0]
        is_attribute = path[:-1] == payload and path[-1] in names
        return names[path[-1]] if is_attribute else None

    def renamed(name: str, wanted: str) -> str:
        """`wanted`, where no attribute has that name."""
        return name if wanted in taken else wanted

    ids = [column(path) for path in stream.identity.event_id]
    if not ids or None in ids:
        raise TypeUnknown(
            f"{one.stream}: nothing tells the events of {one.event_type!r} apart; declare a key "
            "or event_id of columns, or of attributes that it has"
        )
    identity = {
        name: renamed(name, {"id": "event_id", "source": "event_source"}.get(name, name))
        if len(ids) > 1
        else renamed(name, "event_id")
        for name in ids
        if name is not None
    }
    time = column(stream.identity.event_time) if stream.identity.event_time else None
    beside = [
        field
        for field in record_schema(bronze).fields
        if (field.name,) != payload and field.name.lower() not in taken
    ]
    kinds = {field.name: field.dataType for field in [*beside, *own]}
    attributes = {field.name: field.metadata[ATTRIBUTE] for field in own}
    special = {*identity, time}
    rest = [
        Column(field.name, field.name, field.dataType, attributes.get(field.name))
        for field in [*beside, *own]
        if field.name not in special and field.name not in _OF_THE_ENVELOPE - taken
    ]
    return Columns(
        ids=[
            Column(name, alias, kinds.get(name, T.StringType()), attributes.get(name))
            for name, alias in sorted(identity.items(), key=lambda pair: pair[1] != "event_id")
        ],
        event_type=renamed("_event_type", "event_type"),
        event_date=renamed("_event_date", "event_date"),
        happened_at=Column(time, renamed(time, "happened_at"), kinds[time], attributes.get(time))
        if time in kinds
        else None,
        rest=rest,
    )


def _entity(models: Path, one: Registered) -> str:
    """The type in names of models, with its source in front where another's are called so."""
    source = one.stream.split(".", 1)[0]
    name = one.table_name
    others = [path for path in models.rglob(f"{name}_events.sql") if path.parent.name != source]
    return f"{source}_{name}" if others else name


def written(root: Path, files: dict[str, str]) -> list[tuple[str, bool]]:
    """Write the files that do not exist below `root`: each file, and whether it is new."""
    done = []
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            done.append((name, True))
        except FileExistsError:
            done.append((name, False))
    return done
