"""Contract of a stream's source, and the batches that it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ingest.errors import HeadwaterError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class FileBatch:
    """URLs of the files of a batch, in the order in which they land."""

    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class MessageBatch:
    """The messages of a batch, with the columns that `kafka_source.COLUMNS` selects.

    They are read more than once, and again after a kill: a source must be able to give a message
    again by `_source`, `_partition` and `_offset`.
    """

    messages: DataFrame


class StreamSource(Protocol):
    """Finds new records, and gives them to Structured Streaming batch by batch."""

    def discover(self) -> int:
        """Look for new files, where Spark does not; return how many landed ones have changed."""
        ...

    @property
    def look_every(self) -> float:
        """Seconds from one look for something new to the next, where there was nothing."""
        ...

    def plan(self, *, at_once: bool) -> bool:
        """Return whether the next batch was planned, so that it has to run by itself.

        With `at_once` a batch is planned also where nothing new is there.
        """
        ...

    def plan_next(self, batch: int) -> bool:
        """Return whether the batch after the newest one, `batch`, had to be planned.

        Called while `batch` runs. A query that is to land all that is there ends at a planned
        batch, because Spark finds it begun.
        """
        ...

    def stream(self) -> DataFrame:
        """Return the source as a streaming DataFrame."""
        ...

    def read_batch(
        self, rows: DataFrame, batch: int, batch_id: int
    ) -> FileBatch | MessageBatch | None:
        """Return what rows of `stream` stand for; None where nothing is to land.

        `batch` is the query's number, `batch_id` the first `_batch_id` of its rows.
        """
        ...

    def acknowledge(self) -> int | None:
        """Report committed batches to the source; return how many records wait, if known."""
        ...

    def traced(self, error: HeadwaterError) -> HeadwaterError:
        """Return the error, with what the source knows of its cause."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...
