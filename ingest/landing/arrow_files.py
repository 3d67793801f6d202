"""First passes over batches whose rows Spark's Python workers write to files themselves."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.decoders.decoder import Decoder
from ingest.decoders.json import JsonRecords
from ingest.decoders.arrow_writer import Target
from ingest.failpoint import failpoint
from ingest.spark.data_types import has_variant
from ingest.schemas.ingest_columns import INGEST
from ingest.spark.delta_commit import FileAppend

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql import types as T

log = logging.getLogger(__name__)

# Batches that Spark writes behind one that the workers could not, whose records they had read for
# nothing.
_REST = 100


class WorkerFiles:
    """Lands batches of one stream in the bronze table at `path`."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark, self._path = spark, path
        self._rest = 0

    def landed(
        self, decoder: Decoder, columns: T.StructType, batch_id: int, now: datetime
    ) -> dict[str, Any] | None:
        """Land what fits at first sight; None where Spark has to, and nothing has landed.

        Counts, and the marks of what was held back.
        """
        if self._rest:
            self._rest -= 1
            return None
        if not isinstance(decoder, JsonRecords) or not decoder.can_be_written:
            return None
        append = FileAppend(self._spark, self._path)
        if not append.is_able or not _has_just(columns, append.columns):
            return None
        target = Target(folder=self._path, columns=append.columns, batch_id=batch_id, now=now)
        written = decoder.written(target)
        if written.is_unsuited:
            self._rest = _REST
            log.info(
                "%s: batch %d: many values are written as only Spark reads them: it writes this "
                "batch and the next %d itself, which takes longer",
                Path(self._path).name,
                batch_id,
                _REST,
            )
            for file in written.files:
                Path(self._path, file.name).unlink(missing_ok=True)
            return None
        failpoint("before_first_commit")
        if written.files:
            append.commit(written.files)
        return {
            "records": written.records,
            "held": written.held,
            "marks": written.marks,
            "rows": sum(file.rows for file in written.files),
            "rescued": written.rescued,
        }


def _has_just(columns: T.StructType, table: T.StructType) -> bool:
    """Whether a table has ingest's columns and those, just as they are, so that it need not grow.

    Of a VARIANT that it has beside them, Arrow cannot write nulls.
    """
    wanted = {one.name: one.dataType for one in [*INGEST.fields, *columns.fields]}
    there = {one.name: one.dataType for one in table.fields}
    beside = [kind for name, kind in there.items() if name not in wanted]
    return not any(map(has_variant, beside)) and all(
        name in there and there[name].simpleString() == kind.simpleString()
        for name, kind in wanted.items()
    )
