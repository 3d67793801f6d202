"""Fill the tables of one group of event types, in a process that does not land the stream.

What it reads is bronze and what is written down of the types; what it writes is the group's tables
and how far they are filled. So it may run beside the landing, or on another cluster, and neither
one's failure or want of memory is the other's.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JError

from ingest.declarations.stream import Stream
from ingest.errors import HeadwaterError, InputError, SelectionEmpty, TerminalError
from ingest.event_types.own_group import OwnGroup
from ingest.nearest import nearest
from ingest.runtime.runner import driver, refuse_death
from ingest.runtime.spark_errors import explained
from ingest.runtime.type_table_fill import TypeTableLoader
from ingest.storage.layout import Lake
from ingest.storage.locks import group_lock

log = logging.getLogger(__name__)

# Seconds between two looks for a stream's first batch.
_LOOK_EVERY = 2.0


@dataclass(frozen=True, slots=True)
class Group:
    """A group of a stream's event types that is declared with `process: own`."""

    stream: Stream
    name: str


def named(streams: Sequence[Stream], text: str) -> Group:
    """The group that `text` names, as `source.stream/group`. Raises InputError."""
    stream_name, slash, name = text.rpartition("/")
    if not slash:
        raise InputError(f"--group {text}: write <source>.<stream>/<group>")
    found = [one for one in streams if one.name == stream_name]
    if not found:
        raise SelectionEmpty(
            f"--group {text}: no stream is named {stream_name!r}"
            + _nearest_or_all(stream_name, [one.name for one in streams])
        )
    groups = {one.name: one for one in found[0].events.groups}
    if name not in groups:
        raise SelectionEmpty(
            f"--group {text}: {stream_name} has no event group {name!r}"
            + _nearest_or_all(name, groups)
        )
    if not groups[name].has_own_process:
        raise InputError(
            f"--group {text}: {found[0].declared_in}: group {name} is filled where its stream "
            "lands; declare `process: own`"
        )
    return Group(found[0], name)


def run(lake: Lake, group: Group) -> list[HeadwaterError]:
    """Fill the tables of a group with all that has landed. Returns what went wrong."""
    return _filled(lake, group, is_once=True)


def stream(lake: Lake, group: Group) -> list[HeadwaterError]:
    """Fill the tables of a group at each interval until asked to stop.

    Returns what ended it, if anything but a request did.
    """
    return _filled(lake, group, is_once=False)


def _filled(lake: Lake, group: Group, *, is_once: bool) -> list[HeadwaterError]:
    declared = group.stream
    with (
        group_lock(lake, declared.table, declared.name, group.name),
        driver(lake) as (spark, stopping),
    ):
        try:
            while not lake.is_table(lake.bronze(declared.table)):
                if is_once or stopping.wait(_LOOK_EVERY):
                    log.info("%s has landed nothing yet", declared.name)
                    return []
            types = OwnGroup(spark, lake, declared, group.name)
            loader = TypeTableLoader(spark, lake, declared, types, own=group.name)
            if is_once:
                return loader.turn(stopping)
            log.info("group %s of %s is filled; Ctrl-C stops it", group.name, declared.name)
            return _filled_until_stopped(lake, declared, loader, stopping)
        except (Py4JError, ConnectionError):
            refuse_death(spark, lake)
            raise


def _filled_until_stopped(
    lake: Lake, declared: Stream, loader: TypeTableLoader, stopping: threading.Event
) -> list[HeadwaterError]:
    seconds = declared.events.interval.total_seconds()
    due = time.monotonic()
    while not stopping.wait(max(0.0, due - time.monotonic())):
        due = time.monotonic() + seconds
        try:
            # What is wrong with a table is said, and tried again with the next turn.
            loader.turn(stopping)
        except (Py4JError, ConnectionError):
            raise
        except Exception as error:  # a full disk, for one
            failure = explained(error, declared.name, lake)
            if isinstance(failure, TerminalError):
                return [failure]
            log.error("%s", failure)
    return []


def _nearest_or_all(name: str, known: Iterable[str]) -> str:
    return nearest(name, known) or f"; there are: {', '.join(known) or 'none'}"
