"""Contract of the storage that holds a lake's files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol


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


class Storage(Protocol):
    """Files below one root, which a folder or a bucket can keep. Keys are relative to the root.

    A key is a path with `/` between names, such as `_checkpoints/shop__orders.json`. There are no
    renames, appends or empty folders: an object store has none of them.
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
        """Create a file; False where there is one. Of several processes exactly one succeeds."""
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

        Names that begin with a dot are files that are being written, and are left out.
        """
        ...

    def lease(self, key: str) -> AbstractContextManager[None]:
        """Hold a lease from `with` to its end, or to the end of this process.

        Raises LeaseHeld, and StorageFailed where the file of the lease cannot be written.
        """
        ...

    def is_leased(self, key: str) -> bool:
        """Return whether a process holds a lease; True where that cannot be found out."""
        ...
