"""JSON: one document a line, or a file.

Each record is parsed once, to a VARIANT; the hash of its shape says whether it fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest.declarations.stream import SchemaEvolution, Stream
from ingest.decode.decoder import (
    HASH,
    HELD,
    IDS,
    SOURCE,
    Rest,
    among,
    null_key_reason,
    source_column,
)
from ingest.decode.exact_json import examined as examined_exactly
from ingest.decode.exact_json import leftovers
from ingest.decode.repository import StreamSchema
from ingest.files.headers import as_patterns, reader
from ingest.shapes.conversion import (
    Conversion,
    at,
    quoted,
    restricted,
    text_literal,
    type_at,
    union,
)
from ingest.shapes.fitting import Path
from ingest.shapes.shape import MAP, SHORT_DECIMALS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Records of a stream's first batch whose shapes are learnt before the first pass over it.
_SAMPLE = 20_000
# Stands behind each document while it is parsed.
_END = "headwater-end"
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
        self._learn(sample.where("_v is not null"), batch_id, now)

    def examined(self) -> DataFrame:
        """See Decoder. Carries `_v`, the record as VARIANT."""
        schema, conversion = self._schema.columns, self._schema.conversion
        identity = self._stream.identity
        paths = (*identity.key, *identity.event_id)
        looked_at = union(restricted(schema, paths), conversion.looked_at(schema))
        held = [
            f"not coalesce({among('_variation', self._schema.clean_variations)}, false)",
            "not is_valid_utf8(value)",
            *(f"coalesce({one}, false)" for one in conversion.misfits(looked_at, "_c", ())),
            *(f"{sql} is null" for _, sql in self._values(identity.key, conversion, "_c")),
            *(
                f"coalesce(contains(schema_of_variant({value}), 'DOUBLE'), false)"
                for value in _variants(schema)
            ),
        ]
        cast = f"try_cast(_v as {_sql_type(conversion.extracted(looked_at))})"
        return (
            self._read(self._lines())
            .selectExpr(
                SOURCE, "value", "_v", "_variation", f"{cast if looked_at.fields else 'null'} as _c"
            )
            .selectExpr(
                SOURCE,
                f"xxhash64(value) as {HASH}",
                f"({' or '.join(held)}) as {HELD}",
                f"{_struct(self._values(identity.event_id, conversion, '_c'))} as {IDS}",
                "_v",
            )
        )

    def typed(self, rows: DataFrame) -> DataFrame:
        """See Decoder."""
        columns = self._columns(rows, self._schema.conversion)
        return columns.withColumn("_rescued", F.lit(None).cast("string"))

    def learn_held(self, held: Sequence[int], batch_id: int, now: datetime) -> None:
        """See Decoder: the shapes of held records."""
        self._learn(self._verdicts(held).where("_v is not null"), batch_id, now)

    def rest(self, held: Sequence[int]) -> Rest:
        """See Decoder. Records travel as text, and what fits nowhere is rescued."""
        careful = Conversion({}, careful=True)
        names = _nested_names(self._schema.columns)
        keeps = self._stream.evolution.mode is not SchemaEvolution.NONE
        rescue = F.udf(lambda text, typed: leftovers(text, typed, names, keeps), "string")
        verdicts = self._verdicts(held)
        columns = self._columns(verdicts.where("_v is not null"), careful, "value", HASH, "_text")
        held_columns = [quoted(name) for name in self._schema.columns.fieldNames()]
        keys = self._stream.identity.key
        reason = null_key_reason([(".".join(path), at("", path)) for path in keys])
        # The rescued text is computed before anything filters on the columns it reads.
        rows = columns.withColumn(
            "_rescued",
            rescue("_text", F.expr(f"to_json(struct({', '.join(held_columns)}))"))
            if held_columns
            else F.lit(None).cast("string"),
        ).withColumn("_reason", F.expr(reason))
        broken = verdicts.where("_v is null").selectExpr(
            SOURCE,
            "cast(value as binary) as _raw",
            HASH,
            "coalesce(_verdict.code, 'MALFORMED_JSON') as _reason_code",
            "coalesce(_verdict.reason, 'Spark cannot read it') as _reason",
            "cast(null as string) as _rule",
        )
        unkeyed = rows.where("_reason is not null").selectExpr(
            SOURCE,
            "cast(value as binary) as _raw",
            HASH,
            "'NULL_KEY' as _reason_code",
            "_reason",
            f"{text_literal('key: ' + ', '.join('.'.join(path) for path in keys))} as _rule",
        )
        good = rows.where("_reason is null").drop("value", HASH, "_text", "_reason")
        return Rest(good, broken.unionByName(unkeyed))

    def _lines(self) -> DataFrame:
        lines = reader(self._spark).text(
            as_patterns(self._paths), wholetext=self._stream.multi_line
        )
        lines = lines.select("value", source_column(self._paths))
        # A blank line is no record (JSON Lines); a file that should be one is.
        return lines if self._stream.multi_line else lines.where("trim(value) != ''")

    def _read(self, lines: DataFrame) -> DataFrame:
        """`lines` with `_v`, null where a line is not one document, and `_variation`.

        Spark parses the first document of a text and does not look at what follows it, so a
        second one (a line end that was lost) would vanish. Inside an array, whatever follows is
        looked at, and the array's last element shows that it was the text's own end.
        """
        wrapped = lines.withColumn(
            "_w", F.expr(f"try_parse_json(concat('[', value, ',\"{_END}\"]'))")
        )
        is_one = f"try_variant_get(_w, '$[1]', 'string') = '{_END}'"
        document = F.expr(f"if({is_one}, variant_get(_w, '$[0]'), null)")
        return self._shaped(wrapped.withColumn("_v", document))

    def _shaped(self, parsed: DataFrame) -> DataFrame:
        return parsed.withColumn("_variation", F.expr(f"xxhash64({self._shape()})"))

    def _shape(self) -> str:
        """SQL of a record's shape; what is held as VARIANT or in a map adds nothing to it."""
        open_columns = _variants(self._schema.columns)
        record = "_v"
        if open_columns:
            names = ", ".join(map(text_literal, open_columns))
            record = (
                "to_variant_object(map_filter(try_cast(_v as map<string,variant>), "
                f"(k, v) -> k not in ({names})))"
            )
        shape = f"regexp_replace(schema_of_variant({record}), '{SHORT_DECIMALS}', 'DECIMAL')"
        for name in _erased_maps(self._schema.columns):
            # Numbers with an exponent have to be seen: they may not be exact.
            pattern = rf"(?<=[< ]){name}: OBJECT<((?!DOUBLE)[^<>])*>"
            shape = f"regexp_replace({shape}, {text_literal(pattern)}, '{name}: {MAP}')"
        return shape

    def _learn(self, parsed: DataFrame, batch_id: int, now: datetime) -> None:
        found = (
            parsed.withColumn("_shape", F.expr(self._shape()))
            .where("_shape like 'OBJECT<%'")
            .groupBy("_variation")
            .agg(F.first("_shape").alias("_shape"))
            .collect()
        )
        self._schema.learn({row._variation: row._shape for row in found}, batch_id, now)

    def close(self) -> None:
        """See Decoder."""
        if self._looked_at is not None:
            self._looked_at.unpersist()

    def _verdicts(self, held: Sequence[int]) -> DataFrame:
        """The held records with their verdicts, read from the files once."""
        if self._looked_at is None:
            self._looked_at = self._judged(held).persist()
        return self._shaped(self._looked_at.withColumn("_v", F.expr("try_parse_json(_text)")))

    def _judged(self, held: Sequence[int]) -> DataFrame:
        lines = self._lines().withColumn(HASH, F.expr("xxhash64(value)"))
        if len(held) <= 1000:
            lines = lines.where(among(HASH, held))
        else:
            wanted = self._spark.createDataFrame([(one,) for one in held], f"{HASH} long")
            lines = lines.join(F.broadcast(wanted), HASH, "left_semi")
        verdict = F.udf(examined_exactly, _VERDICT)
        judged = lines.withColumn("_verdict", verdict(F.col("value").cast("binary")))
        return judged.withColumn("_text", F.col("_verdict.text"))

    def _columns(self, rows: DataFrame, conversion: Conversion, *carried: str) -> DataFrame:
        schema = self._schema.columns
        if not schema.fields:
            return rows.select(SOURCE, *carried)
        cast = f"try_cast(_v as {_sql_type(conversion.extracted(schema))})"
        kept = [SOURCE, *carried]
        return rows.selectExpr(*kept, f"{cast} as _r").selectExpr(
            *kept,
            *(
                f"{conversion.typed(member.dataType, at('_r', (member.name,)), (member.name,))}"
                f" as {quoted(member.name)}"
                for member in schema.fields
            ),
        )

    def _values(
        self, paths: Sequence[Path], conversion: Conversion, source: str
    ) -> list[tuple[str, str]]:
        """(path, SQL of the column's value); null where the table has no such column."""
        values = []
        for path in paths:
            kind = type_at(self._schema.columns, path)
            sql = conversion.typed(kind, at(source, path), path) if kind else "null"
            values.append((".".join(path), sql))
        return values


def _struct(values: Sequence[tuple[str, str]]) -> str:
    members = ", ".join(f"'{index}', {sql}" for index, (_, sql) in enumerate(values))
    return f"named_struct({members})" if members else "null"


def _sql_type(kind: T.DataType) -> str:
    if isinstance(kind, T.StructType):
        members = (f"{quoted(member.name)}: {_sql_type(member.dataType)}" for member in kind.fields)
        return f"struct<{', '.join(members)}>"
    if isinstance(kind, T.ArrayType):
        return f"array<{_sql_type(kind.elementType)}>"
    if isinstance(kind, T.MapType):
        return f"map<{_sql_type(kind.keyType)}, {_sql_type(kind.valueType)}>"
    return kind.simpleString()


def _nested_names(kind: T.DataType) -> Mapping[str, Any]:
    """Names of columns as nested dicts, through arrays; empty for what is no struct."""
    if isinstance(kind, T.ArrayType):
        return _nested_names(kind.elementType)
    if isinstance(kind, T.StructType):
        return {member.name: _nested_names(member.dataType) for member in kind.fields}
    return {}


def _variants(schema: T.StructType) -> list[str]:
    """SQL of each value that is held as VARIANT."""
    return [
        f"variant_get(_v, {_json_path(member.name)})"
        for member in schema.fields
        if isinstance(member.dataType, T.VariantType)
    ]


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


def _json_path(name: str) -> str:
    return text_literal('$["' + name.replace('"', '\\"') + '"]')
