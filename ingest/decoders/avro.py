"""Messages of Avro, each with the id of its writer's schema, decoded by Spark itself.

What Spark cannot decode it shows as a record of nulls: such records, those whose schema is not
known yet and those without a key are deferred and looked at one by one.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import fastavro
import pyarrow as pa
from pyspark.sql import functions as F

from ingest.declarations.stream import SchemaEvolution, Stream
from ingest.decoders.arrow_batches import Batches, Work
from ingest.decoders.decoder import (
    REF,
    RESCUED,
    ROW,
    SCHEMA_ID,
    Deferred,
    Requeued,
    Waiting,
    row,
)
from ingest.decoders.input import record_ref
from ingest.decoders.kafka_input import MessageInput
from ingest.decoders.null_keys import Keys, keyed_and_rejected
from ingest.decoders.schema_ids import numbers_of
from ingest.decoders.typed_rows import typed_row
from ingest.decoders.writer_schemas import Read, WriterSchemas
from ingest.errors import ReasonCode
from ingest.parse.avro_container import without_logical_types
from ingest.registry.wire_format import (
    ATTRIBUTE,
    DIGITS,
    FRAME,
    GUID_FRAME,
    GUID_HEADER,
    GUID_MAGIC,
    ID_HEADERS,
    MAGIC,
    forms,
    headers_in,
    id_text,
    number_of,
)
from ingest.schemas.conversion import at, type_at
from ingest.schemas.stream_schema import StreamSchema
from ingest.spark.sql import quoted, sql_type, text_literal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql import types as T

# Messages of a stream's first batch whose ids are asked for before the first pass over it.
_SAMPLE = 10_000
_RECORD, _READ = "_record", "_is_read"
# SQL: whether bytes are an id as text.
_IS_NUMBER = (
    f"regexp_like(cast({{0}} as string), '^{DIGITS.replace('{', '{{').replace('}', '}}')}\\\\z')"
)
# SQL: bytes as the text of the number that they are.
_AS_NUMBER = "cast(conv(hex({0}), 16, 10) as string)"
# SQL: whether bytes are so many, the first of which is this one.
_BEGINS = "(length({{0}}) = {length} and substring({{0}}, 1, 1) = X'{first:02X}')"
_IS_FRAME = _BEGINS.format(length=FRAME, first=MAGIC)
_IS_GUID = _BEGINS.format(length=GUID_FRAME, first=GUID_MAGIC)
# SQL: the text of a GUID, of its bytes behind the first.
_AS_GUID = (
    "regexp_replace(lower(hex(substring({0}, 2))), "
    "'^(.{{8}})(.{{4}})(.{{4}})(.{{4}})(.{{12}})$', '$1-$2-$3-$4-$5')"
)
_MALFORMED: ReasonCode = "MALFORMED_AVRO"
# The id's bytes, and the message behind them.
_FORM, _BODY = "_form", "_body"


class AvroMessages:
    """Decoder of one batch of messages of Avro."""

    def __init__(
        self,
        stream: Stream,
        schema: StreamSchema,
        writers: WriterSchemas,
        messages: MessageInput,
        waiting: Waiting,
    ) -> None:
        self._stream, self._schema, self._writers = stream, schema, writers
        self._input, self._waiting = messages, waiting
        self._found: Batches | None = None

    def learn(self, batch_id: int, now: datetime) -> None:
        """See Decoder: what messages are read as, and at first the ids of a sample."""
        due = self._waiting.due() - self._schema.agreed.writers.keys()
        messages = self._waiting.waiting(due) if due else None
        if not self._schema.agreed.writers:
            sample = self._input.sampled(_SAMPLE)
            messages = sample.joined(messages) if messages else sample
        if messages is None:
            self._writers.learn(self._schema, (), batch_id, now)
            return
        messages = messages.kept()
        try:
            self._learn(messages, numbers_of(messages), batch_id, now)
        finally:
            messages.forget()
            self._waiting.look_again()

    def _learn(self, messages: Batches, numbers: set[int], batch_id: int, now: datetime) -> None:
        """Learn the schemas by which some of these can be read."""

        def proven(reads: Mapping[int, Read]) -> set[int]:
            there = f"{messages.columns}, code string, reason string, is_empty boolean"
            judged = messages.mapped(_judging(reads), there)
            return numbers_of(judged.mapped(_sound, there))

        self._writers.learn(self._schema, numbers, batch_id, now, proven)

    def decode(self) -> DataFrame:
        """See Decoder."""
        deferred = [f"not {_READ}", *(f"{sql} is null" for _, sql in self._keys())]
        sized = self._input.messages.selectExpr("*", "length(value) as length")
        place = record_ref(self._input.place)
        return self._decoded(sized, self._schema.agreed.newest).selectExpr(
            *self._input.provenance,
            f"if(value is not null and ({' or '.join(deferred)}), {place}, null) as {REF}",
            RESCUED,
            SCHEMA_ID,
            ROW,
        )

    def with_row(self, decoded: DataFrame) -> DataFrame:
        """See Decoder."""
        return decoded

    def decode_deferred(
        self, refs: str, requeued: Requeued, batch_id: int, now: datetime
    ) -> Deferred:
        """See Decoder: with the schemas of ids that were not known."""
        deferred = self._deferred(refs)
        numbers = numbers_of(deferred)
        self._learn(deferred, numbers, batch_id, now)
        if messages := requeued(batch_id):
            numbers, deferred = numbers | self._waiting.due(), deferred.joined(messages)
        judged = deferred.mapped(
            _judging(self._writers.reads(self._schema.agreed, numbers)),
            f"{deferred.columns}, code string, reason string, is_empty boolean",
        )
        # Spark shows nulls for what it cannot hold, such as a time past the year 294247.
        good, rejects = keyed_and_rejected(
            self._decoded(judged.rows(), numbers),
            self._keys(),
            self._input.provenance,
            code=f"coalesce(code, if({_READ} or is_empty, null, '{_MALFORMED}'))",
            reason=f"coalesce(reason, if({_READ} or is_empty, null, 'it holds what Spark cannot'))",
        )
        return Deferred(good, rejects, are_few=judged.are_here)

    def removed(self, refs: str) -> int:
        """See Decoder."""
        return self._input.removed(refs)

    def close(self) -> None:
        """See Decoder."""
        if self._found:
            self._found.forget()

    def _deferred(self, refs: str) -> Batches:
        if self._found is None:
            self._found = self._input.deferred(refs).kept()
        return self._found

    def _keys(self) -> Keys:
        there = self._schema.columns
        return [
            (".".join(path), at(ROW, path) if type_at(there, path) else "null")
            for path in self._stream.identity.key
        ]

    def _decoded(self, messages: DataFrame, numbers: Iterable[int]) -> DataFrame:
        """Messages with SCHEMA_ID, RESCUED, ROW, and whether they were read by some schemas."""
        reads = self._writers.reads(self._schema.agreed, numbers)
        form, body = _parts()
        found = messages.withColumn(_FORM, form).withColumn(_BODY, body)
        kinds: dict[str, tuple[T.StructType, list[int]]] = {}
        for number, read in reads.items():
            if read.kind is not None:
                kinds.setdefault(sql_type(read.kind), (read.kind, []))[1].append(number)
        for index, (_, written_by) in enumerate(kinds.values()):
            record = F.lit(None)
            for number in written_by:
                is_it = F.col(_FORM).isin([F.lit(bytearray(one)) for one in forms(number)])
                record = F.when(is_it, reads[number].record(F.col(_BODY))).otherwise(record)
            found = found.withColumn(f"{_RECORD}{index}", record)
        return self._as_rows(found, [kind for kind, _ in kinds.values()])

    def _as_rows(self, found: DataFrame, kinds: Sequence[T.StructType]) -> DataFrame:
        """ROW and RESCUED from the one record of each message that is there."""
        keeps = self._stream.evolution.mode is not SchemaEvolution.NONE
        there = self._schema.columns
        rows, rescues, are_read = [], [], ["false"]
        for index, kind in enumerate(kinds):
            record = f"{_RECORD}{index}"
            values, rescue = typed_row(there, record, kind, keeps=keeps)
            values_of_row = row(there, values).removesuffix(f" as {ROW}")
            rows.append(f"when {record} is not null then {values_of_row}")
            rescues.append(f"when {record} is not null then {rescue}")
            names = (f"{record}.{quoted(one)} is not null" for one in kind.fieldNames())
            are_read.append(f"coalesce({record} is not null and ({' or '.join(names)}), false)")
        nothing = row(there, [f"cast(null as {sql_type(one.dataType)})" for one in there])
        nothing = nothing.removesuffix(f" as {ROW}")
        return found.selectExpr(
            "*",
            f"{_text_of_id()} as {SCHEMA_ID}",
            f"case {' '.join(rows)} else {nothing} end as {ROW}" if rows else f"{nothing} as {ROW}",
            f"case {' '.join(rescues)} end as {RESCUED}"
            if rescues
            else f"cast(null as string) as {RESCUED}",
            f"({' or '.join(are_read)}) as {_READ}",
        )


def _parts() -> tuple[Column, Column]:
    """The bytes of a message's id, and the message behind them."""
    names = ", ".join(map(text_literal, ID_HEADERS))
    is_id_header = (
        f"(lower(h.key) in ({names}) and "
        f"(length(h.value) = 8 or {_IS_NUMBER.format('h.value')})) or "
        f"(lower(h.key) = {text_literal(GUID_HEADER)} and "
        f"({_IS_GUID.format('h.value')} or {_IS_FRAME.format('h.value')}))"
    )
    header = f"get(filter(_headers, h -> {is_id_header}), 0)"
    begins = f"(length(value) >= {FRAME} and substring(value, 1, 1) = X'00')"
    front = f"if({begins}, substring(value, 1, {FRAME}), null)"
    form = F.coalesce(F.expr(f"{header}.value"), F.expr(front))
    # The attribute of CloudEvents may say again what stands in front.
    again = (
        f"lower({header}.key) = {text_literal(ATTRIBUTE)} and {begins} and "
        f"{_AS_NUMBER.format(f'substring(value, 2, {FRAME - 1})')} = "
        f"if({_IS_NUMBER.format(f'{header}.value')}, cast({header}.value as string), "
        f"{_AS_NUMBER.format(f'{header}.value')})"
    )
    is_framed = f"{header}.value is null or ({again})"
    body = F.expr(f"if({is_framed}, substring(value, {FRAME + 1}), value)")
    return form, body


def _text_of_id() -> str:
    """SQL of the id as text; null where a message has none."""
    number = _AS_NUMBER.format(_FORM)
    return (
        f"case when {_IS_NUMBER.format(_FORM)} then cast({_FORM} as string) "
        f"when length({_FORM}) = 8 then {number} "
        f"when {_IS_FRAME.format(_FORM)} then {number} "
        f"when {_IS_GUID.format(_FORM)} then {_AS_GUID.format(_FORM)} end"
    )


def _judging(reads: Mapping[int, Read]) -> Work:
    """Adds to messages why they cannot be read, if so, and whether all they hold is null."""
    schemas: dict[str, Any] = {}

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            messages = zip(batch["value"].to_pylist(), headers_in(batch["_headers"]), strict=True)
            verdicts = [_verdict(value, headers, reads, schemas) for value, headers in messages]
            codes, reasons, are_empty = zip(*verdicts, strict=True) if verdicts else ((), (), ())
            judged = batch.append_column("code", pa.array(codes, pa.string()))
            judged = judged.append_column("reason", pa.array(reasons, pa.string()))
            yield judged.append_column("is_empty", pa.array(are_empty, pa.bool_()))

    return judge


def _sound(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Those of judged messages that can be read."""
    for batch in batches:
        yield batch.filter(batch["code"].is_null())


def _verdict(
    value: bytes, headers: Any, reads: Mapping[int, Read], schemas: dict[str, Any]
) -> tuple[ReasonCode | None, str | None, bool]:
    number, body = number_of(value, headers)
    if number is None:
        return "NOT_FRAMED", "it begins with no id of a schema (a byte 0 and four bytes)", False
    read = reads.get(number)
    if read is None:
        why = f"no Avro schema {id_text(number)} is known that it could be of"
        return "SCHEMA_UNKNOWN", why, False
    if read.why:
        return "SCHEMA_UNSUPPORTED", f"schema {id_text(number)}: {read.why}", False
    try:
        writer, reader = (_schema(one, schemas) for one in (read.writer, read.reader))
        found = fastavro.schemaless_reader(io.BytesIO(body), writer, reader)
    except Exception as error:
        # Broken bytes lead anywhere.
        message = " ".join(str(error).split()) or type(error).__name__
        return _MALFORMED, f"not what schema {id_text(number)} says: {message}", False
    values = found.values() if isinstance(found, dict) else [found]
    return None, None, all(one is None for one in values)


def _schema(text: str | None, schemas: dict[str, Any]) -> Any:
    """A schema as fastavro has it, without logical types: Python's dates end at year 9999."""
    if text is not None and text not in schemas:
        plain = without_logical_types(fastavro.parse_schema(json.loads(text)))
        schemas[text] = fastavro.parse_schema(plain)
    return schemas.get(text) if text is not None else None
