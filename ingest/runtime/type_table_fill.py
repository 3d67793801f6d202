"""The queries that fill the tables of types: one a group of types, beside the stream's landing.

A thread manages them, or a process that fills one group alone. At each turn it takes the types
that have come since into their groups, reads what is new out of bronze once, and lets each group
write its tables, two groups at once. A group that fails, or that waits for a person's decision,
keeps no other waiting, and goes on where it stopped.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from ingest.declarations.stream import REST_OF_TYPES, Stream
from ingest.errors import GroupFailed, HeadwaterError, StreamLocked
from ingest.event_types.catalog import TypeTable
from ingest.event_types.ops_table import Filled
from ingest.landing.type_tables import Staged, TypeTables
from ingest.runtime.spark_errors import explained
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake
from ingest.storage.locks import check_group_lock, check_lock, group_lock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Groups whose tables are written at once, beside a stream that lands.
_AT_ONCE = 2
_FILLED, _WAITING, _FAILED = "filled", "waiting", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupState:
    """What a group's last turn came to: `filled`, `waiting` or `failed`, and up to which batch."""

    group: str
    types: int
    state: str
    reason: str | None
    filled_batch_id: int
    seconds: float
    at: str


def group_states(lake: Lake, table: str) -> list[GroupState]:
    """The states of the groups of the stream that lands `table`, by name.

    Of a group that has been filled by several processes, the newest.
    """
    storage, prefix = lake.storage, f"{table}.group."
    own = (one.name for one in storage.list(lake.progress()) if one.name.startswith(prefix))
    keys = (_states_key(lake, table), *map(lake.progress, own))
    found = [GroupState(**one) for key in keys for one in read_json(storage, key) or []]
    return sorted({one.group: one for one in sorted(found, key=_by_time)}.values(), key=_by_name)


_by_time, _by_name = attrgetter("at"), attrgetter("group")


class TypesToFill(Protocol):
    """Which types have tables, and what is noted of these."""

    def tables(self) -> tuple[int, Mapping[str, Sequence[TypeTable]]]:
        """The types to fill by group, and up to which batch they are all."""

    def have_filled(self, filled: Mapping[str, Filled]) -> None:
        """Note what tables of types hold now, for readers."""


class TypeTableLoader:
    """Fills the tables of types of one stream, in the process that lands it.

    Or those of the group `own`, in another process. The caller holds the lock of the stream, or of
    that group.
    """

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        stream: Stream,
        types: TypesToFill,
        grown: Callable[[str], None] = lambda _: None,
        own: str | None = None,
    ) -> None:
        self._lake, self._stream, self._types, self._grown = lake, stream, types, grown
        self._own = own
        self._tables = TypeTables(spark, lake, stream, own)
        self._states = {one.group: one for one in group_states(lake, stream.table)}
        # Of the groups that have a name, by which another process may be asked to fill them.
        self._locks, self._locked = ExitStack(), {own} if own else set[str]()
        self._stopping = threading.Event()
        self._manager: threading.Thread | None = None

    def start(self) -> None:
        """Fill tables at each interval from now on."""
        if self._manager:
            return
        # Should this process end on an error, nothing writes on without the stream's lock.
        name = f"{self._stream.name} groups"
        self._manager = threading.Thread(target=self._manage, name=name, daemon=True)
        self._manager.start()

    def stop(self) -> None:
        """Stop after the tables at work."""
        self._stopping.set()
        if self._manager:
            self._manager.join()
        self._locks.close()
        self._locked.clear()

    def turn(self, stopping: threading.Event) -> list[HeadwaterError]:
        """Fill the tables of all groups with what bronze has now; what went wrong, by group."""
        self._check_lock()
        # Types are written down before bronze has them, so these are all that it has so far.
        newest = self._tables.newest_batch()
        known_up_to, groups = self._types.tables()
        newest = min(newest, known_up_to)
        turns = [
            _Turn(name, self._stream.name, tables, partial(explained, lake=self._lake))
            for name, tables in groups.items()
        ]
        for turn in turns:
            turn.refused = self._lock(turn.group)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            at_work = [turn for turn in turns if not (turn.undecided or turn.refused)]
            self._fill(at_work, newest, stopping, pool)
        if stopping.is_set():
            # What was written counts; the others may lack events.
            self._types.have_filled({k: v for turn in at_work for k, v in turn.filled.items()})
        else:
            whole = [turn.filled_up_to(newest) for turn in at_work]
            self._types.have_filled({k: v for filled in whole for k, v in filled.items()})
            self._tell(turns, newest)
        if any(turn.filled for turn in turns):
            self._grown(self._stream.name)
        return [turn.error for turn in turns if turn.error]

    def _manage(self) -> None:
        seconds = self._stream.events.interval.total_seconds()
        due = time.monotonic()
        while not self._stopping.wait(max(0.0, due - time.monotonic())):
            # A turn that takes longer than the interval is followed by the next one at once.
            due = time.monotonic() + seconds
            try:
                self.turn(self._stopping)
            except Exception as error:  # a full disk, for one
                log.error("%s", explained(error, self._stream.name, self._lake))

    def _fill(
        self,
        turns: Sequence[_Turn],
        newest: int,
        stopping: threading.Event,
        pool: ThreadPoolExecutor,
    ) -> None:
        """Fill the tables of groups, range by range of batches."""

        def settle(turn: _Turn) -> None:
            for one in turn.tables:
                turn.attempt(one, partial(self._tables.settle, one, newest), stopping)

        behind: set[str] = set()

        def write(turn: _Turn, events: Mapping[str, Staged], up_to: int) -> None:
            for one in turn.tables:
                found = events.get(one.event_type)
                if found or (one.event_type in behind and self._lacks_columns(one, turn)):
                    turn.attempt(one, partial(self._tables.append, one, found, up_to), stopping)

        list(pool.map(settle, turns))
        whole = [one for turn in turns for one in turn.tables if one.event_type not in turn.failed]
        for after, up_to, _ in self._tables.ranges(whole, newest):
            if stopping.is_set():
                break
            self._check_lock()
            to_stage = [one for one in whole if self._tables.held(one) < up_to]
            behind = {one.event_type for one in to_stage}
            with self._tables.staged(to_stage, after, up_to) as events:
                list(pool.map(partial(write, events=events, up_to=up_to), turns))

    def _lock(self, group: str) -> HeadwaterError | None:
        """Take the lock of a declared group; why another process fills it, if one does."""
        table, stream = self._stream.table, self._stream.name
        declared = {one.name for one in self._stream.events.groups if one.name != REST_OF_TYPES}
        if group not in declared - self._locked:
            return None
        try:
            self._locks.enter_context(group_lock(self._lake, table, stream, group))
        except StreamLocked as error:
            return error
        self._locked.add(group)
        return None

    def _check_lock(self) -> None:
        table, stream = self._stream.table, self._stream.name
        if not self._own:
            check_lock(self._lake.bronze(table), stream)
        for group in self._locked:
            check_group_lock(self._lake, table, stream, group)

    def _lacks_columns(self, one: TypeTable, turn: _Turn) -> bool:
        return not self._tables.is_current(one) and one.event_type not in turn.filled

    def _tell(self, turns: Sequence[_Turn], newest: int) -> None:
        """Keep what became of each group for a person, and say what is new."""
        before, states = self._states, {}
        for turn in turns:
            error = turn.error
            known = before.get(turn.group)
            if error and (known is None or known.reason != str(error)):
                log.error("%s", error)
            if turn.filled:
                log.info("%s: %d tables filled, %.1f s", turn.name, len(turn.filled), turn.seconds)
            states[turn.group] = GroupState(
                group=turn.group,
                types=len(turn.tables),
                state=_WAITING if turn.undecided else _FAILED if error else _FILLED,
                reason=str(error) if error else None,
                filled_batch_id=min(turn.known_batches()) if error else newest,
                seconds=round(turn.seconds, 1),
                at=datetime.now(UTC).isoformat(timespec="seconds"),
            )
        self._states = states
        written = [asdict(one) for _, one in sorted(states.items())]
        key = _states_key(self._lake, self._stream.table, self._own)
        write_json(self._lake.storage, key, written)


@dataclass(slots=True)
class _Turn:
    """One turn of a group: what it has done so far; one type's trouble is not another's."""

    group: str
    stream: str
    tables: Sequence[TypeTable]
    explained: Callable[[BaseException, str], HeadwaterError]
    refused: HeadwaterError | None = None
    filled: dict[str, Filled] = field(default_factory=dict)
    failed: dict[str, HeadwaterError] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The group as messages name it."""
        return f"{self.stream}: group {self.group}"

    @property
    def undecided(self) -> list[str]:
        """Types that a person has to decide on first."""
        return [one.event_type for one in self.tables if one.is_undecided]

    @property
    def error(self) -> HeadwaterError | None:
        """Why its tables are not filled, or not all of them."""
        if self.undecided:
            return GroupFailed(
                f"{self.name} waits: an incompatible change of "
                f"{', '.join(map(repr, self.undecided))}; see `ingest schema show TYPE`, then "
                "accept the change, or pin or revert the type"
            )
        if self.refused:
            return self.refused
        if self.failed:
            said = "; ".join(str(error) for error in self.failed.values())
            return GroupFailed(f"{self.name}: {said}")
        return None

    def attempt(
        self, one: TypeTable, write: Callable[[], Filled | None], stopping: threading.Event
    ) -> None:
        """Write a table, unless an earlier write of it has failed, or all are to stop."""
        if one.event_type in self.failed or stopping.is_set():
            return
        began = time.monotonic()
        try:
            if filled := write():
                self.filled[one.event_type] = filled
        except Exception as error:  # whatever it is, it concerns this table
            self.failed[one.event_type] = self.explained(error, one.event_type)
        self.seconds += time.monotonic() - began

    def known_batches(self) -> Iterator[int]:
        """Up to which batch each table is known to be filled."""
        for one in self.tables:
            known = self.filled.get(one.event_type) or one.filled
            yield known.batch_id if known else -1

    def filled_up_to(self, batch_id: int) -> Mapping[str, Filled]:
        """What the tables hold that have not failed."""
        known = {
            one.event_type: self.filled.get(one.event_type) or one.filled
            for one in self.tables
            if one.event_type not in self.failed
        }
        return {name: replace(held, batch_id=batch_id) for name, held in known.items() if held}


def _states_key(lake: Lake, table: str, own: str | None = None) -> str:
    return lake.progress(f"{table}.group.{own}.json" if own else f"{table}__groups.json")
