"""Promises beside those before: what is refused, what is only said, and who reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import types as T

from ingest.contracts.differences import Difference, Fate, Path, differences
from ingest.contracts.promises import Promise
from ingest.lineage.readers import Readers
from ingest.registry.client import SchemaRegistry
from ingest.registry.compatibility import Compatibility

WhoReads = Callable[[Mapping[str, frozenset[Path]]], Readers]
# What registries of Confluent ask for unless they are configured otherwise.
_DEFAULT = Compatibility.BACKWARD


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A change; of one column, or of a whole schema."""

    stream: str
    column: str | None
    change: str
    is_refused: bool
    readers: Readers = field(default_factory=Readers)


def against_revision(
    now: Mapping[str, Promise], before: Mapping[str, Promise], revision: str, reads: WhoReads
) -> Iterator[Finding]:
    """What differs from the promises of a revision; a stream that is new breaks nothing."""
    for name, promise in now.items():
        old = before.get(name)
        if old is None:
            continue
        # A subject of another name is a new beginning: nobody reads both by one schema.
        if promise.subject == old.subject:
            yield from _of_modes(promise, old, revision)
        yield from _of_columns(promise, old.columns, reads)


def against_registry(
    now: Mapping[str, Promise], registry: SchemaRegistry, reads: WhoReads
) -> Iterator[Finding]:
    """What differs from the schemas of the registry; one that it has already breaks nothing.

    Raises RegistryUnreachable.
    """
    for promise in now.values():
        if promise.subject is None or promise.schema is None:
            continue
        versions = registry.versions(promise.subject)
        if not versions or registry.version_of(promise.subject, promise.schema):
            continue
        asked = promise.compatibility or registry.compatibility(promise.subject)
        before = [(f"version {one.number}", one.schema) for one in versions]
        yield from _of_schema(promise, asked, before)
        yield from _of_columns(promise, promise.columns_with(versions[-1].schema), reads)


def _of_modes(promise: Promise, old: Promise, revision: str) -> Iterator[Finding]:
    """What the declared mode refuses, and the one before: others rely on it until that is merged.

    A stream that declares no schema has the mode that it asks its connector's subjects for.
    """
    before = [(revision, old.schema)] if promise.schema and old.schema else []
    default = _DEFAULT if before else None
    asked, until_now = promise.compatibility or default, old.compatibility or default
    if asked is None:
        return
    yield from _of_schema(promise, asked, before)
    if until_now is None or not asked.is_looser_than(until_now):
        return
    description = f"avro.compatibility was {until_now.value}, and is {asked.value}"
    yield Finding(stream=promise.name, column=None, change=description, is_refused=False)
    also_refused = set(asked.refusals(promise.schema or "", before))
    for why in until_now.refusals(promise.schema or "", before):
        if why not in also_refused:
            description = (
                f"{promise.subject} is {until_now.value} until this is merged: {why}; let "
                f"{asked.value} be merged first, in a change of its own"
            )
            yield Finding(stream=promise.name, column=None, change=description, is_refused=True)


def _of_schema(
    promise: Promise, asked: Compatibility, before: Sequence[tuple[str, str]]
) -> Iterator[Finding]:
    for why in asked.refusals(promise.schema or "", before):
        description = f"{promise.subject} is {asked.value}: {why}"
        yield Finding(stream=promise.name, column=None, change=description, is_refused=True)


def _of_columns(promise: Promise, before: T.StructType, reads: WhoReads) -> Iterator[Finding]:
    for one in differences(before, promise.columns):
        readers = reads(promise.tables(one.path))
        yield Finding(
            stream=promise.name,
            column=".".join(one.path),
            change=_change_text(one, promise.is_hint(one.path)),
            is_refused=one.fate is Fate.RETYPED or (one.fate is Fate.REMOVED and bool(readers)),
            readers=readers,
        )


def _change_text(one: Difference, is_hint: bool) -> str:
    if one.fate is Fate.REMOVED:
        return f"{one.before}, is no longer declared"
    change = f"{one.before} became {one.now}, "
    if one.fate is Fate.RETYPED:
        change += "to which Delta cannot widen it; "
    else:
        change += "to which Delta could widen it; "
    if is_hint:
        return f"{change}where it has landed it keeps its type, and the stream refuses another"
    return f"{change}where it has landed it keeps its type, and what does not fit is rescued"
