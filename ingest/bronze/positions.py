"""Where in its file a rejected record stands.

Spark does not number lines when it reads text, and only rejects need it: the files that hold
some are read again, and each line that has a reject's hash is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ingest.declarations.stream import Format, Stream
from ingest.decode.decoder import HASH, SOURCE, source_column
from ingest.files.headers import as_patterns, reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def with_positions(spark: SparkSession, rejects: DataFrame, stream: Stream) -> DataFrame:
    """`rejects` with `_position`, one row a place; null where a format has no lines."""
    if stream.format is Format.PARQUET or stream.multi_line:
        return rejects.withColumn("_position", F.lit(None).cast("bigint"))
    rejects = rejects.dropDuplicates([SOURCE, HASH])
    paths = [row[0] for row in rejects.select(SOURCE).distinct().collect()]
    if not paths:
        return rejects.withColumn("_position", F.lit(None).cast("bigint"))
    lines = (
        reader(spark)
        .text(as_patterns(paths))
        .select(
            source_column(paths),
            F.col("_metadata.file_block_start").alias("_block"),
            F.monotonically_increasing_id().alias("_order"),
            F.xxhash64("value").alias(HASH),
        )
    )
    in_file = Window.partitionBy(SOURCE).orderBy("_block", "_order")
    numbered = lines.withColumn("_position", F.row_number().over(in_file).cast("bigint"))
    return rejects.join(numbered.select(SOURCE, HASH, "_position"), [SOURCE, HASH])
