"""Drop events that have already landed.

Bronze itself is the memory: what landed within the horizon is looked up by arrival time, so
there is no state to lose, and a lost checkpoint changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ingest.decoders.decoder import ROW
from ingest.schemas.conversion import at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def deduplicated(
    rows: DataFrame, bronze: DataFrame | None, ids: Sequence[tuple[str, ...]], since: datetime
) -> DataFrame:
    """`rows` without those whose ids, paths in ROW, came before: in `rows`, or in `bronze`.

    `since`: when the oldest row of `bronze` that counts was landed.

    No `bronze`: it has no such columns yet, so nothing in it has an identity. Rows
    that lack a part of the identity are kept: nothing distinguishes them.
    """
    id_columns = [f"_id_{index}" for index in range(len(ids))]
    with_ids = rows.select(
        "*", *(F.expr(at(ROW, path)).alias(c) for path, c in zip(ids, id_columns, strict=True))
    )
    first = Window.partitionBy(*id_columns).orderBy(*id_columns)
    complete = " and ".join(f"{column} is not null" for column in id_columns)
    fresh = with_ids.withColumn("_rank", F.row_number().over(first)).where(
        f"_rank = 1 or not ({complete})"
    )
    if bronze is None:
        return fresh.drop("_rank", *id_columns)
    landed = bronze.where(F.col("_ingested_at") >= F.lit(since)).selectExpr(
        *(f"{at('', path)} as {column}" for path, column in zip(ids, id_columns, strict=True))
    )
    return fresh.join(landed, id_columns, "left_anti").drop("_rank", *id_columns)
