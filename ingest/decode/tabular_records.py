"""CSV and Parquet: files of rows with named columns.

Files whose columns differ are read apart and brought together by name. A value that does not
fit its column is rescued in the same pass; only rows without a key, and lines that are not
CSV, are held back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest.column_names import folded
from ingest.declarations.stream import CsvOptions, Format, SchemaEvolution, Stream
from ingest.decode.decoder import (
    MARK,
    NO_SCHEMA_ID,
    RESCUED,
    ROW,
    SOURCE,
    Rest,
    null_key_reason,
    row,
    source_column,
)
from ingest.decode.held import Held, among, held_lines, mark
from ingest.decode.repository import StreamSchema
from ingest.decode.typed_records import typed_row
from ingest.files.headers import as_patterns, csv_header, parquet_columns, reader
from ingest.shapes.conversion import at, quoted, text_literal
from ingest.tables import delta

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CORRUPT = "_corrupt_record"
_RAW, _RECORD = "_raw", "_record"
# Bytes that are no text are replaced without a word where CSV is parsed.
_VALID = f"is_valid_utf8({_RAW})"
# Type texts that a CSV column may turn out to hold, most special first, and what each needs.
_CSV_TYPES = (
    ("boolean", "lower({0}) in ('true', 'false')"),
    ("bigint", "cast(try_cast({0} as bigint) as string) = {0}"),
    ("double", "{0} rlike '^-?(0|[1-9][0-9]*)([.][0-9]+)?$' and length({0}) <= 16"),
    (
        "date",
        "{0} rlike '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$' and try_cast({0} as date) is not null",
    ),
    (
        "timestamp",
        (
            "{0} rlike '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T][0-9:.]+' "
            "and try_cast({0} as timestamp) is not null"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Group:
    """Files with the same columns."""

    paths: tuple[str, ...]
    columns: T.StructType


class TabularRecords:
    """Decoder of one batch of CSV or Parquet files."""

    def __init__(
        self, spark: SparkSession, stream: Stream, schema: StreamSchema, paths: Sequence[str]
    ) -> None:
        self._spark, self._stream, self._schema = spark, stream, schema
        self._groups = _grouped(spark, stream, paths)

    def learn(self, batch_id: int, now: datetime) -> None:
        """See Decoder: the columns of the files, with their types."""
        known = {folded(name) for name in self._schema.columns.fieldNames()}
        incoming: dict[str, T.StructField] = {}
        for group in self._groups:
            if self._stream.format is Format.PARQUET:
                fields = group.columns.fields
            else:
                fresh = [
                    n
                    for n in group.columns.fieldNames()
                    if folded(n) not in known | incoming.keys()
                ]
                fields = self._inferred(group, fresh) if fresh else []
            for member in fields:
                incoming.setdefault(folded(member.name), member)
        self._schema.widen(T.StructType(list(incoming.values())), batch_id, now)

    def examined(self) -> DataFrame:
        """See Decoder."""
        rows = [self._typed(group, self._lines(group)) for group in self._groups]
        unkeyed = [f"{at(ROW, path)} is null" for path in self._stream.identity.key]
        held = [f"{_CORRUPT} is not null", f"not {_VALID}", *unkeyed]
        return reduce(DataFrame.unionByName, rows).selectExpr(
            SOURCE, f"{mark(' or '.join(held), _RAW)} as {MARK}", RESCUED, NO_SCHEMA_ID, ROW
        )

    def with_row(self, examined: DataFrame) -> DataFrame:
        """See Decoder."""
        return examined

    def lets_out(self, batch_id: int) -> bool:  # noqa: ARG002
        """See Decoder: no record comes back."""
        return False

    def learn_held(self, marks: str, batch_id: int, now: datetime) -> None:
        """See Decoder: every column is known from the files' headers."""

    def removed(self, marks: str) -> int:  # noqa: ARG002
        """See Decoder: files stay."""
        return 0

    def close(self) -> None:
        """See Decoder: nothing is kept."""

    def rest(self, marks: str) -> Rest:
        """See Decoder: held rows are rejects, each with its reason."""
        held = Held.parsed(marks)
        key = self._stream.identity.key
        reason = null_key_reason([(path[0], at(ROW, path)) for path in key])
        rule = text_literal("key: " + ", ".join(path[0] for path in key))
        found = [self._typed(group, self._found(group, held)) for group in self._groups]
        rows = reduce(DataFrame.unionByName, found)
        rejects = rows.selectExpr(
            SOURCE,
            f"cast({_RAW} as binary) as _raw",
            "_position",
            _by_fault("'INVALID_UTF8'", "'MALFORMED_CSV'", "'NULL_KEY'", "_reason_code"),
            _by_fault("'not UTF-8'", "'not one value a column'", reason, "_reason"),
            _by_fault("null", "null", rule, "_rule"),
        )
        return Rest(rows.selectExpr(SOURCE, RESCUED, NO_SCHEMA_ID, ROW).where("false"), rejects)

    def _lines(self, group: _Group) -> DataFrame:
        """SOURCE, the raw record as text, and the record as a struct of the file's columns."""
        source = source_column(group.paths)
        if self._stream.format is Format.PARQUET:
            rows = reader(self._spark).schema(group.columns).parquet(*as_patterns(group.paths))
            record = F.struct(*(F.col(quoted(name)) for name in group.columns.fieldNames()))
            rows = rows.select(source, record.alias(_RECORD))
            return rows.select(
                "*", F.to_json(_RECORD).alias(_RAW), F.lit(None).cast("string").alias(_CORRUPT)
            )
        lines = (
            reader(self._spark)
            .text(as_patterns(group.paths))
            .select(source, F.col("value").alias(_RAW))
        )
        return self._parsed(group, lines.where(f"trim({_RAW}) != ''"))

    def _found(self, group: _Group, held: Held) -> DataFrame:
        """The held ones of `_lines`, with their `_position`; null where a format has no lines."""
        if self._stream.format is Format.PARQUET:
            rows = among(self._spark, self._lines(group), _RAW, held)
            return rows.withColumn("_position", F.lit(None).cast("bigint"))
        found = held_lines(self._spark, group.paths, held)
        return self._parsed(group, found.withColumn(_RAW, F.col("value").cast("string")))

    def _parsed(self, group: _Group, lines: DataFrame) -> DataFrame:
        options = self._stream.csv
        if options.header:
            header = csv_header(group.paths[0], options).line
            lines = lines.where(F.col(_RAW) != header)
        names = [*group.columns.fieldNames(), _CORRUPT]
        members = ", ".join(f"{quoted(name)} string" for name in names)
        parsed = F.from_csv(_RAW, members, _spark_options(options))
        return lines.withColumn(_RECORD, parsed).withColumn(
            _CORRUPT, F.col(f"{_RECORD}.{_CORRUPT}")
        )

    def _typed(self, group: _Group, lines: DataFrame) -> DataFrame:
        """`lines` with ROW and RESCUED."""
        keeps = self._stream.evolution.mode is not SchemaEvolution.NONE
        columns = self._schema.columns
        values, rescue = typed_row(columns, _RECORD, group.columns, keeps=keeps)
        return lines.selectExpr("*", f"{rescue} as {RESCUED}", row(columns, values)).drop(_RECORD)

    def _inferred(self, group: _Group, names: Sequence[str]) -> list[T.StructField]:
        """Types of columns of text, where every value of the batch agrees."""
        if not self._stream.evolution.infer_column_types:
            return [T.StructField(name, T.StringType()) for name in names]
        counts = []
        for index, name in enumerate(names):
            value = at(_RECORD, (name,))
            counts.append(f"count({value}) as n_{index}")
            for kind, condition in _CSV_TYPES:
                counts.append(f"count_if({condition.format(value)}) as {kind}_{index}")
        counted = delta.only_row(self._lines(group).selectExpr(*counts))
        found = []
        for index, name in enumerate(names):
            if not counted[f"n_{index}"]:
                continue
            fitting = [k for k, _ in _CSV_TYPES if counted[f"{k}_{index}"] == counted[f"n_{index}"]]
            found.append(T.StructField(name, _TYPES[fitting[0]] if fitting else T.StringType()))
        return found


def _by_fault(invalid: str, corrupt: str, unkeyed: str, name: str) -> str:
    """SQL of what a reject says, by the first thing that is wrong with it."""
    return (
        f"case when not {_VALID} then {invalid} when {_CORRUPT} is not null then {corrupt} "
        f"else {unkeyed} end as {name}"
    )


_TYPES: dict[str, T.DataType] = {
    "boolean": T.BooleanType(),
    "bigint": T.LongType(),
    "double": T.DoubleType(),
    "date": T.DateType(),
    "timestamp": T.TimestampType(),
}


def _grouped(spark: SparkSession, stream: Stream, paths: Sequence[str]) -> list[_Group]:
    groups: dict[str, list[str]] = {}
    columns: dict[str, T.StructType] = {}
    for path in paths:
        if stream.format is Format.PARQUET:
            kind = parquet_columns(spark, path)
        elif stream.csv.header:
            kind = _texts(csv_header(path, stream.csv).names)
        else:
            kind = _texts([hint.path[0] for hint in stream.columns])
        groups.setdefault(kind.json(), []).append(path)
        columns[kind.json()] = kind
    return [_Group(tuple(groups[key]), columns[key]) for key in groups]


def _texts(names: Sequence[str]) -> T.StructType:
    return T.StructType([T.StructField(name, T.StringType()) for name in names])


def _spark_options(options: CsvOptions) -> dict[str, str]:
    return {
        "sep": options.sep,
        "quote": options.quote,
        "escape": options.escape,
        "nullValue": options.null_value,
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": _CORRUPT,
    }
