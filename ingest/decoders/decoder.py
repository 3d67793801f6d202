"""The contract of decoders.

The first pass reads a batch once and writes every record that fits at first sight. The others
(new fields, misfits, broken records) are deferred: a ref says where each is, and a second, small
pass reads it value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from ingest.spark.sql import text_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

    from ingest.decoders.arrow_batches import Batches

# Columns of rows. REF is null where a record fits, else its ref.
SOURCE, REF, ROW, RESCUED = "_source", "_ref", "_row", "_rescued"
# The shape id of an event, where its stream has types.
SCHEMA_ID = "_schema_id"
NO_SCHEMA_ID = f"cast(null as string) as {SCHEMA_ID}"


# Messages that leave quarantine with a batch, as their input gives deferred ones.
Requeued = Callable[[int], "Batches | None"]


@dataclass(frozen=True, slots=True)
class Deferred:
    """Deferred records, read value by value: rows (provenance, SCHEMA_ID, ROW, RESCUED), and
    rejects, with the columns of quarantine that say where they are from and what is wrong.

    `are_few`: the rejects, with their bytes, fit in the driver's memory.
    """

    rows: DataFrame
    rejects: DataFrame
    are_few: bool = False


class Waiting(Protocol):
    """Messages that a stream refused earlier, for want of their writers' schemas."""

    def due(self) -> Set[int]:
        """Ids of schemas that messages wait for, and that are known by now."""
        ...

    def waiting(self, numbers: Collection[int]) -> Batches:
        """The messages that wait for one of some schemas, as their input gives deferred ones."""
        ...

    def look_again(self) -> None:
        """More may be known than at the last look."""
        ...


class Decoder(Protocol):
    """One format's way from a batch's input to rows. It writes no table.

    `refs` name deferred records, with commas between.
    """

    def learn(self, batch_id: int, now: datetime) -> None:
        """Before the first pass: learn what can be learnt without reading everything."""
        ...

    def decode(self) -> DataFrame:
        """Every record: provenance, SCHEMA_ID, REF, RESCUED and what ROW is made of."""
        ...

    def with_row(self, decoded: DataFrame) -> DataFrame:
        """Such records with ROW, a struct of their columns."""
        ...

    def decode_deferred(
        self, refs: str, requeued: Requeued, batch_id: int, now: datetime
    ) -> Deferred:
        """Learn from the deferred records; then decode them, and those that leave quarantine.

        `requeued` gives the latter by the batch's number: what was learnt may let more leave.
        """
        ...

    def removed(self, refs: str) -> int:
        """How many of the deferred records the source does not have any more."""
        ...

    def close(self) -> None:
        """The batch has landed: give back what was kept for it."""
        ...


def row(columns: T.StructType, values: Sequence[str]) -> str:
    """SQL of ROW from each column's value; a table may have no columns yet."""
    if not values:
        return f"cast(null as struct<>) as {ROW}"
    members = ", ".join(
        f"{text_literal(name)}, {value}"
        for name, value in zip(columns.fieldNames(), values, strict=True)
    )
    return f"named_struct({members}) as {ROW}"
