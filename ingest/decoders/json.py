"""JSON: one document a line, or a file; and Avro, whose records are read as JSON.

Each record is read once, into the columns that are known; where they do not hold all of it, it
is deferred, and read once more, value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest import settings
from ingest.declarations.stream import Envelope, Format, Mask, SchemaEvolution, Stream
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
from ingest.decoders.input import FITS, RECORD, ColumnReader, Input, record_ref
from ingest.decoders.kafka_input import MessageInput
from ingest.decoders.null_keys import Keys, keyed_and_rejected
from ingest.decoders.schema_ids import numbers_of
from ingest.decoders.second_pass import (
    EVENT,
    VERDICT_DDL,
    fitting,
    identifying,
    judging,
    taking,
    thinned,
    unseen,
)
from ingest.decoders.writer_schemas import WriterSchemas
from ingest.envelopes.cloudevents import AvroTranslation, CloudEventTranslation
from ingest.envelopes.connect import ConnectMessages
from ingest.envelopes.debezium import BEFORE, OPERATION, REST, ROW_OPERATIONS, DebeziumMessages
from ingest.envelopes.masking import Masking
from ingest.envelopes.message_reader import Reading
from ingest.event_types.catalog import EventTypes, NewEventShape
from ingest.event_types.inference import Places, ShapeMonitor
from ingest.parse.json_exact import leftovers
from ingest.schemas import conversion, ingest_columns
from ingest.schemas.conversion import Path, at, type_at
from ingest.schemas.evolution import declared_schema
from ingest.schemas.stream_schema import StreamSchema
from ingest.spark.sql import sql_type, text_literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Records whose shapes are learnt before the first pass over a batch, as all that is new in it would
# be deferred, and looked at one by one: of a stream's first batch, which brings most, and of a
# later one that is large. There a few do, unless more than a share of them is still new.
# Types of events have shapes of their own: where one record can stand for all that are
# alike, a large batch gives more.
_SAMPLE, _MANY_ALIKE, _FEW, _SHARE = 10_000, 40_000, 3_000, 0.005
# What is made of a record's values, by number.
_MADE = "made"
# The record itself, with its provenance in front.
_RECORD_DDL = "value binary, _position long"


@dataclass(frozen=True, slots=True)
class Key:
    """A column that must not be null; only of rows that have one of some values, by column."""

    path: Path
    only_of: Mapping[Path, Sequence[str]]


class JsonRecords:
    """Decoder of one batch of JSON or Avro; `writers` are those of messages in Avro."""

    def __init__(
        self,
        stream: Stream,
        schema: StreamSchema,
        types: EventTypes,
        records: Input,
        writers: WriterSchemas | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        self._stream, self._schema, self.records = stream, schema, records
        self.identity = stream.identity
        self._types, self._writers, self._waiting = types, writers, waiting
        self._deferred: Batches | None = None
        self._judged: Batches | None = None
        self._messages, self._masking = _messages(stream), _masking(stream)
        self._record_ddl = f"{ingest_columns.ddl(records.provenance)}, {_RECORD_DDL}"
        self._places = _places(stream)

    @property
    def columns(self) -> T.StructType:
        """The columns that records are read into."""
        return self._schema.columns

    def learn(self, batch_id: int, now: datetime) -> None:
        """See Decoder: at a stream's start, and of a large batch, the shapes of a sample."""
        known = self._schema.agreed.writers.keys()
        due = self._waiting.due() - known if self._waiting else set()
        is_sampled = self.records.are_many and not self._schema.has_recorded(batch_id)
        if self._schema.knows_shapes and not is_sampled:
            if due and self._writers:
                self._writers.learn(self._schema, due, batch_id, now)
            return
        if self._schema.knows_shapes:
            few = self.records.sampled(_FEW).mapped(self._judging(), self._record_ddl + VERDICT_DDL)
            few = few.mapped(
                fitting(self.reader()), f"{self._record_ddl}{VERDICT_DDL}, {FITS} boolean"
            )
            if unseen(few) <= _SHARE:
                self._learn(few, batch_id, now)
                return
        places = None if self.reading().is_needed else self._places
        sample = self.records.sampled(_MANY_ALIKE if places and self.records.are_many else _SAMPLE)
        self._learn_writers(sample, batch_id, now, due)
        judging = thinned(self._judging(), places) if places else self._judging()
        self._learn(sample.mapped(judging, self._record_ddl + VERDICT_DDL), batch_id, now)

    def decode(self) -> DataFrame:
        """See Decoder."""
        columns, reader, made = self._schema.columns, self.reader(), self._made

        def value(path: Path) -> str:
            return made.get(at(RECORD, path), at(RECORD, path))

        misfits = conversion.misfits(columns, RECORD, lambda _, source: made[source])
        deferred = [
            f"not {FITS}",
            *(f"coalesce({one}, false)" for one in misfits),
            # A message without a value has no columns, and no key among them.
            *(f"{RECORD} is not null and {sql} is null" for _, sql in self._keys(value)),
        ]
        making = [
            f"{text_literal(str(number))}, {conversion.typed(kind, at(RECORD, path), reader.known)}"
            for number, path in enumerate(conversion.changed(columns))
            if (kind := type_at(columns, path))
        ]
        all_made = f"named_struct({', '.join(making)})" if making else "cast(null as struct<>)"
        examined = self.records.read(reader, self.reading())
        return examined.selectExpr("*", f"{all_made} as {_MADE}").selectExpr(
            *self.records.provenance,
            f"if({' or '.join(deferred)}, {record_ref(self.records.place)}, null) as {REF}",
            RESCUED,
            SCHEMA_ID,
            RECORD,
            _MADE,
        )

    def unlanded(self, rows: DataFrame) -> DataFrame | None:
        """See MessageInput; None where a row does not say which record it is of."""
        if not isinstance(self.records, MessageInput):
            return None
        return self.records.unlanded(rows)

    def with_row(self, decoded: DataFrame) -> DataFrame:
        """See Decoder: not before, as a row is copied to be looked at, member by member."""
        columns, made = self._schema.columns, self._made
        values = [
            conversion.assembled(one.dataType, at(RECORD, (one.name,)), made) for one in columns
        ]
        return decoded.selectExpr(
            *self.records.provenance, RESCUED, SCHEMA_ID, row(columns, values)
        )

    @property
    def _made(self) -> Mapping[str, str]:
        """SQL of what is made of a record's values, by that of those values."""
        return {
            at(RECORD, path): at(_MADE, (str(number),))
            for number, path in enumerate(conversion.changed(self._schema.columns))
        }

    def _learn_writers(
        self, messages: Batches, batch_id: int, now: datetime, more: Set[int] = frozenset()
    ) -> None:
        if self._writers:
            self._writers.learn(self._schema, numbers_of(messages) | more, batch_id, now)

    def _learn(self, judged: Batches, batch_id: int, now: datetime) -> None:
        judged_events = judged.firsts(("shape", *EVENT[:2]), EVENT[2])
        shapes = {shape for shape, _, _ in judged_events if shape is not None}
        self._schema.learn(shapes, batch_id, now)
        if self._places:
            payloads: dict[tuple[str, str], str] = {}
            for (_, name, shape), payload in judged_events.items():
                if name is not None and shape is not None:
                    # Records that differ beside their events share one payload.
                    payloads[name, shape] = payloads.get((name, shape)) or payload or ""
            events = [NewEventShape(*event, payload) for event, payload in payloads.items()]
            self._types.learn(events, self._schema.columns, batch_id, now)

    def decode_deferred(
        self, refs: str, requeued: Requeued, batch_id: int, now: datetime
    ) -> Deferred:
        """See Decoder. What fits nowhere is rescued."""
        if self._writers:
            self._learn_writers(self._found(refs), batch_id, now)
        if messages := requeued(batch_id):
            self._deferred = self._found(refs).joined(messages)
        self._learn(self._verdicts(refs), batch_id, now)
        names = _nested_names(self._schema.columns)
        keeps = self._stream.evolution.mode is not SchemaEvolution.NONE
        rescue = F.udf(lambda text, typed: leftovers(text, typed, names, keeps), "string")
        keys = self._keys(lambda path: at(ROW, path))
        verdicts = self._verdicts(refs).mapped(
            identifying(self._types.known, self._types.refused),
            f"{self._record_ddl}{VERDICT_DDL}, {SCHEMA_ID} string, rule string",
        )
        kind = conversion.extracted(self._schema.columns)
        taken = f"{self._record_ddl}, text string, {SCHEMA_ID} string"
        read = verdicts.mapped(
            taking(kind, RECORD), f"{taken}, {RECORD} {sql_type(kind, variant='string')}"
        ).rows()
        # The rescued text is computed before anything filters on the columns it reads.
        columns_read = self._schema.columns
        values = [conversion.typed(one.dataType, at(RECORD, (one.name,))) for one in columns_read]
        rows = read.selectExpr("*", row(columns_read, values)).select(
            "*", rescue("text", F.expr(f"to_json({ROW})")).alias(RESCUED)
        )
        broken = (
            verdicts.rows()
            .where("text is null")
            .selectExpr(
                *self.records.provenance,
                "value as _raw",
                "_position",
                SCHEMA_ID,
                "code as _reason_code",
                "reason as _reason",
                "rule as _rule",
            )
        )
        good, unkeyed = keyed_and_rejected(rows, keys, self.records.provenance)
        rejects = broken.unionByName(unkeyed) if keys else broken
        return Deferred(good, rejects, are_few=verdicts.are_here)

    def removed(self, refs: str) -> int:
        """See Decoder."""
        return self.records.removed(refs)

    def close(self) -> None:
        """See Decoder."""
        if self._judged:
            self._judged.forget()

    def _verdicts(self, refs: str) -> Batches:
        """The deferred records with their verdicts, read once."""
        if self._judged is None:
            self._judged = (
                self._found(refs).mapped(self._judging(), self._record_ddl + VERDICT_DDL).kept()
            )
        return self._judged

    def _found(self, refs: str) -> Batches:
        """The deferred records."""
        if self._deferred is None:
            self._deferred = self.records.deferred(refs)
        return self._deferred

    def _judging(self) -> Work:
        return judging(self._schema.columns, self.reading(), self._places)

    def reader(self) -> ColumnReader:
        """What reads records whose shapes are known."""
        watch = ShapeMonitor(self._places, self._types.known) if self._places else None
        overflow_matters = self._stream.evolution.mode is not SchemaEvolution.NONE
        return ColumnReader(self._schema.columns, watch, overflow_matters)

    def reading(self) -> Reading:
        """What records are read as, by the schemas that are known."""
        avro = AvroTranslation(self._schema.agreed.writers) if self._writers else None
        match self._stream.envelope:
            case Envelope.CLOUDEVENTS if self.records.has_headers:
                return Reading(CloudEventTranslation(avro), None, self._masking)
            case Envelope.NONE | Envelope.CLOUDEVENTS | Envelope.DEBEZIUM | Envelope.DMS:
                return Reading(avro, self._messages, self._masking)
            case _:
                assert_never(self._stream.envelope)

    def _keys(self, value: Callable[[Path], str]) -> Keys:
        """The key's columns; `value` gives SQL of one."""
        there = self._schema.columns
        found = []
        for key in self.key_columns():
            sql = value(key.path) if type_at(there, key.path) else "null"
            for path, values in key.only_of.items():
                concerned = ", ".join(map(text_literal, values))
                sql = f"if(coalesce({value(path)}, '') in ({concerned}), cast({sql} as string), '')"
            found.append((".".join(key.path), sql))
        return found

    def key_columns(self) -> list[Key]:
        """The columns that make the key, and of which rows."""
        concerned: dict[Path, Sequence[str]] = {}
        match self._stream.envelope:
            case Envelope.DEBEZIUM:
                # What concerns no row needs no key.
                concerned = {(OPERATION,): ROW_OPERATIONS}
            case Envelope.NONE | Envelope.CLOUDEVENTS | Envelope.DMS:
                pass
            case _:
                assert_never(self._stream.envelope)
        return [Key(path, concerned) for path in self._stream.identity.key]


def _messages(stream: Stream) -> ConnectMessages | None:
    """What reads a record's text; none where it is the record."""
    match stream.envelope:
        case Envelope.DEBEZIUM:
            return DebeziumMessages(declared_schema(stream.columns), stream.debezium)
        case Envelope.CLOUDEVENTS:
            return None
        case Envelope.NONE | Envelope.DMS:
            pass
        case _:
            assert_never(stream.envelope)
    match stream.format:
        case Format.AVRO:
            # It becomes JSON as Kafka Connect writes it.
            return ConnectMessages(declared_schema(stream.columns))
        case Format.JSON:
            return None
        case Format.CSV | Format.PARQUET | Format.BYTES:
            raise AssertionError(f"{stream.format.value} is not read as JSON")
        case _:
            assert_never(stream.format)


def _masking(stream: Stream) -> Masking | None:
    """What hides the values that nobody may see; of rows of Debezium, the old ones too."""
    if not stream.masks:
        return None
    masks = dict(stream.masks)
    match stream.envelope:
        case Envelope.DEBEZIUM:
            masks |= {(REST, BEFORE, *path): mask for path, mask in stream.masks.items()}
        case Envelope.CLOUDEVENTS:
            if any(path[0] == "data" for path in masks):
                # Bytes that nobody looks into.
                masks[("data_base64",)] = Mask.REDACT
        case Envelope.NONE | Envelope.DMS:
            pass
        case _:
            assert_never(stream.envelope)
    needs_key = Mask.HASH in stream.masks.values()
    return Masking(masks, settings.mask_key() if needs_key else b"")


def _places(stream: Stream) -> Places | None:
    """Where types of events are read; none where a stream has none."""
    kind = stream.identity.event_type
    return Places(kind, stream.events.payload) if stream.events.are_split and kind else None


def _nested_names(kind: T.DataType) -> Mapping[str, Any]:
    """Names of columns as nested dicts, through arrays; empty for what is no struct."""
    if isinstance(kind, T.ArrayType):
        return _nested_names(kind.elementType)
    if isinstance(kind, T.StructType):
        return {member.name: _nested_names(member.dataType) for member in kind.fields}
    return {}
