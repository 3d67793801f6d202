"""Lock of a stream: one process lands it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from ingest.errors import StreamLocked
from ingest.storage.layout import Lake
from ingest.storage.storage import Lease, LeaseHeld, LeaseLost

# The locks of this process, by the URL of the stream's bronze table.
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
    with contextlib.ExitStack() as stack:
        try:
            lease = stack.enter_context(lake.storage.lease(lake.lock(table)))
        except LeaseHeld as error:
            raise StreamLocked(f"{stream} is landed by {error.owner}; {remedy}") from None
        _held[lake.bronze(table)] = lease
        try:
            yield
        finally:
            del _held[lake.bronze(table)]


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
    if lease := _held.get(bronze):
        try:
            lease.check()
        except LeaseLost as error:
            raise StreamLocked(
                f"{stream}: {error.owner} lands it now: this process could not renew its lock in "
                "time, and stops; what it has committed stays"
            ) from None


def is_locked(lake: Lake, table: str) -> bool:
    """Return whether a process has the lock of the stream that lands `table`."""
    return lake.storage.is_leased(lake.lock(table))
