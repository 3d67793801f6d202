"""What landing asks of a format.

Landing goes over a batch's files once and writes every record that fits at first sight.
What it holds back there (new fields, misfits, broken records) is marked, by its place or by
checksums of its bytes, and looked at again, carefully, in a second, small pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from ingest.spark.sql import text_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

# Columns of rows. MARK is null where an examined record fits.
SOURCE, MARK, ROW, RESCUED = "_source", "_mark", "_row", "_rescued"
# The shape id of an event, where its stream has types.
SCHEMA_ID = "_schema_id"
NO_SCHEMA_ID = f"cast(null as string) as {SCHEMA_ID}"


@dataclass(frozen=True, slots=True)
class Deferred:
    """What became of the records that were held back: rows (provenance, SCHEMA_ID, ROW, RESCUED),
    and rejects, with the columns of quarantine that say where they are from and what is wrong.

    `are_few`: the rejects, with their bytes, fit in the driver's memory. `leaving`: SQL of rows of
    quarantine that are among them once more.
    """

    rows: DataFrame
    rejects: DataFrame
    are_few: bool = False
    leaving: str = ""


class Decoder(Protocol):
    """One format's way from a batch's files to rows."""

    def examined(self) -> DataFrame:
        """Every record: provenance, SCHEMA_ID, MARK, RESCUED and what ROW is made of."""
        ...

    def with_row(self, examined: DataFrame) -> DataFrame:
        """Such records with ROW, a struct of their columns."""
        ...

    def learn(self, batch_id: int, now: datetime) -> None:
        """Before the first pass: learn what can be learnt without reading everything."""
        ...

    def lets_out(self, batch_id: int) -> bool:
        """Between the passes: whether records that are in quarantine land with this batch."""
        ...

    def learn_held(self, marks: str, batch_id: int, now: datetime) -> None:
        """Between the passes: learn from the held records; their marks have commas between."""
        ...

    def rest(self, marks: str) -> Deferred:
        """The held records again."""
        ...

    def removed(self, marks: str) -> int:
        """How many of the held records the source does not have any more."""
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


def null_key_reason(parts: Sequence[tuple[str, str]]) -> str:
    """SQL that names the first of (column in words, SQL) that is null."""
    cases = " ".join(
        f"when {sql} is null then {text_literal(f'{name} is null')}" for name, sql in parts
    )
    return f"case {cases} end" if cases else "cast(null as string)"
