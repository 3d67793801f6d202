"""`ingest scaffold`: models of one type of event for a person to go on from.

A staging view, an incremental table of its events, and what both mean. Columns keep their names,
so that the models also build where the type has not come yet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import types as T

from ingest import settings
from ingest.cli.models import Column, Columns, descriptions, events_model, staging_model
from ingest.declarations.project import declared_streams
from ingest.declarations.stream import Stream
from ingest.errors import TypeUnknown
from ingest.event_types import ops_table
from ingest.event_types.columns import ATTRIBUTE
from ingest.event_types.ops_table import Registered
from ingest.schemas.ingest_columns import record_schema
from ingest.storage import delta_log
from ingest.storage.layout import Lake

# What CloudEvents has in each event, and says nothing of this one.
_OF_THE_ENVELOPE = {"specversion", "type", "datacontenttype", "dataschema"}

_PARTS_OF_AN_ID = {"id": "event_id", "source": "event_source"}


def write(event_type: str, stream_name: str | None) -> list[tuple[str, bool]]:
    """Write what is missing of a type's models: each file, and whether it is new."""
    lake = Lake(settings.lake())
    one = ops_table.chosen(ops_table.registered(lake), event_type, stream_name)
    streams = {stream.name: stream for stream in declared_streams()}
    if one.stream not in streams:
        raise TypeUnknown(f"{one.stream}, which brought {event_type!r}, is not declared any more")
    stream = streams[one.stream]
    schema, table = one.bronze_table.split(".")
    bronze = T.StructType.fromJson(json.loads(delta_log.schema_json(lake.table(schema, table))))
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
        f"{folder}/{events}.sql": events_model(columns, staging, (source, table), one.event_type),
        f"{folder}/_{entity}__models.yml": descriptions(columns, staging, events, one.event_type),
    }


def columns_of(one: Registered, stream: Stream, bronze: T.StructType) -> Columns:
    """What a type's models select, under which names. Raises TypeUnknown."""
    own = T.StructType.fromJson(json.loads(one.schema)).fields
    attributes = {field.name: field.metadata[ATTRIBUTE] for field in own}
    taken = {name.lower() for name in attributes}
    payload = stream.events.payload
    beside = [
        field
        for field in record_schema(bronze).fields
        if (field.name,) != payload and field.name.lower() not in taken
    ]
    kinds = {field.name: field.dataType for field in [*beside, *own]}

    def column(name: str, wanted: str) -> Column:
        """A column, called as we call it where no attribute has that name."""
        alias = name if wanted in taken else wanted
        return Column(name, alias, kinds.get(name, T.StringType()), attributes.get(name))

    ids = [_column_at(path, payload, attributes) for path in stream.identity.event_id]
    if not ids or None in ids:
        raise TypeUnknown(
            f"{one.stream}: nothing identifies the events of {one.event_type!r}; declare a key "
            "or event_id of columns, or of attributes that it has"
        )
    names = [name for name in ids if name is not None]
    called = dict.fromkeys(names, "event_id") if len(names) == 1 else _PARTS_OF_AN_ID
    time = _column_at(stream.identity.event_time or (), payload, attributes)
    special = {*names, time}
    return Columns(
        # CloudEvents name the source first; an id says more.
        ids=[column(name, called.get(name, name)) for name in sorted(names, key=_is_source)],
        event_type=column("_event_type", "event_type").alias,
        event_date=column("_event_date", "event_date").alias,
        happened_at=column(time, "happened_at") if time in kinds and time else None,
        rest=[
            column(name, name)
            for name in kinds
            if name not in special and name not in _OF_THE_ENVELOPE - taken
        ],
    )


def _is_source(name: str) -> bool:
    return name == "source"


def _column_at(
    path: tuple[str, ...], payload: tuple[str, ...], attributes: Mapping[str, str]
) -> str | None:
    """The column of a type's table that shows a path of the record."""
    if len(path) == 1:
        return path[0]
    shown = (name for name, attribute in attributes.items() if (*payload, attribute) == path)
    return next(shown, None)


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
