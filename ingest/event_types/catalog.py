"""What is known of the types of a stream's events, remembered in `ops`.

`ops.event_schemas` has each variation and version with the batch that learnt it. What a person
asks for most, one row a type as it is now, is in `ops.event_types`, which follows from it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from ingest.declarations.stream import OnConflict, PerType, Stream
from ingest.event_types import ops_table
from ingest.event_types.columns import ATTRIBUTE, added, columns_of, kept_with, only_adds
from ingest.event_types.event_type import Change, EventType, all_variations
from ingest.event_types.groups import placed
from ingest.event_types.names import TableNames
from ingest.event_types.ops_table import Filled
from ingest.event_types.registration import Registration
from ingest.event_types.variations import MOST_TYPES, KnownShapes, canonical, variation, with_maps
from ingest.event_types.views import TypeView
from ingest.schemas import ingest_columns, schema_log
from ingest.schemas.schema_log import Entry, SchemaLog
from ingest.schemas.shape import EMPTY, Shape, parse_shape, written_shape
from ingest.spark.sql import quoted
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_ALL_BATCHES = 2**63 - 1
# Held while types that are new to a stream get their names, and are registered.
_naming = threading.Lock()
# Characters of a payload that are kept as a variation's prototype.
MOST_OF_A_PROTOTYPE = 16_384


@dataclass(frozen=True, slots=True)
class NewEventShape:
    """An event of a variation that may be new: its type, its shape as a text, its payload."""

    event_type: str
    shape: str
    prototype: str


@dataclass(frozen=True, slots=True)
class TypeTable:
    """A type that has a table of its own: where it is, what it shows, and how far it is filled.

    `view` shows a type's events in bronze, which has none of them before `first_batch_id`;
    `filled` is what the table is known to hold. `shows_otherwise` what it holds already: more has
    changed than that columns have come.
    """

    event_type: str
    name: str
    version: int
    view: TypeView
    first_batch_id: int
    filled: Filled | None
    is_undecided: bool
    shows_otherwise: bool


class EventTypes:
    """The types of one stream, up to a batch."""

    def __init__(self, spark: SparkSession, lake: Lake, stream: Stream, application: str) -> None:
        self._stream = stream
        self._types: dict[str, EventType] = {}
        self._known: KnownShapes | None = None
        self._beside = T.StructType()
        self._log = SchemaLog(schema_log.ensured(spark, lake), stream.name, application)
        self._lake, self._registration = lake, Registration(lake, stream)
        self._newest, self._is_loaded = -1, False
        self._lock = threading.Lock()
        self._known_up_to = _ALL_BATCHES
        if stream.events.are_split:
            ops_table.ensured(spark, lake)

    @property
    def types(self) -> Mapping[str, EventType]:
        """All types, by their names."""
        return self._types

    @property
    def known(self) -> KnownShapes:
        """What workers need to recognise what is new."""
        if self._known is None:
            seen = {name: one.seen for name, one in self._types.items()}
            many = frozenset(name for name, one in self._types.items() if one.has_many)
            self._known = KnownShapes(seen, all_variations(self._types.values()), many)
        return self._known

    @property
    def refused(self) -> Mapping[int, str]:
        """Why events do not land, by their variation."""
        return {
            number: f"{one.name} (version {one.version}): {reason}"
            for one in self._types.values()
            for number, (_, reason) in one.refused.items()
        }

    def load(self, batch_id: int, beside: T.StructType) -> None:
        """Know what was known when `batch_id` began; `beside` are the columns of bronze."""
        if not self._stream.events.are_split:
            return
        if self._is_loaded and self._newest <= batch_id:
            return
        self._read(batch_id, beside)
        self._registration.count(self._types, self._beside, is_last=True)

    def read(self) -> None:
        """Know what is written down now: of a process that does not land the stream."""
        self._read(_ALL_BATCHES, T.StructType())

    def _read(self, batch_id: int, beside: T.StructType) -> None:
        names = self._names({})
        newest: dict[str, str] = {}
        types: dict[str, EventType] = {}
        for row in self._log.entries(batch_id):
            if row["event_type"] is not None:
                types[row["event_type"]] = self._replayed(row, types, names)
                self._newest = row["_batch_id"]
                newest[row["event_type"]] = row["schema"] or newest.get(row["event_type"], "")
        for name, schema in newest.items():
            columns_there = T.StructType.fromJson(json.loads(schema))
            types[name] = types[name].with_columns(columns_there, schema)
        with self._lock:
            self._types, self._known, self._beside = types, None, beside
            self._known_up_to = batch_id
        self._is_loaded = True
        self._registration.load()

    def count(self, *, is_last: bool = False) -> None:
        """After a batch: count what has landed since, and write it now and then, or at last."""
        self._known_up_to = _ALL_BATCHES
        if self._stream.events.are_split:
            self._registration.count(self._types, self._beside, is_last=is_last)

    def tables(self, own: str | None = None) -> tuple[int, Mapping[str, Sequence[TypeTable]]]:
        """The types that have a table of their own, by group, and up to which batch they are all.

        Those that are filled where the stream lands, or by the process of the group `own`. A batch
        that runs again begins with what was known then, while bronze may have more.
        """
        events = self._stream.events
        with self._lock:
            types, known_up_to = dict(self._types), self._known_up_to
        groups: dict[str, list[TypeTable]] = {}
        for name, group in placed(types, events).items():
            declared, one = events.group_of(name), types[name]
            is_ours = group == own if declared.has_own_process else own is None
            if is_ours and declared.per_type is PerType.TABLES and one.landed:
                filled = self._registration.filled(name)
                is_failed = declared.on_conflict is OnConflict.FAIL_GROUP and one.undecided
                table = TypeTable(
                    event_type=name,
                    name=one.table_name,
                    version=one.version,
                    view=self._registration.view(one),
                    first_batch_id=one.first_batch_id,
                    filled=filled,
                    is_undecided=bool(is_failed),
                    shows_otherwise=filled is None or _shows_otherwise(one, filled),
                )
                groups.setdefault(group, []).append(table)
        return known_up_to, groups

    def have_filled(self, filled: Mapping[str, Filled]) -> None:
        """Tell readers what tables of types hold now."""
        self._registration.fill(filled)
        self._registration.write(self._types, self._beside)

    def learn(
        self, found: Iterable[NewEventShape], beside: T.StructType, batch_id: int, now: datetime
    ) -> None:
        """Take in variations that are new, and grow the types' columns; all in one commit.

        `beside` are the columns of bronze, which the tables of types show, too.
        """
        by_type: dict[str, list[NewEventShape]] = {}
        for one in sorted(found, key=lambda one: (one.event_type, one.shape)):
            by_type.setdefault(one.event_type, []).append(one)
        # Until a type is registered, another stream of the source might take its table's name.
        with _naming if set(by_type) - set(self._types) else contextlib.nullcontext():
            self._learn(by_type, beside, batch_id, now)

    def _learn(
        self,
        by_type: Mapping[str, Sequence[NewEventShape]],
        beside: T.StructType,
        batch_id: int,
        now: datetime,
    ) -> None:
        names = self._names(self._types) if set(by_type) - set(self._types) else TableNames()
        rows = []
        for name, events in by_type.items():
            if name not in self._types and len(self._types) >= MOST_TYPES:
                self._warn_of_too_many(name)
                continue
            before = self._types.get(name) or EventType(name, names.of(name), batch_id)
            rows += self._learnt(before, events, now)
        if beside != self._beside or rows:
            self._beside = beside
            self._record(rows, batch_id, now, "types")

    def has_decided(self, request: str) -> bool:
        """Whether a request has been carried out, be it by a process that ended since."""
        return self._log.has(request)

    def decide(
        self, name: str, change: Change, version: int | None, *, now: datetime, request: str
    ) -> EventType:
        """Carry out a person's decision, once for each `request`, between two batches."""
        before = self._types[name]
        if self.has_decided(request):
            return before
        kept = (
            before.accepted()
            if change is Change.ACCEPTED
            else before.versions[version or before.version]
        )
        after = before.decided(change, kept)
        after = after.in_version(before.version + 1, kept)
        after = after.with_columns(self._columns(after, kept))
        self._types[name] = replace(after, last_grown=now)
        self._record([_version_row(before, after, change)], self._newest, now, request)
        return after

    def _learnt(
        self, before: EventType, events: Sequence[NewEventShape], now: datetime
    ) -> list[Entry]:
        after, name = before, before.name
        rows: list[Entry] = []
        for one in events:
            shape = canonical(parse_shape(one.shape), after.seen)
            number = variation(name, shape)
            if after.knows(number, shape) or number in after.refused:
                continue
            conflicts = kept_with(after.kept, shape)[1]
            news = [str(one) for one in conflicts if one.path not in after.rescued]
            is_refused = bool(conflicts) and self._refuses(before)
            if is_refused:
                reason = "; ".join(map(str, conflicts))
                after = after.refusing(number, shape, reason, now)
            else:
                after = after.landing(number, shape, now)
            if news:
                self._warn(name, news, is_refused=is_refused)
            rows.append(
                Entry(
                    event_type=name,
                    version=before.version,
                    variation=number,
                    shape=written_shape(shape),
                    prototype=one.prototype[:MOST_OF_A_PROTOTYPE],
                    change=(Change.REFUSED if is_refused else Change.GROWN).value,
                    conflict="; ".join(news) or None,
                )
            )
        if not rows:
            return []
        kept = with_maps(after.kept)
        grown = self._columns(after, kept)
        if grown != before.columns or after.rescued != before.rescued or not before.version:
            after = after.in_version(before.version + 1, kept).with_columns(grown)
            rows = [replace(one, version=after.version) for one in rows]
            rows.append(_version_row(before, after, Change.GROWN))
        self._types[name] = after
        return rows

    def _warn_of_too_many(self, name: str) -> None:
        log.warning(
            "%s: %r is a type too many: its events land, but have no table, because there are %d "
            "types already; see event_type in %s",
            self._stream.name,
            name,
            MOST_TYPES,
            self._stream.declared_in,
        )

    def _refuses(self, one: EventType) -> bool:
        group = self._stream.events.group_of(one.name)
        return group.on_conflict is OnConflict.QUARANTINE and not one.is_pinned

    def _warn(self, name: str, news: Sequence[str], *, is_refused: bool) -> None:
        group = self._stream.events.group_of(name)
        if is_refused:
            what = "such events wait in quarantine"
        elif group.on_conflict is OnConflict.FAIL_GROUP:
            what = f"group {group.name} waits"
        else:
            what = "such values are rescued"
        log.warning(
            "%s: %s: %s: %s until `ingest schema accept '%s'`, or `pin`",
            self._stream.name,
            name,
            "; ".join(news),
            what,
            name,
        )

    def _replayed(
        self,
        row: Mapping[str, Any],
        types: Mapping[str, EventType],
        names: TableNames,
    ) -> EventType:
        name, at = row["event_type"], row["recorded_at"]
        one = types.get(name) or EventType(name, names.of(name), row["_batch_id"])
        change, shape = Change(row["change"]), parse_shape(row["shape"])
        if row["variation"] is not None:
            if change is Change.REFUSED:
                reason = "; ".join(map(str, kept_with(one.kept, shape)[1]))
                return one.refusing(row["variation"], shape, reason, at)
            return one.landing(row["variation"], shape, at)
        if change is not Change.GROWN:
            one = one.decided(change, shape)
        # Reading columns takes long, and only the newest count.
        return replace(one.in_version(row["version"], shape), last_grown=at)

    def _names(self, types: Mapping[str, EventType]) -> TableNames:
        """Those that all types have; `types` may not be registered yet."""
        there, schema = ops_table.registered(self._lake), self._stream.events.schema
        given = {one.event_type: one.table_name for one in there if one.stream == self._stream.name}
        taken = {one.table_name for one in there if one.table_schema == schema}
        return TableNames(given, taken | {one.table_name for one in types.values()})

    def _columns(self, one: EventType, kept: Shape) -> T.StructType:
        events = self._stream.events
        return columns_of(
            kept,
            one.columns,
            payload=events.payload[-1],
            reserved=[*ingest_columns.INGEST.fieldNames(), *events.reserved],
            hints=events.hints,
            max_columns=self._stream.evolution.max_columns,
        )

    def _record(self, rows: Sequence[Entry], batch_id: int, now: datetime, part: str) -> None:
        self._newest = max(self._newest, batch_id)
        self._log.append(rows, batch_id, now, part)
        self._known = None
        self._registration.write(self._types, self._beside)


def _shows_otherwise(one: EventType, filled: Filled) -> bool:
    """Whether what a table holds would be shown otherwise now, columns that came left aside."""
    was = one.versions.get(filled.version)
    if was is None or filled.version < one.decided_in:
        return True
    there = filled.columns.split(", ")
    came = [field for field in one.columns.fields if quoted(field.name) not in there]
    had_values = (was.fields.get(field.metadata[ATTRIBUTE], EMPTY).values for field in came)
    return any(had_values) or not all(
        only_adds(before, one.kept.fields.get(name, EMPTY)) for name, before in was.fields.items()
    )


def rule_of(event_type: str) -> str:
    """The promise that a refused event broke, as quarantine names it."""
    return f"on_incompatible_change: {event_type}"


def _version_row(before: EventType, after: EventType, change: Change) -> Entry:
    return Entry(
        event_type=after.name,
        version=after.version,
        shape=written_shape(after.kept),
        schema=after.schema,
        added=added(before.columns, after.columns),
        change=change.value,
    )
