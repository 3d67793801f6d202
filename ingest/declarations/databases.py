"""Tables of one database, which are declared one by one and followed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from ingest.declarations.stream import Database, DatabaseTable, FileSource, KafkaSource, Stream


def with_whole_databases(
    streams: Sequence[Stream],
) -> tuple[list[Stream], list[tuple[str, str]]]:
    """Streams whose sources know all tables of their database, and each (place, problem)."""
    owners: dict[str, dict[str, Stream]] = {}
    problems = []
    for stream in streams:
        where = f"{stream.declared_in}: {stream.name}"
        for database, table in _tables(stream):
            held = owners.setdefault(database, {})
            owner = held.setdefault(table.name, stream)
            if owner is not stream:
                reason = f"{table.name} already belongs to {owner.name} ({owner.declared_in})"
                problems.append((where, f"meta.ingest.table: {reason}"))
            first = next(iter(held.values()))
            if first.format is not stream.format:
                reason = f"{first.name} is {first.format.value}, and one connector writes both"
                problems.append((where, f"meta.ingest.format: {reason}"))
    whole = {
        name: Database(
            name=name,
            tables=tuple(one for _, owner in sorted(held.items()) for _, one in _tables(owner)),
            format=next(iter(held.values())).format,
        )
        for name, held in owners.items()
    }
    return [_with_whole(stream, whole) for stream in streams], problems


def _tables(stream: Stream) -> list[tuple[str, DatabaseTable]]:
    database = stream.database
    return [(database.name, table) for table in database.tables] if database else []


def _with_whole(stream: Stream, whole: dict[str, Database]) -> Stream:
    match source := stream.source:
        case KafkaSource(database=Database(name=name)):
            return replace(stream, source=replace(source, database=whole[name]))
        case KafkaSource() | FileSource():
            return stream
        case _:
            assert_never(source)
