"""JSON: one document a line, or a file.

Each record is read once, into the columns that are known; where they do not hold all of it, it
is held back, and read once more as a VARIANT.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest.declarations.stream import SchemaEvolution, Stream
from ingest.decode.decoder import (
    MARK,
    RESCUED,
    ROW,
    SOURCE,
    Rest,
    null_key_reason,
    row,
    source_column,
)
from ingest.decode.exact_json import examined as examined_exactly
from ingest.decode.exact_json import leftovers
from ingest.decode.json_files import PLACE, held_records, read_files
from ingest.decode.repository import StreamSchema
from ingest.files.headers import as_patterns, reader
from ingest.shapes.conversion import Conversion, Path, at, quoted, text_literal, type_at
from ingest.shapes.shape import MAP, SHORT_DECIMALS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# Records of a stream's first batch whose shapes are learnt before the first pass over it.
_SAMPLE = 20_000
# Each text is parsed inside an object, with an end behind it: see `_read`.
_END, _RECORD = "headwater_end", "record"
_WRAPPED = (f"OBJECT<{_END}: BIGINT, {_RECORD}: ", ">")
_VERDICT = "struct<code string, reason string, text string>"


class JsonRecords:
    """Decoder of one batch of JSON files."""

    def __init__(
        self, spark: SparkSession, stream: Stream, schema: StreamSchema, paths: Sequence[str]
    ) -> None:
        self._spark, self._stream, self._schema, self._paths = spark, stream, schema, paths
        self._looked_at: DataFrame | None = None

    def learn(self, batch_id: int, now: datetime) -> None:
        """See Decoder: at a stream's start, the shapes of a sample."""
        if self._schema.knows_shapes:
            return
        sample = self._read(self._lines().limit(_SAMPLE))
        self._learn(sample, batch_id, now)

    def examined(self) -> DataFrame:
        """See Decoder."""
        conversion = Conversion(careful=False)
        columns = self._schema.columns
        read = conversion.extracted(columns)
        kind = _sql_type(read, variant="string")
        held = [
            "not fits",
            *(f"coalesce({one}, false)" for one in conversion.misfits(columns, _RECORD, ROW)),
            *(f"{sql} is null" for _, sql in self._values(self._stream.identity.key)),
        ]
        overflow_matters = self._stream.evolution.mode is not SchemaEvolution.NONE
        examined = read_files(
            self._spark,
            self._paths,
            read,
            kind,
            whole_files=self._stream.multi_line,
            overflow_matters=overflow_matters,
        )
        return examined.select("*", self._row(conversion, _RECORD)).selectExpr(
            SOURCE,
            f"if({' or '.join(held)}, {PLACE}, null) as {MARK}",
            f"cast(null as string) as {RESCUED}",
            ROW,
        )

    def learn_held(self, marks: str, batch_id: int, now: datetime) -> None:
        """See Decoder: the shapes of held records."""
        self._learn(self._verdicts(marks), batch_id, now)

    def rest(self, marks: str) -> Rest:
        """See Decoder. Records travel as text, and what fits nowhere is rescued."""
        careful = Conversion(careful=True)
        names = _nested_names(self._schema.columns)
        keeps = self._stream.evolution.mode is not SchemaEvolution.NONE
        rescue = F.udf(lambda text, typed: leftovers(text, typed, names, keeps), "string")
        verdicts = self._verdicts(marks)
        reject = (SOURCE, "value as _raw", "_position")
        keys = self._values(self._stream.identity.key)
        record = _sql_type(careful.extracted(self._schema.columns))
        cast = f"try_cast(_w as struct<{_RECORD}: {record}>).{_RECORD}"
        read = verdicts.where("_w is not null").selectExpr(
            SOURCE,
            "value",
            "_position",
            "_text",
            f"{cast if self._schema.columns.fields else 'null'} as {_RECORD}",
        )
        # The rescued text is computed before anything filters on the columns it reads.
        rows = read.select("*", self._row(careful, _RECORD)).select(
            "*",
            rescue("_text", F.expr(f"to_json({ROW})")).alias(RESCUED),
            F.expr(null_key_reason(keys)).alias("_reason"),
        )
        broken = verdicts.where("_w is null").selectExpr(
            *reject,
            "coalesce(_verdict.code, 'MALFORMED_JSON') as _reason_code",
            "coalesce(_verdict.reason, 'Spark cannot read it') as _reason",
            "cast(null as string) as _rule",
        )
        unkeyed = rows.where("_reason is not null").selectExpr(
            *reject,
            "'NULL_KEY' as _reason_code",
            "_reason",
            f"{text_literal('key: ' + ', '.join(name for name, _ in keys))} as _rule",
        )
        good = rows.where("_reason is null").select(SOURCE, RESCUED, ROW)
        return Rest(good, broken.unionByName(unkeyed))

    def _lines(self) -> DataFrame:
        lines = reader(self._spark).text(
            as_patterns(self._paths), wholetext=self._stream.multi_line
        )
        lines = lines.select("value", source_column(self._paths))
        # A blank line is no record (JSON Lines); a file that should be one is.
        return lines if self._stream.multi_line else lines.where("trim(value) != ''")

    def _read(self, lines: DataFrame, text: str = "value") -> DataFrame:
        """`lines` with `_w`, the wrapped document of `text`, and `_variation`, its shape's hash.

        Spark parses the first document of a text and does not look at what follows it, so a
        second one (a line end that was lost) would vanish. Inside an object, whatever follows is
        looked at, and the object's end, which is part of the shape, was the text's own.
        """
        return lines.selectExpr(
            "*", f"""try_parse_json(concat('{{"{_RECORD}":', {text}, ',"{_END}":0}}')) as _w"""
        ).transform(self._shaped)

    def _shaped(self, parsed: DataFrame) -> DataFrame:
        """With `_shape` and its hash; what is held as VARIANT or in a map adds nothing to it."""
        short = f"regexp_replace(_shape, '{SHORT_DECIMALS}', 'DECIMAL')"
        shape = f"if(contains(_shape, 'DECIMAL('), {short}, _shape)"
        for name in _erased_maps(self._schema.columns):
            # Numbers with an exponent have to be seen: they may not be exact.
            pattern = rf"(?<=[< ]){name}: OBJECT<((?!DOUBLE)[^<>])*>"
            shape = f"regexp_replace({shape}, {text_literal(pattern)}, '{name}: {MAP}')"
        shaped = parsed.withColumn("_shape", F.expr(self._shape()))
        return shaped.withColumn("_shape", F.expr(shape)).withColumn(
            "_variation", F.xxhash64("_shape")
        )

    def _shape(self) -> str:
        """SQL of the wrapped record's whole shape, without columns that hold any."""
        open_columns = _open_columns(self._schema.columns)
        if not open_columns:
            return "schema_of_variant(_w)"
        names = ", ".join(map(text_literal, open_columns))
        members = f"try_cast(variant_get(_w, '$.{_RECORD}') as map<string,variant>)"
        record = f"to_variant_object(map_filter({members}, (k, v) -> k not in ({names})))"
        before, after = map(text_literal, _WRAPPED)
        is_whole = (
            f"try_variant_get(_w, '$.{_END}', 'int') = 0 "
            "and cardinality(try_cast(_w as map<string,variant>)) = 2"
        )
        return f"if({is_whole}, concat({before}, schema_of_variant({record}), {after}), null)"

    def _learn(self, parsed: DataFrame, batch_id: int, now: datetime) -> None:
        before, after = _WRAPPED
        found = (
            parsed.where(f"startswith(_shape, {text_literal(before + 'OBJECT<')})")
            .groupBy("_variation")
            .agg(F.first("_shape").alias("_shape"))
            .collect()
        )
        shapes = {one._variation: one._shape[len(before) : -len(after)] for one in found}
        self._schema.learn(shapes, batch_id, now)

    def close(self) -> None:
        """See Decoder."""
        if self._looked_at is not None:
            self._looked_at.unpersist()

    def _verdicts(self, marks: str) -> DataFrame:
        """The held records with their verdicts, read from the files once."""
        if self._looked_at is None:
            found = held_records(
                self._spark, self._paths, marks, whole_files=self._stream.multi_line
            )
            verdict = F.udf(examined_exactly, _VERDICT)
            judged = found.withColumn("_verdict", verdict("value"))
            self._looked_at = judged.withColumn("_text", F.col("_verdict.text")).persist()
        return self._read(self._looked_at, "_text")

    def _row(self, conversion: Conversion, source: str) -> Column:
        """ROW from the record that was read."""
        columns = self._schema.columns
        values = [conversion.typed(one.dataType, at(source, (one.name,))) for one in columns.fields]
        return F.expr(row(columns, values))

    def _values(self, paths: Sequence[Path]) -> list[tuple[str, str]]:
        """(path, SQL of the column's value); null where the table has no such column."""
        return [
            (".".join(path), at(ROW, path) if type_at(self._schema.columns, path) else "null")
            for path in paths
        ]


def _sql_type(kind: T.DataType, variant: str = "variant") -> str:
    if isinstance(kind, T.StructType):
        members = (f"{quoted(one.name)}: {_sql_type(one.dataType, variant)}" for one in kind.fields)
        return f"struct<{', '.join(members)}>"
    if isinstance(kind, T.ArrayType):
        return f"array<{_sql_type(kind.elementType, variant)}>"
    if isinstance(kind, T.MapType):
        value = _sql_type(kind.valueType, variant)
        return f"map<{_sql_type(kind.keyType, variant)}, {value}>"
    return variant if isinstance(kind, T.VariantType) else kind.simpleString()


def _nested_names(kind: T.DataType) -> Mapping[str, Any]:
    """Names of columns as nested dicts, through arrays; empty for what is no struct."""
    if isinstance(kind, T.ArrayType):
        return _nested_names(kind.elementType)
    if isinstance(kind, T.StructType):
        return {member.name: _nested_names(member.dataType) for member in kind.fields}
    return {}


def _open_columns(schema: T.StructType) -> list[str]:
    """Names of the columns that are held as VARIANT."""
    return [one.name for one in schema.fields if isinstance(one.dataType, T.VariantType)]


def _erased_maps(schema: T.StructType) -> list[str]:
    """Names of map columns, at any depth, whose keys must not make new shapes.

    Values of maps travel as text and are cast one by one, so their types need not be known
    beforehand; values that hold other values do not travel so.
    """
    maps = _maps(schema)
    nested = {name for name, value in maps if isinstance(value, _HOLDING)}
    return sorted({name for name, _ in maps if name.isidentifier()} - nested)


_HOLDING = T.StructType | T.ArrayType | T.MapType | T.VariantType


def _maps(kind: T.DataType) -> list[tuple[str, T.DataType]]:
    """Maps of structs inside `kind`: name and type of the values."""
    if isinstance(kind, T.ArrayType):
        return _maps(kind.elementType)
    if not isinstance(kind, T.StructType):
        return []
    found = []
    for member in kind.fields:
        if isinstance(member.dataType, T.MapType):
            found.append((member.name, member.dataType.valueType))
        else:
            found += _maps(member.dataType)
    return found
