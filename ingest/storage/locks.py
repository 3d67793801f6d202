"""Lock of a stream: one process lands it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ingest.errors import StreamLocked
from ingest.storage.layout import Lake
from ingest.storage.storage import LeaseHeld


@contextlib.contextmanager
def stream_lock(
    lake: Lake,
    table: str,
    stream: str,
    remedy: str = "stop that one first, or choose other streams with --select",
) -> Iterator[None]:
    """Hold the lock of the stream that lands `table`; it ends with this process at the latest.

    Raises StreamLocked with the owner, StorageFailed.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lake.storage.lease(lake.lock(table)))
        except LeaseHeld as error:
            raise StreamLocked(f"{stream} is landed by {error.owner}; {remedy}") from None
        yield


def is_locked(lake: Lake, table: str) -> bool:
    """Return whether a process has the lock of the stream that lands `table`."""
    return lake.storage.is_leased(lake.lock(table))
