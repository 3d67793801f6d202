"""What is said of records that are looked at one by one: by Python, in Spark's workers or here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from ingest.decoders.arrow_batches import Batches, Work
from ingest.decoders.decoder import SCHEMA_ID
from ingest.decoders.input import FITS, ColumnReader, gathered
from ingest.envelopes.message_reader import Reading
from ingest.event_types.catalog import rule_of
from ingest.event_types.inference import Places, hexadecimal
from ingest.event_types.variations import KnownShapes
from ingest.parse.json_columns import legible
from ingest.parse.json_exact import Refused, loaded, written
from ingest.parse.json_fit import arrow_type, taken, without_halves
from ingest.parse.json_shapes import shape_text
from ingest.registry.wire_format import Headers, headers_in
from ingest.schemas.shape import parse_shape, written_shape

# What is known of a record that was looked at: why it cannot be read, or its text and shape;
# and of its event, where types have views, the type, the shape and, of the first of each
# such pair in a batch, the payload.
_VERDICT = ("code", "reason", "text", "shape")
EVENT = ("event_type", "event_shape", "payload")
# The id of its writer's schema, which masked bytes no longer show.
_WRITER = "writer"
VERDICT_DDL = "".join(f", {name} string" for name in (_WRITER, *_VERDICT, *EVENT))


def _verdict(
    raw: bytes, headers: Headers, columns: T.StructType, reading: Reading
) -> tuple[str | None, ...]:
    try:
        text, document = reading.read(raw, headers)
        return None, None, text, shape_text(document, columns)
    except Refused as refused:
        # A reason may quote the value.
        reason = "values are masked, so no more is said" if reading.masking else refused.reason
        return refused.code, reason, None, None


def fitting(columns: ColumnReader) -> Work:
    """Adds to judged records whether they fit."""

    def fit(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in gathered(batches):
            yield batch.append_column(FITS, columns.read(batch["text"])[FITS])

    return fit


def unseen(records: Batches) -> float:
    """Which part of other records will be like none of these, and not fit.

    That is, as Good and Turing reckon, how many there are of which there is but one.
    """
    rows = records.values([FITS, "text", "shape", *EVENT[:2]])
    kinds = Counter(tuple(kind) for fits, text, *kind in rows if text is not None and not fits)
    return sum(count == 1 for count in kinds.values()) / max(len(rows), 1)


def judging(columns: T.StructType, reading: Reading, places: Places | None) -> Work:
    """Adds to records, by their `value`, their verdicts, and what is said of their events."""

    def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values = batch["value"].to_pylist()
            has_headers = reading.translation and "_headers" in batch.schema.names
            headers = headers_in(batch["_headers"]) if has_headers else [None] * len(values)
            verdicts = [
                _verdict(raw, own, columns, reading)
                for raw, own in zip(values, headers, strict=True)
            ]
            writers = reading.schema_ids(values, headers)
            judged = _shown(batch, verdicts) if reading.masking else batch
            judged = judged.append_column(_WRITER, writers)
            for name, verdict_texts in zip(_VERDICT, zip(*verdicts, strict=True), strict=True):
                judged = judged.append_column(name, pa.array(verdict_texts, pa.string()))
            nothing: list[list[str | None]] = [[None] * len(judged)] * len(EVENT)
            events = _event_columns(judged["text"], places) if places else nothing
            for name, texts in zip(EVENT, events, strict=True):
                judged = judged.append_column(name, pa.array(texts, pa.string()))
            yield judged

    return judge


def _shown(batch: pa.RecordBatch, verdicts: Sequence[tuple[str | None, ...]]) -> pa.RecordBatch:
    """The batch with what can be shown of its records; nothing of those that cannot be read."""
    shown = [None if text is None else text.encode() for _, _, text, _ in verdicts]
    return batch.set_column(
        batch.schema.get_field_index("value"), "value", pa.array(shown, pa.binary())
    )


def _event_columns(texts: pa.StringArray, places: Places) -> Sequence[list[str | None]]:
    """The type and the shape of each event, and a payload of each pair; nothing of what is none."""
    types: list[str | None] = [None] * len(texts)
    found, payloads = types.copy(), types.copy()
    texts = _readable(texts)
    events = places.events(texts)
    shapes = [written_shape(shape) for _, shape in events.pairs]
    for number, pair in enumerate(events.of.tolist()):
        if pair >= 0:
            types[number], found[number] = events.pairs[pair][0], shapes[pair]
    pairs, firsts = np.unique(events.of, return_index=True)
    for number in firsts[pairs >= 0].tolist():
        payloads[number] = written(places.payload_of(texts[number].as_py()))
    return types, found, payloads


def _readable(texts: pa.StringArray) -> pa.StringArray:
    """Texts of JSON as DuckDB reads them: it gives up on half of a surrogate pair."""
    may_have_halves = pc.match_substring(texts, "\\ud", ignore_case=True).fill_null(False)
    if not pc.any(may_have_halves).as_py():
        return texts
    own = [
        written(without_halves(loaded(text))) if may_have_half else text
        for text, may_have_half in zip(texts.to_pylist(), may_have_halves.to_pylist(), strict=True)
    ]
    return pa.array(own, pa.string())


def thinned(work: Work, places: Places) -> Work:
    """The same work, on records that are worth a look: one of those that are alike."""

    def thin(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in gathered(batches):
            yield batch.filter(pa.array(places.firsts(legible(batch["value"]))))

    return lambda batches: work(thin(batches))


def identifying(known: KnownShapes, refused: Mapping[int, str]) -> Work:
    """Adds the variation of judged records, or the id of their schema.

    Those of a refused variation lose their text.
    """
    reasons = {hexadecimal(number): reason for number, reason in refused.items()}

    def identified(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        @cache
        def variation_of(event_type: str, shape: str) -> str:
            return hexadecimal(known.judged(event_type, parse_shape(shape))[0])

        for batch in batches:
            records = batch.to_pylist()
            for one in records:
                one[SCHEMA_ID], one["rule"] = one[_WRITER], None
                if one["event_type"] is None or one["event_shape"] is None:
                    continue
                one[SCHEMA_ID] = variation_of(one["event_type"], one["event_shape"])
                if reason := reasons.get(one[SCHEMA_ID]):
                    one |= {"code": "INCOMPATIBLE_CHANGE", "reason": reason, "text": None}
                    one["rule"] = rule_of(one["event_type"])
            schema = batch.schema
            for name in (SCHEMA_ID, "rule"):
                schema = schema.append(pa.field(name, pa.string()))
            yield pa.RecordBatch.from_pylist(records, schema=schema)

    return identified


def taking(kind: T.StructType, column: str) -> Work:
    """Of records that can be read, by their `text`, what `kind` takes of them, as a `column`."""

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            there = batch.filter(batch["text"].is_valid())
            texts = there["text"].to_pylist()
            values = pa.array([taken(loaded(text), kind) for text in texts], arrow_type(kind))
            found = there.drop_columns([_WRITER, *_VERDICT[:2], _VERDICT[3], *EVENT, "rule"])
            yield found.append_column(column, values)

    return take
