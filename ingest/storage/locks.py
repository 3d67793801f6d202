"""Locks of a stream: one process lands it, and one fills the tables of a group of its types."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ingest.errors import StreamLocked
from ingest.storage.layout import Lake
from ingest.storage.storage import Lease, LeaseHeld, LeaseLost

# The locks of this process, by the URL of the stream's bronze table or of the group's lock.
_held: dict[str, Lease] = {}
# Locks that are waited for at once.
_AT_ONCE = 16


@contextlib.contextmanager
def stream_lock(
    lake: Lake,
    table: str,
    stream: str,
    remedy: str = "stop that one first, or choose other streams with --select",
) -> Iterator[None]:
    """Hold the lock of the stream that lands `table`; it ends with this process at the latest.

    In an object store that is a while after it has ended. Raises StreamLocked with the owner,
    StorageFailed.
    """
    refused = f"{stream} is landed by {{owner}}; {remedy}"
    with _locked(lake, lake.lock(table), lake.bronze(table), refused):
        yield


@contextlib.contextmanager
def group_lock(lake: Lake, table: str, stream: str, group: str) -> Iterator[None]:
    """Hold the lock of a declared group of types, whose tables this process fills.

    Raises as `stream_lock`.
    """
    refused = (
        f"{stream}: the tables of group {group} are filled by {{owner}}; stop that one first, or "
        "let it read `event_groups.process` again by a restart"
    )
    key = lake.group_lock(table, group)
    with _locked(lake, key, lake.url(key), refused):
        yield


@contextlib.contextmanager
def _locked(lake: Lake, key: str, held_as: str, refused: str) -> Iterator[None]:
    """Hold the lock at `key`; `refused` has a place for the owner of one that is held."""
    with contextlib.ExitStack() as stack:
        try:
            lease = stack.enter_context(lake.storage.lease(key))
        except LeaseHeld as error:
            raise StreamLocked(refused.format(owner=error.owner)) from None
        _held[held_as] = lease
        try:
            yield
        finally:
            del _held[held_as]


@contextlib.contextmanager
def stream_locks(lake: Lake, streams: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Hold the locks of streams, each a table and a name, of which each may have to be waited for.

    Raises as `stream_lock`: of several that are held, the first.
    """
    locks = [stream_lock(lake, table, name) for table, name in streams]
    with contextlib.ExitStack() as stack:
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            waiting = [pool.submit(stack.enter_context, lock) for lock in locks]
            try:
                for one in waiting:
                    one.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        yield


def check_lock(bronze: str, stream: str) -> None:
    """Make sure that this process still has the lock of the stream of the bronze table at a URL.

    To be asked before each commit. Raises StreamLocked where another process has taken it, as this
    one could not renew it in time, and StorageFailed. A stream that this process has not locked,
    as one that files are tried out in, passes.
    """
    _check(bronze, f"{stream}: {{owner}} lands it now")


def check_group_lock(lake: Lake, table: str, stream: str, group: str) -> None:
    """The same of the lock of a group of types."""
    key = lake.url(lake.group_lock(table, group))
    _check(key, f"{stream}: {{owner}} fills group {group} now")


def _check(held_as: str, lost: str) -> None:
    if lease := _held.get(held_as):
        try:
            lease.check()
        except LeaseLost as error:
            raise StreamLocked(
                f"{lost.format(owner=error.owner)}: this process could not renew its lock in "
                "time, and stops; what it has committed stays"
            ) from None


def is_locked(lake: Lake, table: str) -> bool:
    """Return whether a process has the lock of the stream that lands `table`."""
    return lake.storage.is_leased(lake.lock(table))
