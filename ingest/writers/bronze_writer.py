"""The contract of what writes bronze: a pass over a batch is one Delta commit that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from ingest.decoders.decoder import Decoder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T


@dataclass(frozen=True, slots=True)
class WriteResult:
    """Rows of one commit, and how many of them have rescued values."""

    rows: int = 0
    rescued: int = 0


@dataclass(frozen=True, slots=True)
class Committed:
    """What an earlier try of a batch has committed.

    `records` and `refs` are what FirstPass has, where the commit says so. `is_logged`: the log
    says that this is the batch; else its rows do.
    """

    written: WriteResult
    records: int | None = None
    refs: str | None = None
    is_logged: bool = True


@dataclass(frozen=True, slots=True)
class FirstPass:
    """What the first pass over a batch read, deferred (how many, and their refs) and wrote."""

    records: int
    deferred: int
    refs: str
    written: WriteResult


@dataclass(frozen=True, slots=True)
class PassToWrite:
    """What a writer needs of a pass: the number and time of its rows, and the table's columns.

    `to_bronze` makes rows of the table from rows with ROW.
    """

    batch_id: int
    now: datetime
    columns: T.StructType
    to_bronze: Callable[[DataFrame], DataFrame]


class BronzeWriter(Protocol):
    """Writes the first pass over a batch to a stream's table, in one commit or not at all."""

    def first_pass(self, decoder: Decoder, batch: PassToWrite) -> FirstPass | None:
        """Append the records that fit; None, and nothing written, where this writer cannot."""
        ...
