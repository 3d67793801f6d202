"""Layout of a lake: where tables and the state of streams are below its root."""

from __future__ import annotations

from dataclasses import dataclass

from ingest import settings
from ingest.storage.local import LOCAL, LocalStorage
from ingest.storage.storage import Storage

# Folder of a Delta table's log.
LOG = "_delta_log"


def storage_at(root: str) -> Storage:
    """Return the storage whose root is a path or URL. Raises InputError for unknown schemes."""
    if "://" in root and not root.startswith(LOCAL):
        # Many commands need no object store, and its library takes a while to load.
        from ingest.storage.objects import ObjectStorage

        return ObjectStorage(root)
    return LocalStorage(root)


@dataclass(frozen=True, slots=True)
class Lake:
    """A lake: tables at `<root>/<schema>/<name>`, the state of streams below `_` folders.

    Tables are URLs, as Spark and deltalake take them; all else are keys of `storage`.
    """

    root: str

    @property
    def storage(self) -> Storage:
        """Storage whose root is the lake's. Raises InputError."""
        return storage_at(self.root)

    @property
    def local(self) -> Lake:
        """Where this machine keeps what is of no other: the local stack, logs, the catalog.

        The lake itself, where that is a folder.
        """
        return Lake(settings.local_folder(self.root))

    @property
    def spark_log(self) -> str:
        """Path of the log of Spark's Java process."""
        return f"{self.local.root}/_logs/spark.log"

    def table(self, schema: str, name: str) -> str:
        """URL of a table."""
        return f"{self.root}/{schema}/{name}"

    def bronze(self, name: str) -> str:
        """URL of a bronze table."""
        return self.table("bronze", name)

    def ops(self, name: str) -> str:
        """URL of a bookkeeping table."""
        return self.table("ops", name)

    def queue(self, table: str) -> str:
        """URL of the table of files that the stream of `table` has found."""
        return self.table("_files", table)

    def checkpoint(self, table: str) -> str:
        """Key of the folder of Structured Streaming's checkpoint of the stream of `table`."""
        return f"_checkpoints/{table}"

    def identity(self, table: str) -> str:
        """Key of the file that ties a checkpoint to its stream and table."""
        return f"_checkpoints/{table}.json"

    def topics(self, table: str) -> str:
        """Key of the file of the topics that the stream of `table` has read, with their ids."""
        return f"_checkpoints/{table}.topics.json"

    def recovered(self, table: str) -> str:
        """Key of the file of offsets from which the stream of `table` reads after a recovery."""
        return f"_checkpoints/{table}.recovered.json"

    def lock(self, table: str) -> str:
        """Key of the lock of the stream of `table`."""
        return f"_locks/{table}.lock"

    def group_lock(self, table: str, group: str) -> str:
        """Key of the lock of a group of types of the stream of `table`."""
        return f"_locks/{table}.{group}.lock"

    def requests(self) -> str:
        """Key of the folder of requests to the processes that land streams."""
        return "_requests"

    def progress(self, name: str = "") -> str:
        """Key of the folder of progress and states, or of a file in it."""
        return f"_progress/{name}" if name else "_progress"

    def released(self, table: str) -> str:
        """Key of the folder of records that left quarantine and are to land in `table`."""
        return f"_released/{table}"

    def staged(self, table: str, group: str = "") -> str:
        """Key of the folder of events between `table` and the tables of their types.

        `group` is one that a process of its own fills.
        """
        return f"_staged/{table}.{group}" if group else f"_staged/{table}"

    def trials(self, table: str) -> str:
        """Key of the folder of lakes in which files of the stream of `table` are tried out."""
        return f"_trials/{table}"

    def stack(self) -> str:
        """Key of the file of the processes and ports of the lake's own stack, in `local`."""
        return "_stack/stack.json"

    def tables(self) -> list[str]:
        """Names of all tables, each `<schema>.<name>`, in order."""
        storage = self.storage
        return sorted(
            f"{schema.name}.{table.name}"
            for schema in storage.list("")
            if schema.is_folder and not schema.name.startswith("_")
            for table in storage.list(schema.name)
            if table.is_folder and storage.exists(f"{schema.name}/{table.name}/{LOG}")
        )

    def url(self, key: str) -> str:
        """URL of a key."""
        return self.storage.url(key)

    def is_table(self, path: str) -> bool:
        """Return whether there is a Delta table at a URL."""
        return is_table(path)


def is_table(path: str) -> bool:
    """Return whether there is a Delta table at a URL."""
    # A folder without them is what an interrupted first write has left.
    return any(one.name.endswith((".json", ".parquet")) for one in storage_at(path).list(LOG))
