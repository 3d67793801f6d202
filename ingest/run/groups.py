"""The queries that fill the tables of types: one a group of types, beside the stream's landing.

A thread manages them. At each turn it takes the types that have come since into their groups,
and fills the tables of all groups out of bronze, a few groups at once. A group that fails, or
that waits for a person's decision, keeps no other waiting, and goes on where it stopped.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.bronze.type_tables import TypeTables
from ingest.declarations.stream import Stream
from ingest.errors import GroupFailed, HeadwaterError
from ingest.events.event_types import EventTypes, TypeTable
from ingest.events.registration import Filled
from ingest.lake import Lake
from ingest.run.failures import explained

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

# Groups whose tables are filled at once, beside a stream that lands.
_AT_ONCE = 2


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
    """The states of the groups of the stream that lands `table`, by name."""
    try:
        found = json.loads(_states_file(lake, table).read_text("utf-8"))
    except FileNotFoundError:
        return []
    return [GroupState(**one) for one in found]


class GroupQueries:
    """Fills the tables of types of one stream, whose lock the caller holds."""

    def __init__(self, spark: SparkSession, lake: Lake, stream: Stream, types: EventTypes) -> None:
        self._lake, self._stream, self._types = lake, stream, types
        self._tables = TypeTables(spark, lake, stream)
        self._states = {one.group: one for one in group_states(lake, stream.table)}
        self._stopping = threading.Event()
        self._manager: threading.Thread | None = None

    def start(self) -> None:
        """Fill tables at each interval from now on."""
        self._manager = threading.Thread(target=self._manage, name=f"{self._stream.name} groups")
        self._manager.start()

    def stop(self) -> None:
        """Stop after the tables at work."""
        self._stopping.set()
        if self._manager:
            self._manager.join()

    def turn(self, stopping: threading.Event) -> list[HeadwaterError]:
        """Fill the tables of all groups with what bronze has now; what went wrong, by group."""
        # Types are written down before bronze has them, so these are all that it has so far.
        newest = self._tables.newest_batch()
        groups = self._types.tables()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            turns = [pool.submit(self._turn, *group, newest, stopping) for group in groups.items()]
        errors = [error for turn in turns if (error := turn.result())]
        self._states = {name: one for name, one in self._states.items() if name in groups}
        self._save()
        return errors

    def _manage(self) -> None:
        seconds = self._stream.events.interval.total_seconds()
        due = time.monotonic()
        while not self._stopping.wait(max(0.0, due - time.monotonic())):
            # A turn that takes longer than the interval is followed by the next one at once.
            due = time.monotonic() + seconds
            try:
                self.turn(self._stopping)
            except Exception as error:  # the log of bronze cannot be read, for one
                log.error("%s", explained(error, self._stream.name, self._lake))

    def _turn(
        self, group: str, tables: Sequence[TypeTable], newest: int, stopping: threading.Event
    ) -> HeadwaterError | None:
        """One turn of a group, which concerns no other; what went wrong."""
        began, name = time.monotonic(), f"{self._stream.name}: group {group}"
        state, error = "filled", None
        undecided = [one.event_type for one in tables if one.is_undecided]
        if undecided:
            state = "waiting"
            error = _waits(name, undecided)
        else:
            try:
                error = self._fill(group, tables, newest, stopping)
            except Exception as raised:  # staging failed: a full disk, for one
                error = explained(raised, name, self._lake)
            state = "failed" if error else state
        before = self._states.get(group)
        if error and (before is None or before.reason != str(error)):
            log.error("%s", error)
        self._states[group] = GroupState(
            group=group,
            types=len(tables),
            state=state,
            reason=str(error) if error else None,
            filled_batch_id=min(self._tables.held(one) for one in tables) if error else newest,
            seconds=round(time.monotonic() - began, 1),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        return error

    def _fill(
        self, group: str, tables: Sequence[TypeTable], newest: int, stopping: threading.Event
    ) -> HeadwaterError | None:
        """Fill a group's tables up to a batch; why some could not be."""
        turn = _Turn(stopping, lambda error, name: explained(error, name, self._lake))
        for one in tables:
            turn.attempt(one, partial(self._tables.settle, one, newest))
        rest = [one for one in tables if one.event_type not in turn.failed]
        for after, up_to in self._tables.ranges(rest, newest):
            behind = [one for one in rest if self._tables.held(one) < up_to]
            with self._tables.staged(group, behind, after, up_to) as events:
                for one in behind:
                    found = events.get(one.event_type)
                    if found is not None or turn.needs(one, self._tables.is_current(one)):
                        turn.attempt(one, partial(self._tables.append, one, found, up_to))
        if turn.filled:
            log.info(
                "%s: group %s: %d tables filled, %.1f s",
                self._stream.name,
                group,
                len(turn.filled),
                time.monotonic() - turn.began,
            )
        if not stopping.is_set():
            self._types.have_filled(turn.filled_up_to(tables, newest))
        if not turn.failed:
            return None
        said = "; ".join(str(error) for error in turn.failed.values())
        return GroupFailed(f"{self._stream.name}: group {group}: {said}")

    def _save(self) -> None:
        path = _states_file(self._lake, self._stream.table)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        states = [asdict(one) for _, one in sorted(self._states.items())]
        new.write_text(json.dumps(states, indent=1) + "\n", "utf-8")
        new.replace(path)


@dataclass(slots=True)
class _Turn:
    """What one turn of a group has done so far; one type's trouble is not another's."""

    stopping: threading.Event
    explained: Callable[[BaseException, str], HeadwaterError]
    filled: dict[str, Filled] = field(default_factory=dict)
    failed: dict[str, HeadwaterError] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def attempt(self, one: TypeTable, write: Callable[[], Filled | None]) -> None:
        """Write a table, unless an earlier write of it has failed, or all are to stop."""
        if one.event_type in self.failed or self.stopping.is_set():
            return
        try:
            if filled := write():
                self.filled[one.event_type] = filled
        except Exception as error:  # whatever it is, it concerns this table
            self.failed[one.event_type] = self.explained(error, one.event_type)

    def needs(self, one: TypeTable, is_current: bool) -> bool:
        """Whether a table that gains no events has to be written for its columns."""
        return not is_current and one.event_type not in self.filled

    def filled_up_to(self, tables: Sequence[TypeTable], batch_id: int) -> Mapping[str, Filled]:
        """What the tables hold that have not failed."""
        known = {
            one.event_type: self.filled.get(one.event_type) or one.filled
            for one in tables
            if one.event_type not in self.failed
        }
        return {name: replace(held, batch_id=batch_id) for name, held in known.items() if held}


def _waits(group: str, event_types: Sequence[str]) -> HeadwaterError:
    return GroupFailed(
        f"{group} waits: an incompatible change of {', '.join(map(repr, event_types))}; see "
        "`ingest schema show TYPE`, then accept the change, or pin or revert the type"
    )


def _states_file(lake: Lake, table: str) -> Path:
    return Path(lake.root, "_progress", f"{table}__groups.json")
