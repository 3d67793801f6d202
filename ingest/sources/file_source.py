"""Source of a stream of files: a folder, and the queue of files that were found in it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, assert_never

from ingest import settings
from ingest.declarations.stream import CleanSource, FileSource, Stream
from ingest.errors import HeadwaterError, StorageFailed
from ingest.sources.file_queue import NEW, FileQueue
from ingest.sources.listing import listed, path_in_folder, released_files
from ingest.sources.query_checkpoint import checkpoint_of
from ingest.sources.stream_source import FileBatch
from ingest.storage import files
from ingest.storage.layout import Lake
from ingest.storage.object_urls import is_object
from ingest.storage.storage import BETWEEN_PAID_LOOKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

# The clock that looks are made by, a second, is not this one.
_EARLY = 0.5


class FileStreamSource:
    """See StreamSource: files of a folder, by a queue of their names."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        stream: Stream,
        source: FileSource,
        clock: Callable[[], datetime],
    ) -> None:
        self._lake, self._stream, self._source, self._clock = lake, stream, source, clock
        self._checkpoint = checkpoint_of(lake, stream.table)
        self._queue = FileQueue(spark, lake.queue(stream.table))
        self._landed_files: dict[int, list[str]] = {}
        self._looked = 0.0
        # When all names were listed last, and the greatest that is known; see `list_all_every`.
        self._listed_at: datetime | None = None
        self._newest = ""

    @property
    def look_every(self) -> float:
        """See StreamSource. Where the folder or the queue is in a bucket, each look is paid for."""
        if self._source.look_every is not None:
            return self._source.look_every.total_seconds()
        is_paid = is_object(settings.located(self._source.path)) or is_object(self._lake.root)
        return BETWEEN_PAID_LOOKS if is_paid else 1.0

    def discover(self) -> int:
        """See StreamSource. Those that have changed are named in the log.

        While a batch waits, files gather for the next one: a stream that is behind takes larger
        batches, which cost less a file.
        """
        is_early = self._looked and time.monotonic() - self._looked < self.look_every - _EARLY
        if self._queue.has_waiting or is_early:
            return 0
        self._looked = time.monotonic()
        now = self._clock()
        newest = self._listed_up_to(now)
        found = listed(self._source, self._queue.known, now, newest)
        found += released_files(self._lake, self._stream.table)
        changed = self._queue.add(found, self._source, now)
        if self._source.list_all_every:
            names = self._queue.known if newest is None else [one.path for one in found]
            # Of what left quarantine the names are others.
            own = (one for one in names if path_in_folder(one, self._source))
            self._newest = max((self._newest, *own))
        for file in changed:
            log.warning(
                "%s: %s has changed since it was read; its rows stay as they landed. Deliver "
                "corrections under a new name",
                self._stream.name,
                file.path,
            )
        return len(changed)

    def _listed_up_to(self, now: datetime) -> str | None:
        """The name behind which new ones are looked for; None where it is time to list all."""
        every = self._source.list_all_every
        if every and self._newest and self._listed_at and now - self._listed_at < every:
            return self._newest
        self._listed_at = now
        return None

    def plan(self, *, at_once: bool) -> bool:  # noqa: ARG002
        """See StreamSource: the queue gives out batches."""
        return False

    def plan_next(self, batch: int) -> bool:  # noqa: ARG002
        """See StreamSource: the queue gives out batches."""
        return False

    def stream(self) -> DataFrame:
        """See StreamSource."""
        return self._queue.stream(self._checkpoint)

    def read_batch(self, rows: DataFrame, batch: int, batch_id: int) -> FileBatch | None:  # noqa: ARG002
        """See StreamSource."""
        new = rows.where(rows.status == NEW).orderBy("modified_at", "path")
        found = new.collect()
        files.remember_sizes((row.path, row.size) for row in found)
        paths = [row.path for row in found]
        self._queue.take(paths)
        self._landed_files[batch] = paths
        return FileBatch(paths) if paths else None

    def acknowledge(self) -> int | None:
        """See StreamSource: files of committed batches are moved or deleted, as declared."""
        if self._source.clean_source is CleanSource.OFF:
            return None
        for batch in [one for one in self._landed_files if self._checkpoint.is_committed(one)]:
            for path in self._landed_files.pop(batch):
                _clean(path, self._source)
        return None

    def traced(self, error: HeadwaterError) -> HeadwaterError:
        """See StreamSource."""
        return error

    def close(self) -> None:
        """See StreamSource."""


def _clean(path: str, source: FileSource) -> None:
    inside = path_in_folder(path, source)
    if inside is None:
        # It left quarantine, and is not the producer's.
        return
    try:
        match source.clean_source:
            case CleanSource.DELETE:
                files.delete(path)
            case CleanSource.MOVE:
                if source.move_destination:
                    files.move(path, f"{settings.located(source.move_destination)}/{inside}")
            case CleanSource.OFF:
                pass
            case _:
                assert_never(source.clean_source)
    except OSError as error:
        log.warning("%s has landed but cannot be cleaned up: %s", path, error.strerror)
    except StorageFailed as error:
        log.warning("%s has landed but cannot be cleaned up: %s", path, error)
