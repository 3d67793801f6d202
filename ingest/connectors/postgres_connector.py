"""A database that a connector follows, as its declared tables ask for."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Protocol, assert_never

from ingest.client_properties import (
    avro_converter,
    connect_api,
    database_properties,
    kafka_properties,
    schema_registry_properties,
)
from ingest.connectors.connect import Connect, ConnectorState
from ingest.connectors.connector import (
    SNAPSHOT_LSN,
    Tables,
    connector_config,
    connector_name,
    followed_tables,
    is_gap,
    is_renewed,
    refused_subject,
    renewed_config,
    signal_topic,
    snapshot_wish,
)
from ingest.connectors.postgres import PostgresLog
from ingest.connectors.truncation import truncated
from ingest.declarations.stream import Database, DatabaseTable, Format
from ingest.errors import (
    ConnectorFailed,
    DatabaseUnreachable,
    GapFound,
    HeadwaterError,
    SourceUnreadable,
)
from ingest.registry.client import SchemaRegistry
from ingest.sources.data_loss import SLOT, UNFOLLOWED
from ingest.storage import delta_log
from ingest.storage.layout import Lake

log = logging.getLogger(__name__)

# Seconds between two tries to start what has failed, two marks in the log, and two lines of one
# who waits; in which a connector makes its slot; and for which it may be without a task.
_RESTART_EVERY, _MARK_EVERY, _LOG_EVERY = 60.0, 60.0, 30.0
_TO_BEGIN, _IDLE = 120.0, 5.0
# Why tables are not followed, by their names.
Refused = Mapping[str, HeadwaterError]


class Broker(Protocol):
    """What is asked of a Kafka broker."""

    def make_topics(self, topics: Iterable[str]) -> None:
        """Make those topics that are not there, of one partition each."""
        ...

    def send(self, messages: Iterable[tuple[str, str | None, bytes]]) -> None:
        """Write messages, each (topic, key, value)."""
        ...


class PostgresConnector:
    """Creates the connector of a database, watches it, and snapshots again after data loss.

    Raises ConnectorFailed, DatabaseUnreachable, ServersUnknown.
    """

    def __init__(
        self,
        lake: Lake,
        database: Database,
        connect: Connect | None = None,
        postgres: PostgresLog | None = None,
    ) -> None:
        self._lake, self._database = lake, database
        self._properties = database_properties(lake, database.name)
        self._kafka = kafka_properties(lake)
        self._avro: Mapping[str, str] | None = None
        self._registry: SchemaRegistry | None = None
        match database.format:
            case Format.AVRO:
                self._avro = avro_converter(lake)
                self._registry = SchemaRegistry(schema_registry_properties(lake))
            case Format.JSON:
                pass
            case Format.CSV | Format.PARQUET | Format.BYTES:
                raise AssertionError(f"a connector does not write {database.format.value}")
            case _:
                assert_never(database.format)
        self._connect = connect or Connect(connect_api(lake))
        self._log = postgres or PostgresLog(database.name, self._properties)
        self._name = connector_name(database)
        self._slot = self._properties.get("slot.name", connector_name(database))
        self._is_followed, self._said = False, ""
        self._refused: Refused = {}
        # When something was done last, by time.monotonic().
        self._restarted, self._moved, self._idle_since = 0.0, 0.0, 0.0

    def make_topics(self, broker: Broker) -> None:
        """Have the topics."""
        topics = map(self._database.topic, self._database.tables)
        broker.make_topics([*topics, signal_topic(self._database)])

    def follow(self, broker: Broker) -> Refused:
        """See that the connector follows the declared tables, but for those that cannot be.

        A table that comes later has its rows sent by a snapshot beside the stream. Tables that
        are followed and not declared here stay: this process may be older than their declaration.
        Raises GapFound.
        """
        self.make_topics(broker)
        there = self._connect.config(self._name)
        self._refuse_gap(there)
        followed = followed_tables(there or {})
        self._refused = self._refusals(there)
        sound = [one for one in self._database.tables if one.name not in self._refused]
        new = [one for one in sound if one.name not in followed]
        tables = {**followed, **{one.name: one.key for one in sound}}
        self._ask_for_compatibility(sound)
        self._tell_others(followed)
        if there is None:
            if new:
                self._connect.put(self._name, self._config(tables, self._first_place()))
                self._is_followed = True
            return self._refused
        wanted = self._config(tables, there.get(SNAPSHOT_LSN, "0"))
        if is_renewed(there):
            wanted = renewed_config(wanted)
        is_stopped = bool(new) or self._state().connector == "STOPPED"
        if new:
            # Stopped meanwhile: should this end half-way, the next one finds it so and goes on,
            # and the connector has the wish before it has the table, and never without.
            self._connect.stop(self._name)
            self._ask_for_snapshot(broker, new)
        if wanted != there:
            self._connect.put(self._name, wanted)
        # Not asked now: a connector that takes new words is not STOPPED for a moment.
        if is_stopped:
            self._connect.resume(self._name)
        elif self._state().has_failed:
            self._restart()
        self._is_followed = True
        return self._refused

    def look(self, broker: Broker) -> Refused:
        """See how the connector is, and say it; the tables that are not followed, and why.

        Raises GapFound.
        """
        try:
            if not self._is_followed:
                self.follow(broker)
            if self._is_followed:
                self._refuse_gap(self._connect.config(self._name))
                state = self._state()
                said = "" if state.is_running else self._state_text(state)
                if state.has_failed:
                    self._restart()
                self._rouse(state)
                self._move_on()
            else:
                said = f"database {self._database.name}: none of its tables can be followed"
        except (ConnectorFailed, DatabaseUnreachable) as error:
            # What is in the topics lands all the same.
            said = str(error)
        self._say(said)
        return self._refused

    def catch_up(self, stopping: threading.Event) -> None:
        """Wait until the topics hold all that was committed so far, a first snapshot too.

        Connect notes what the broker has once in its `offset.flush.interval.ms`. Raises GapFound.
        """
        self._await_slot(stopping)
        mark, logged_at = self._log.mark(), time.monotonic()
        while not stopping.wait(0.2):
            slot = self._log.slot(self._slot)
            if slot and slot.read_up_to >= mark:
                return
            if slot is None or slot.is_lost:
                self._refuse_gap(self._connect.config(self._name))
            self._refuse_failure()
            if time.monotonic() - logged_at > _LOG_EVERY:
                logged_at = time.monotonic()
                log.info("%s: waiting for %s", self._database.name, self._state_text(self._state()))

    def missing(self) -> Mapping[str, str]:
        """Tables of which changes are gone, by their names, and the reason."""
        there = self._connect.config(self._name)
        if self._gap(there) is not None:
            return {one.name: SLOT for one in self._database.tables}
        return dict.fromkeys(self._missed(there), UNFOLLOWED)

    def renew(self, broker: Broker) -> Refused:
        """Snapshot all tables again, after the old rows are removed.

        Should it end half-way, there is still a gap and it is done again, or all that is left to
        do is to start the connector, which `follow` does, too. Tables that cannot be followed,
        and those that are not declared, are left out.
        """
        self.make_topics(broker)
        refused = self._refused_now(self._database.tables)
        tables = [one for one in self._database.tables if one.name not in refused]
        if not tables:
            return refused
        if self._connect.config(self._name) is not None:
            self._connect.stop(self._name)
        place = self._log.position()
        self._log.drop_slot(self._slot)
        # Every change from now on is behind it; places are multiples of 8.
        broker.send(
            (
                self._database.topic(table),
                None,
                truncated(self._database, table, place - 1, self._registry),
            )
            for table in tables
        )
        wanted = renewed_config(self._config({one.name: one.key for one in tables}, place))
        if self._connect.config(self._name) is not None:
            # In this order: without a place to go on from, it would take any snapshot to be new.
            self._connect.put(self._name, wanted)
            self._connect.forget_offsets(self._name)
        else:
            self._connect.put(self._name, wanted)
        self._connect.resume(self._name)
        self._await_slot(threading.Event())
        log.info("%s: the connector %s makes a new snapshot", self._database.name, self._name)
        return refused

    def _config(self, tables: Tables, place: int | str) -> Mapping[str, str]:
        return connector_config(
            self._database, tables, self._properties, self._kafka, place, self._avro
        )

    def _ask_for_compatibility(self, tables: Iterable[DatabaseTable]) -> None:
        """Under the declared mode the connector registers schemas, by itself."""
        for table in tables:
            if self._registry and table.compatibility:
                for part in ("key", "value"):
                    subject = f"{self._database.topic(table)}-{part}"
                    self._registry.ask_for(subject, table.compatibility)

    def _refusals(self, there: Mapping[str, str] | None) -> Refused:
        """Why declared tables that are not followed yet cannot be."""
        missed = self._missed(there)
        new = [one for one in self._new_tables(there or {}) if one.name not in missed]
        return {**missed, **self._refused_now(new)}

    def _refused_now(self, tables: Iterable[DatabaseTable]) -> Refused:
        """Why tables cannot be followed as they are now."""
        return {
            table: SourceUnreadable(f"database {self._database.name}: table {table} {reason}")
            for table, reason in self._log.refused_tables(tables).items()
        }

    def _missed(self, there: Mapping[str, str] | None) -> Refused:
        """Tables that have landed, and were not followed meanwhile."""
        new = self._new_tables(there) if there is not None else []
        return {
            one.name: self._gap_found(f"{one.name} was declared before, and then was not followed")
            for one in new
            if self._has_landed(one)
        }

    def _tell_others(self, followed: Tables) -> None:
        others = sorted(followed.keys() - {one.name for one in self._database.tables})
        if others and not self._is_followed:
            log.info("%s: %s: followed, and not declared", self._database.name, ", ".join(others))

    def _first_place(self) -> int:
        """A place of the log before all that a new connector will send."""
        slot = self._log.slot(self._slot)
        if slot and slot.needs_from is not None:
            return slot.needs_from - 1
        return self._log.position()

    def _new_tables(self, there: Mapping[str, str]) -> list[DatabaseTable]:
        followed = followed_tables(there)
        return [table for table in self._database.tables if table.name not in followed]

    def _ask_for_snapshot(self, broker: Broker, tables: Iterable[DatabaseTable]) -> None:
        names = [table.name for table in tables]
        log.info("%s: snapshot of %s", self._database.name, ", ".join(names))
        wish = snapshot_wish(names)
        broker.send([(signal_topic(self._database), self._database.name, wish)])

    def _restart(self) -> None:
        if time.monotonic() - self._restarted > _RESTART_EVERY or not self._restarted:
            self._restarted = time.monotonic()
            self._connect.restart_failed(self._name)

    def _rouse(self, state: ConnectorState) -> None:
        """Start a connector again that runs without a task.

        Where it goes on just when its configuration changes, Connect may forget its tasks.
        """
        if state.tasks or state.connector != "RUNNING":
            self._idle_since = 0.0
        elif not self._idle_since:
            self._idle_since = time.monotonic()
        elif time.monotonic() - self._idle_since > _IDLE:
            self._idle_since = 0.0
            self._connect.restart(self._name)

    def _move_on(self) -> None:
        """Where declared tables are quiet and others are not, the log is kept for nothing."""
        if time.monotonic() - self._moved > _MARK_EVERY:
            self._moved = time.monotonic()
            self._log.mark()

    def _state_text(self, state: ConnectorState) -> str:
        """How the connector is; of a refused schema, the subject."""
        subject = refused_subject(state.trace) if state.has_failed else None
        logged_at = f"connector {self._name}: {state}"
        if subject is None:
            return logged_at
        return (
            f"connector {self._name}: the registry refuses the new schema of subject {subject}, "
            f"which its mode of compatibility does not allow ({state}): declare a mode that does "
            "(avro.compatibility)"
        )

    def _say(self, said: str) -> None:
        if said != self._said:
            log.warning("%s", said or f"connector {self._name} runs")
        self._said = said

    def _state(self) -> ConnectorState:
        state = self._connect.state(self._name)
        if state is None:
            raise ConnectorFailed(f"there is no connector {self._name}")
        return state

    def _await_slot(self, stopping: threading.Event) -> None:
        until = time.monotonic() + _TO_BEGIN
        # It is there at once, and has a place to read from when open transactions have ended.
        while not ((slot := self._log.slot(self._slot)) and slot.read_up_to):
            if stopping.wait(0.2):
                return
            self._refuse_failure()
            if time.monotonic() > until:
                raise ConnectorFailed(
                    f"connector {self._name} has made no slot in {_TO_BEGIN:.0f} s, which waits "
                    f"for open transactions to end: {self._state()}"
                )

    def _refuse_failure(self) -> None:
        state = self._connect.state(self._name)
        if state and state.has_failed:
            self._refuse_gap(self._connect.config(self._name))
            raise ConnectorFailed(
                f"{self._state_text(state)}. Mend that, then run again, which restarts it"
            )
        if state:
            self._rouse(state)
        if state and state.connector == "PAUSED":
            raise ConnectorFailed(f"connector {self._name} was paused: resume it in Kafka Connect")

    def _refuse_gap(self, there: Mapping[str, str] | None) -> None:
        gap = self._gap(there)
        if gap:
            raise self._gap_found(gap)

    def _gap_found(self, gap: str) -> GapFound:
        return GapFound(
            f"database {self._database.name}: {gap}, so changes are missing. For a new "
            f"snapshot of its tables: ingest recover --select source:{self._database.name}"
        )

    def _gap(self, there: Mapping[str, str] | None) -> str | None:
        """Why changes are missing; None where none are."""
        slot = self._log.slot(self._slot)
        if slot and slot.is_lost:
            return f"PostgreSQL has removed its log before slot {self._slot} had read it"
        if slot is None and self._has_begun(there):
            return f"slot {self._slot} is gone"
        if there is None:
            return None
        state = self._connect.state(self._name)
        if state and state.has_failed and is_gap(state.trace):
            return f"connector {self._name} does not find its place in slot {self._slot}"
        return None

    def _has_begun(self, there: Mapping[str, str] | None) -> bool:
        """Whether there was a slot; where a new snapshot was asked for, since then."""
        if there is not None and self._connect.has_offsets(self._name):
            return True
        if there is not None and is_renewed(there):
            return False
        return any(map(self._has_landed, self._database.tables))

    def _has_landed(self, table: DatabaseTable) -> bool:
        path = self._lake.bronze(table.bronze)
        return self._lake.is_table(path) and delta_log.newest_batch(path) >= 0
