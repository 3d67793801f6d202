"""Messages that Spark's Python workers write to a table's files themselves.

They have a record as Arrow's columns, as a file has it. On the way through Spark each of its
values is copied twice, and each row looked at for the table's statistics, which takes longer
than all that Python does. Spark then has only to commit the files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from ingest.arrow_files.columns import are_plain, arrow_type, made
from ingest.arrow_files.parquet_stats import DataFileWriter
from ingest.declarations.stream import KeyAndOrder
from ingest.decoders.decoder import RESCUED, SCHEMA_ID
from ingest.decoders.input import FITS, RECORD, ColumnReader
from ingest.decoders.json import Key
from ingest.schemas.conversion import Path, type_at
from ingest.spark.delta_commit import DataFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ingest.arrow_files.columns import Mask
    from ingest.decoders.arrow_batches import Work

# A task's result, as JSON.
_RESULT_DDL = "result string"
# Records that a task defers only for values that Spark has to judge: so many, or such a share
# of all. Each takes a hundred times as long as one that fits; past this Spark is quicker with all.
_MOST_UNSURE, _SHARE = 200, 0.01
_EVENT_TIMES = (T.TimestampType, T.DateType)
_EVENT_TYPES = (T.StringType, T.LongType, T.BooleanType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The table's folder and columns, how names of files begin, and what all rows share."""

    folder: str
    prefix: str
    columns: T.StructType
    batch_id: int
    now: datetime


@dataclass(frozen=True, slots=True)
class Written:
    """Files of the records that fit, and the refs of the deferred ones, with commas between."""

    files: Sequence[DataFile]
    records: int
    rescued: int
    deferred: int
    refs: str
    # Whether Spark has to write this batch: the files are not to be used.
    is_unsuited: bool

    @staticmethod
    def by(tasks: DataFrame) -> Written:
        """The results of a TableWriter's tasks."""
        results = [json.loads(text) for (text,) in tasks.collect()]
        refs = [ref for one in results for ref in one["refs"]]
        return Written(
            files=[DataFile(**one["file"]) for one in results if one["file"]],
            records=sum(one["records"] for one in results),
            rescued=sum(one["rescued"] for one in results),
            deferred=len(refs),
            refs=",".join(refs),
            is_unsuited=any(one["is_unsuited"] for one in results),
        )


def can_write(columns: T.StructType, event_time: Path | None, event_type: Path | None) -> bool:
    """Whether records of such columns can be written here."""
    time, kind = (path and type_at(columns, path) for path in (event_time, event_type))
    return (
        are_plain(columns)
        and (not time or isinstance(time, _EVENT_TIMES))
        and (not kind or isinstance(kind, _EVENT_TYPES))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWriter(ColumnReader):
    """Writes records that fit to a file a task, and returns the places of the others."""

    target: Target
    identity: KeyAndOrder
    provenance: Sequence[str]
    place: Sequence[str]
    keys: Sequence[Key]

    def read(self, texts: pa.StringArray) -> dict[str, pa.Array]:
        """See ColumnReader; instants are made with the other columns."""
        return self.as_texts(texts)

    def mapped(self, rows: DataFrame, work: Work, kinds: str) -> DataFrame:  # noqa: ARG002
        """A row of each task, for Written."""
        return rows.mapInArrow(lambda batches: self._written(work(batches)), _RESULT_DDL)

    def _written(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema(
            [(one.name, arrow_type(one.dataType)) for one in self.target.columns.fields]
        )
        writer = DataFileWriter(self.target.folder, schema, self.target.prefix)
        records, rescued, unsure, is_unsuited = 0, 0, 0, False
        refs: list[str] = []
        try:
            for batch in batches:
                columns, odd = made(self.kind, batch[RECORD])
                fits = _mask(batch[FITS])
                deferred = ~fits | odd | self._unkeyed(columns)
                records, unsure = records + len(batch), unsure + int((odd & fits).sum())
                is_unsuited = unsure > max(_MOST_UNSURE, _SHARE * records)
                if is_unsuited:
                    break
                rows = pa.RecordBatch.from_arrays(
                    [self._column(one, batch, columns) for one in schema], schema=schema
                )
                if deferred.any():
                    refs += self._refs(batch, deferred)
                    rows = rows.filter(pa.array(~deferred))
                if len(rows):
                    rescued += len(rows) - rows[RESCUED].null_count
                    writer.write(rows)
            if is_unsuited:
                writer.abandon()
            file = None if is_unsuited else writer.finish()
        except BaseException:
            writer.abandon()
            raise
        results = {
            "file": asdict(file) if file else None,
            "records": records,
            "rescued": rescued,
            "refs": refs,
            "is_unsuited": is_unsuited,
        }
        yield pa.RecordBatch.from_pydict({"result": [json.dumps(results)]})

    def _unkeyed(self, columns: pa.StructArray) -> Mask:
        """Where a column of the key is null, in a message that has columns."""
        found = np.zeros(len(columns), dtype=bool)
        for key in self.keys:
            missing = _is_null(_at(columns, key.path))
            for path, values in key.only_of.items():
                missing &= _mask(pc.is_in(_at(columns, path), pa.array(values, pa.string())))
            found |= missing
        return found & ~_is_null(columns)

    def _refs(self, batch: pa.RecordBatch, deferred: Mask) -> list[str]:
        chosen = batch.select(list(self.place)).filter(pa.array(deferred))
        rows = zip(*(column.to_pylist() for column in chosen.columns), strict=True)
        return [":".join(map(str, row)) for row in rows]

    def _column(self, field: pa.Field, batch: pa.RecordBatch, columns: pa.StructArray) -> pa.Array:
        """A column of the table."""
        target, name, count = self.target, field.name, len(batch)
        if name in self.kind.fieldNames():
            return _at(columns, (name,))
        if name in (SCHEMA_ID, RESCUED, *self.provenance):
            return batch[name].cast(field.type)
        same = {
            "_ingested_at": target.now,
            "_batch_id": target.batch_id,
            "_event_date": target.now.date(),
        }
        # None of what the table has of an earlier declaration.
        found = pa.repeat(pa.scalar(same.get(name), field.type), count)
        results = {"_event_date": self.identity.event_time, "_event_type": self.identity.event_type}
        path = results.get(name)
        if not path or not type_at(self.kind, path):
            return found
        return pc.coalesce(_at(columns, path).cast(field.type), found)


def _at(columns: pa.StructArray, path: Path) -> pa.Array:
    return pc.struct_field(columns, list(path))


def _is_null(values: pa.Array) -> Mask:
    return _mask(values.is_null())


def _mask(values: pa.BooleanArray) -> Mask:
    found: Mask = values.to_numpy(zero_copy_only=False)
    return found
