"""Contract of the storage that holds a lake's files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

# Seconds from one look into an object store to the next, where nothing else is declared: each
# request is paid for.
BETWEEN_PAID_LOOKS = 10.0


class Entry(NamedTuple):
    """A file or folder in a listing; `modified_us` counts microseconds since 1970 in UTC."""

    name: str
    size: int
    modified_us: int
    is_folder: bool


class LeaseHeld(Exception):
    """Another process holds a lease; `owner` describes it for people."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        super().__init__(f"held by {owner}")


class LeaseLost(Exception):
    """A lease is another process's by now, which `owner` describes for people."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        super().__init__(f"taken over by {owner}")


class Lease(Protocol):
    """A lease that this process holds."""

    def check(self) -> None:
        """Raise LeaseLost where another process may hold it by now, StorageFailed where unknown.

        To be asked before each write that only the holder may do.
        """
        ...


class Storage(Protocol):
    """Files below one root, which a folder or a bucket can keep. Keys are relative to the root.

    A key is a path with `/` between names, such as `_checkpoints/shop__orders.json`. There are no
    renames, appends or empty folders: an object store has none of them. What cannot be read or
    written raises OSError, or StorageFailed where an object store says so.
    """

    def url(self, key: str) -> str:
        """Return the path or URL by which Spark, deltalake and pyarrow find a key."""
        ...

    def read(self, key: str) -> bytes | None:
        """Return a file's bytes; None where there is no file."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Create or replace a file. A reader sees the old bytes or the new, never a part."""
        ...

    def put_new(self, key: str, content: bytes) -> bool:
        """Create a file; False where there is one. Of several processes exactly one succeeds.

        Those that may write the same bytes at once put something of their own into them: a file
        that has appeared while the answer to a request was lost is this process's if it is equal.
        """
        ...

    def exists(self, key: str) -> bool:
        """Return whether there is a file, or a folder."""
        ...

    def delete(self, key: str) -> None:
        """Delete a file, if there is one."""
        ...

    def delete_tree(self, key: str) -> None:
        """Delete all files below a folder, as far as that is possible."""
        ...

    def list(self, key: str) -> Iterator[Entry]:
        """List a folder, one level deep, in no order; nothing where there is no folder.

        As the caller goes on, so that a folder of many files is not held in memory as a whole.
        Names that begin with a dot are files that are being written, and are left out.
        """
        ...

    def lease(self, key: str) -> AbstractContextManager[Lease]:
        """Hold a lease from `with` to its end, or to the end of this process.

        In an object store another process can take it a while after this one has ended, or could
        not reach the store, so the holder has to ask `check`. Raises LeaseHeld, and StorageFailed
        where the file of the lease cannot be written.
        """
        ...

    def is_leased(self, key: str) -> bool:
        """Return whether a process holds a lease; True where that cannot be found out.

        For people: in an object store it is known by the age of the lease, so that clocks which
        differ by a minute mislead.
        """
        ...
