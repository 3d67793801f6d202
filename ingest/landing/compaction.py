"""Keep the files of a table few, and clustered as they are read.

Delta's `OPTIMIZE` would take up again what it has written before, until a table's files have a
gigabyte, or its clusters a hundred: a stream that is always on would write all of its history
every few minutes. Here files are merged with others of about their size, so that each row is
written again once for each eightfold of size, and past a bound no more.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ingest.spark.delta_tables import unclustered_files
from ingest.storage import delta_log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# So many files of about the same size are worth a commit.
FEW_FILES = 16
# Bits by which the sizes of such files differ at most.
_ALIKE = 3
# Bytes of a file that stays as it is, as a power of two.
_LARGE = 27
# Below these sizes `OPTIMIZE` takes up what is clustered already, and files of other tables.
_BOUNDS = (
    "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold",
    "spark.databricks.delta.optimize.minFileSize",
)
# Held while the bounds of a session are set, which others may share.
_bounding = threading.Lock()


def compacted(spark: SparkSession, path: str, least: int = FEW_FILES) -> bool:
    """Compact and cluster the Delta table at `path` where `least` files or more are alike.

    The caller owns the table. Meanwhile it may append, but not read what it appends by: the files
    that are replaced are gone for that commit.
    """
    sizes = delta_log.sizes_of_files(path)
    bound = bound_of(sizes, least)
    is_due = bound or (len(sizes) >= least and _are_unclustered(spark, path, least))
    if not is_due:
        return False
    with _bounding:
        for name in _BOUNDS:
            spark.conf.set(name, bound)
        try:
            spark.sql(f"optimize delta.`{path}`")
        finally:
            for name in _BOUNDS:
                spark.conf.unset(name)
    return True


def bound_of(sizes: Iterable[int], least: int) -> int:
    """Bytes below which files are merged; 0 where nowhere `least` of them are alike."""
    alike = Counter(-(-size.bit_length() // _ALIKE) * _ALIKE for size in sizes)
    return max(
        (1 << bits for bits, count in alike.items() if bits <= _LARGE and count >= least), default=0
    )


def _are_unclustered(spark: SparkSession, path: str, least: int) -> bool:
    """Whether so many files of a clustered table, of any size, have never been clustered."""
    if not delta_log.is_clustered(path):
        return False
    return unclustered_files(spark, path) >= least
