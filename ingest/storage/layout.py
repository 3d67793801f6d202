"""Where everything lies below the lake's root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ingest.errors import InputError
from ingest.storage.local import LOCAL, LocalStorage
from ingest.storage.storage import Storage


def storage_at(root: str) -> Storage:
    """Return the storage whose root is a path or URL. Raises InputError for unknown schemes."""
    if "://" in root and not root.startswith(LOCAL):
        raise InputError(f"{root}: only a folder of this machine can be read and written")
    return LocalStorage(root)


@dataclass(frozen=True, slots=True)
class Lake:
    """A lake folder: tables at `<root>/<schema>/<name>`, our own state below `_` folders."""

    root: str

    def table(self, schema: str, name: str) -> str:
        """Folder of a table."""
        return f"{self.root}/{schema}/{name}"

    def bronze(self, name: str) -> str:
        """Folder of a bronze table."""
        return self.table("bronze", name)

    def ops(self, name: str) -> str:
        """Folder of a bookkeeping table."""
        return self.table("ops", name)

    def checkpoint(self, table: str) -> Path:
        """Structured Streaming's checkpoint of the stream that lands `table`."""
        return Path(self.root, "_checkpoints", table)

    def identity(self, table: str) -> Path:
        """File that ties a checkpoint to its stream and table."""
        return Path(self.root, "_checkpoints", f"{table}.json")

    def topics(self, table: str) -> Path:
        """File of the topics that the stream of `table` has read, by what identifies them."""
        return Path(self.root, "_checkpoints", f"{table}.topics.json")

    def recovered(self, table: str) -> Path:
        """File of the offsets from which the stream of `table` goes on after a recovery."""
        return Path(self.root, "_checkpoints", f"{table}.recovered.json")

    def queue(self, table: str) -> str:
        """Folder of the queue of files that the stream of `table` has found."""
        return f"{self.root}/_files/{table}"

    def lock(self, table: str) -> Path:
        """Lock file of the stream that lands `table`."""
        return Path(self.root, "_locks", f"{table}.lock")

    def requests(self) -> Path:
        """Folder of what people ask of the process that lands a stream."""
        return Path(self.root, "_requests")

    def released(self, table: str) -> Path:
        """Folder of records that left quarantine and are to land in `table`."""
        return Path(self.root, "_released", table)

    def staged(self, table: str) -> Path:
        """Folder of events on their way from `table` to the tables of their types."""
        return Path(self.root, "_staged", table)

    def is_table(self, path: str) -> bool:
        """Whether a folder holds a Delta table."""
        return is_table(path)


def is_table(path: str) -> bool:
    """Whether a folder holds a Delta table."""
    log = Path(path, "_delta_log")
    # A folder alone may be what a first write has left that was interrupted.
    return any(log.glob("*.json")) or any(log.glob("*.parquet"))
