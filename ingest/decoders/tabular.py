"""CSV and Parquet: files of rows with named columns.

Files whose columns differ are read apart and brought together by name. A value that does not
fit its column is rescued in the same pass; only rows without a key, and lines that are not
CSV, are deferred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING, assert_never

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.declarations.stream import Format, SchemaEvolution, Stream
from ingest.decoders.arrow_batches import balanced
from ingest.decoders.decoder import (
    NO_SCHEMA_ID,
    REF,
    RESCUED,
    ROW,
    SOURCE,
    Deferred,
    Requeued,
    row,
)
from ingest.decoders.input import record_ref
from ingest.decoders.null_keys import Keys, keyed_and_rejected
from ingest.decoders.tabular_files import (
    FAULT,
    LOST,
    POSITION,
    RAW,
    RECORD,
    CsvRows,
    ParquetRows,
    TabularFile,
    ddl,
)
from ingest.decoders.typed_rows import merged_columns, nullable, typed_row
from ingest.schemas.conversion import Path, at, cast_exactly
from ingest.schemas.stream_schema import StreamSchema
from ingest.spark import delta_tables
from ingest.spark.sql import text_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The number of a record's file among those of the batch.
_FILE = "file"
# Bytes that one task reads of many files.
_TASK = 1 << 28
# Types that all texts of a new CSV column may be of, most special first, and when one is. What is
# cheap to see comes first: most columns hold no dates.
_INFERRED: Sequence[tuple[T.DataType, Callable[[str], str]]] = (
    (T.BooleanType(), lambda text: f"lower({text}) in ('true', 'false')"),
    (T.LongType(), lambda text: f"cast(try_cast({text} as bigint) as string) = {text}"),
    (
        T.DoubleType(),
        lambda text: f"{text} rlike '^-?(0|[1-9][0-9]*)([.][0-9]+)?$' and length({text}) <= 16",
    ),
    (T.DateType(), lambda text: _is_one(T.DateType(), text)),
    (T.TimestampType(), lambda text: _is_one(T.TimestampType(), text)),
)


def _is_one(kind: T.DataType, text: str) -> str:
    return f"{text} like '____-__-__%' and {cast_exactly(kind, text)} is not null"


@dataclass(frozen=True, slots=True)
class _Group:
    """Files with the same columns, by their numbers."""

    files: Mapping[int, TabularFile]
    columns: T.StructType
    is_typed: bool


class TabularRecords:
    """Decoder of one batch of CSV or Parquet files."""

    def __init__(
        self, spark: SparkSession, stream: Stream, schema: StreamSchema, paths: Sequence[str]
    ) -> None:
        self._spark, self._stream, self._schema, self._paths = spark, stream, schema, paths
        self._keeps = stream.evolution.mode is not SchemaEvolution.NONE
        self._groups = self._grouped()

    def _grouped(self) -> list[_Group]:
        files: dict[str, dict[int, TabularFile]] = {}
        for number, path in enumerate(self._paths):
            file = self._opened(path)
            files.setdefault(file.columns.json(), {})[number] = file
        groups = []
        for alike in files.values():
            first = next(iter(alike.values()))
            groups.append(_Group(alike, first.columns, first.is_typed))
        return groups

    def _opened(self, path: str) -> TabularFile:
        match self._stream.format:
            case Format.CSV:
                return CsvRows.of(path, self._stream)
            case Format.PARQUET:
                return ParquetRows.of(path, keeps=self._keeps)
            case Format.JSON | Format.AVRO | Format.BYTES:
                raise AssertionError(f"{self._stream.format.value} has no rows with named columns")
            case _:
                assert_never(self._stream.format)

    def learn(self, batch_id: int, now: datetime) -> None:
        """See Decoder: the columns of the files, with their types."""
        brought = T.StructType()
        for group in self._groups:
            fields = [
                T.StructField(one.name, nullable(one.dataType))
                for one in group.columns.fields
                # Such names belong to ingest.
                if not one.name.startswith("_")
            ]
            brought = merged_columns(brought, T.StructType(fields))
        if not all(group.is_typed for group in self._groups):
            known = {folded(name) for name in self._schema.columns.fieldNames()}
            fresh = [name for name in brought.fieldNames() if folded(name) not in known]
            brought = self._inferred(fresh) if fresh else T.StructType()
        self._schema.widen(brought, batch_id, now)

    def decode(self) -> DataFrame:
        """See Decoder."""
        rows = [self._typed(group, None) for group in self._groups]
        deferred = [f"{FAULT} is not null", *(f"{sql} is null" for _, sql in self._key)]
        place = record_ref((_FILE, POSITION))
        return reduce(DataFrame.unionByName, rows).selectExpr(
            SOURCE,
            f"if({' or '.join(deferred)}, {place}, null) as {REF}",
            RESCUED,
            NO_SCHEMA_ID,
            ROW,
        )

    @property
    def _key(self) -> Keys:
        columns = self._schema.columns
        return [
            (".".join(path), at(ROW, path) if _has(columns, path) else "null")
            for path in self._stream.identity.key
        ]

    def with_row(self, decoded: DataFrame) -> DataFrame:
        """See Decoder."""
        return decoded

    def removed(self, refs: str) -> int:  # noqa: ARG002
        """See Decoder: files stay."""
        return 0

    def close(self) -> None:
        """See Decoder: nothing is kept."""

    def decode_deferred(
        self,
        refs: str,
        requeued: Requeued,  # noqa: ARG002
        batch_id: int,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> Deferred:
        """See Decoder: deferred rows are rejects, each with its reason; files are not requeued."""
        wanted: dict[int, set[int]] = {}
        for place in refs.split(","):
            number, position = map(int, place.split(":"))
            wanted.setdefault(number, set()).add(position)
        found = [self._typed(group, wanted) for group in self._groups]
        good, rejects = keyed_and_rejected(
            reduce(DataFrame.unionByName, found).selectExpr("*", NO_SCHEMA_ID),
            self._key,
            (SOURCE,),
            raw=RAW,
            position=POSITION,
            code=f"{FAULT}.code",
            reason=f"{FAULT}.reason",
        )
        return Deferred(good.where("false"), rejects)

    def _records(self, group: _Group, wanted: Mapping[int, Set[int]] | None) -> DataFrame:
        """SOURCE, the number of the file, and what `tabular_files.ddl` says of each record.

        `wanted`: of those positions of files alone.
        """
        files = {n: one for n, one in group.files.items() if wanted is None or n in wanted}
        parts = [(number, share) for number, file in files.items() for share in file.shares]
        sizes, cores = (
            [share.size for _, share in parts],
            self._spark.sparkContext.defaultParallelism,
        )
        count = max(1, min(len(parts), cores * (1 + sum(sizes) // (cores * _TASK))))
        tasks = [[parts[one] for one in task] for task in balanced(sizes, count)]

        def read(ids: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for task in (one for batch in ids for one in batch.column(0).to_pylist()):
                for number, share in tasks[task]:
                    places = None if wanted is None else wanted[number]
                    for batch in files[number].batches(share, places):
                        numbers = pa.array([number] * len(batch), pa.int32())
                        yield pa.RecordBatch.from_arrays(
                            [numbers, *batch.columns], [_FILE, *batch.schema.names]
                        )

        kinds = f"{_FILE} int, {ddl(group.columns)}"
        found = self._spark.range(0, count, 1, count).mapInArrow(read, kinds)
        # The path does not travel with each record, as its number does. No name can hold a zero.
        names = F.split(F.lit("\0".join(self._paths)), "\0")
        return found.withColumn(SOURCE, F.get(names, _FILE))

    def _typed(self, group: _Group, wanted: Mapping[int, Set[int]] | None) -> DataFrame:
        """The records with ROW and RESCUED."""
        columns, records = self._schema.columns, self._records(group, wanted)
        if not group.is_typed and group.columns.fields:
            records = records.withColumn(RECORD, F.expr(_without_empty(group.columns, columns)))
        values, rescued = typed_row(columns, RECORD, group.columns, keeps=self._keeps, lost=LOST)
        return records.selectExpr("*", f"{rescued} as {RESCUED}", row(columns, values)).drop(RECORD)

    def _inferred(self, names: Sequence[str]) -> T.StructType:
        """Types of columns of text, where every value of the batch agrees."""
        if not self._stream.evolution.infer_column_types:
            return T.StructType([T.StructField(name, T.StringType()) for name in names])
        counted: Counter[str] = Counter()
        for group in self._groups:
            own = {folded(name): name for name in group.columns.fieldNames()}
            counts = []
            for index, name in enumerate(names):
                if folded(name) not in own:
                    continue
                value = f"nullif({at(RECORD, (own[folded(name)],))}, '')"
                counts.append(f"count({value}) as n_{index}")
                for number, (_, condition) in enumerate(_INFERRED):
                    counts.append(f"count_if({condition(value)}) as is_{number}_{index}")
            if counts:
                row = delta_tables.only_row(self._records(group, None).selectExpr(*counts))
                counted.update(row.asDict())
        found = []
        for index, name in enumerate(names):
            if not (count := counted[f"n_{index}"]):
                continue
            fitting = (
                kind
                for number, (kind, _) in enumerate(_INFERRED)
                if counted[f"is_{number}_{index}"] == count
            )
            found.append(T.StructField(name, next(fitting, T.StringType())))
        return T.StructType(found)


def _without_empty(found: T.StructType, columns: T.StructType) -> str:
    """SQL of a CSV record in which an empty text is null, but in a column of text."""
    texts = {folded(one.name) for one in columns.fields if isinstance(one.dataType, T.StringType)}
    members = []
    for name in found.fieldNames():
        value = at(RECORD, (name,))
        value = value if folded(name) in texts else f"nullif({value}, '')"
        members.append(f"{text_literal(name)}, {value}")
    return f"named_struct({', '.join(members)})"


def _has(kind: T.DataType, path: Path) -> bool:
    """Whether Spark finds a column at a path."""
    for name in path:
        inner = kind.fields if isinstance(kind, T.StructType) else []
        found = [one.dataType for one in inner if folded(one.name) == folded(name)]
        if not found:
            return False
        kind = found[0]
    return True
