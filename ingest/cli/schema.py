"""`ingest schema`: columns and versions of event types, and decisions about them."""

from __future__ import annotations

import json as jsons
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ingest.event_types.ops_table import Registered
    from ingest.storage.layout import Lake

app = typer.Typer(
    no_args_is_help=True,
    help="Show event types, their columns and versions; decide about incompatible changes; "
    "register Avro schemas.",
)

Type = Annotated[str, typer.Argument(metavar="TYPE", help="Event type, as producers write it.")]
Stream = Annotated[
    str | None, typer.Option("--stream", help="Its stream, if several streams have this type.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Version = Annotated[int | None, typer.Argument(help="Version to pin. Default: the newest.")]


@app.command(name="list")
def list_types(stream: Stream = None, json: Json = False) -> None:
    """List event types with their tables, versions and event counts."""
    from ingest.cli import show
    from ingest.event_types.ops_table import registered

    found = [one for one in registered(_lake()) if stream in (None, one.stream)]
    rows = [
        {
            "stream": one.stream,
            "event_type": one.event_type,
            "table": one.name,
            "group": one.event_group,
            "version": one.version,
            "variations": len(one.variations),
            "events": one.events,
            "last_seen": one.last_seen,
            "pending": one.pending or ("pinned" if one.is_pinned else None),
        }
        for one in found
    ]
    if json:
        show.as_json(rows)
    else:
        show.table("event types", rows)


@app.command(name="groups")
def list_groups(stream: Stream = None, json: Json = False) -> None:
    """List event groups whose types have tables, and up to which batch these are filled."""
    from dataclasses import asdict

    from ingest.cli import show
    from ingest.event_types.ops_table import registered
    from ingest.runtime.type_table_fill import group_states

    lake = _lake()
    streams = {one.stream: one.bronze_table.partition(".")[2] for one in registered(lake)}
    rows = [
        {"stream": name, **asdict(state)}
        for name, table in streams.items()
        if stream in (None, name)
        for state in group_states(lake, table)
    ]
    if json:
        show.as_json(rows)
    else:
        show.table("event groups", rows)


@app.command(name="show")
def show_type(event_type: Type, stream: Stream = None, json: Json = False) -> None:
    """Show the columns of an event type, and changes that wait for a decision."""
    from ingest.cli import show

    one = _found(_lake(), event_type, stream)
    columns = _columns(jsons.loads(one.schema))
    if json:
        facts = {"table": one.name, "version": one.version, "events": one.events}
        show.as_json({**facts, "pending": one.pending, "columns": columns})
        return
    show.table(f"{one.name}, version {one.version}", columns)
    for line in _remarks(_lake(), one):
        show.line(line)


@app.command()
def history(event_type: Type, stream: Stream = None, json: Json = False) -> None:
    """Show the versions of an event type and the attributes that each added."""
    from ingest.cli import show

    one = _found(_lake(), event_type, stream)
    rows = [
        {
            "version": row["version"],
            "change": row["change"],
            "recorded_at": row["recorded_at"],
            "brought": ", ".join(f"{each['path']} {each['type']}" for each in row["added"] or ()),
        }
        for row in _entries(_lake(), one)
        if row["variation"] is None
    ]
    if json:
        show.as_json(rows)
    else:
        show.table(event_type, rows)


@app.command()
def diff(
    event_type: Type,
    old: Annotated[int, typer.Argument(help="First version.")],
    new: Annotated[int, typer.Argument(help="Second version.")],
    stream: Stream = None,
    json: Json = False,
) -> None:
    """Show the columns that differ between two versions of an event type."""
    from ingest.cli import show

    one = _found(_lake(), event_type, stream)
    schemas = {
        row["version"]: {
            each["column"]: each["type"] for each in _columns(jsons.loads(row["schema"]))
        }
        for row in _entries(_lake(), one)
        if row["schema"]
    }
    before, after = (_version_of(schemas, one, version) for version in (old, new))
    rows = [
        {"column": name, f"version {old}": before.get(name), f"version {new}": after.get(name)}
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    if json:
        show.as_json(rows)
    else:
        show.table(event_type, rows)


@app.command()
def accept(event_type: Type, stream: Stream = None) -> None:
    """Change the columns to accept pending changes; ingest the events that wait for this."""
    _decide(event_type, "accepted", None, stream)


@app.command()
def pin(event_type: Type, version: Version = None, stream: Stream = None) -> None:
    """Freeze the columns of an event type at a version; other values go to _rescued."""
    _decide(event_type, "pinned", version, stream)


@app.command()
def revert(
    event_type: Type,
    version: Annotated[int, typer.Argument(help="Version to go back to.")],
    stream: Stream = None,
) -> None:
    """Restore the columns of an earlier version, as a new version."""
    _decide(event_type, "reverted", version, stream)


@app.command()
def register(
    select: Annotated[
        list[str] | None,
        typer.Option(
            "--select", "-s", help="Streams to include: source:shop.* or source:shop.orders."
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="Streams to exclude, in the same syntax.")
    ] = None,
    json: Json = False,
) -> None:
    """Register declared Avro schemas and compatibility levels in the schema registry."""
    from ingest.cli import gate

    gate.register(select or (), exclude or (), json)


def _decide(event_type: str, change: str, version: int | None, stream: str | None) -> None:
    from ingest.cli import show
    from ingest.errors import RequestRefused
    from ingest.event_types.event_type import Change
    from ingest.runtime.decisions import carried_out
    from ingest.runtime.requests import Request

    lake = _lake()
    one = _found(lake, event_type, stream)
    show.logging_to_stderr()
    answer = carried_out(lake, Request.made(one.stream, one.event_type, Change(change), version))
    if not answer.is_done:
        raise RequestRefused(answer.text)
    show.line(answer.text)


def _lake() -> Lake:
    from ingest import settings
    from ingest.storage.layout import Lake

    return Lake(settings.lake())


def _found(lake: Lake, event_type: str, stream: str | None) -> Registered:
    from ingest.event_types.ops_table import chosen, registered

    return chosen(registered(lake), event_type, stream)


def _entries(lake: Lake, one: Registered) -> Sequence[Mapping[str, Any]]:
    from ingest.schemas import schema_log

    found = schema_log.entries(lake.ops("event_schemas"), one.stream, 2**63 - 1)
    return [row for row in found if row["event_type"] == one.event_type]


def _columns(schema: Mapping[str, Any]) -> list[dict[str, str]]:
    from pyspark.sql.types import StructType

    from ingest.event_types.columns import ATTRIBUTE

    return [
        {
            "column": field.name,
            "type": field.dataType.simpleString(),
            "attribute": field.metadata[ATTRIBUTE],
        }
        for field in StructType.fromJson(dict(schema)).fields
    ]


def _version_of(
    schemas: Mapping[int, dict[str, str]], one: Registered, version: int
) -> dict[str, str]:
    from ingest.errors import TypeUnknown

    if version not in schemas:
        versions = ", ".join(map(str, sorted(schemas)))
        raise TypeUnknown(f"{one.event_type} has no version {version}, but {versions}")
    return schemas[version]


def _remarks(lake: Lake, one: Registered) -> list[str]:
    """Lines below the columns: counts, pins, and example events of each conflict."""
    lines = [f"{one.events} events ingested, the last at {one.last_seen}"]
    if one.is_pinned:
        lines.append("pinned: values that do not fit these columns go to _rescued")
    entries = _entries(lake, one)
    first = next((row["prototype"] for row in entries if row["prototype"]), None)
    for row in entries:
        conflicts = row["conflict"].split("; ") if row["conflict"] else []
        if one.pending and any(each in one.pending for each in conflicts):
            lines.append(f"{row['change']}: {row['conflict']}")
            lines.append(f"  first seen: {first}")
            lines.append(f"  and now:    {row['prototype']}")
    return lines
