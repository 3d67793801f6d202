"""Whose schemas the messages of a batch were written by, and what they are read as.

All are read as one schema, the declared one or the newest of the topic's subject, by Avro's rules
of resolution; those whose schema cannot be resolved to it are read as they were written.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.avro.functions import from_avro

from ingest.column_names import folded
from ingest.decoders.avro_encodings import as_encoded, decoded, encoded
from ingest.decoders.typed_rows import nullable
from ingest.errors import RegistryUnreachable
from ingest.registry.client import SchemaRegistry
from ingest.registry.compatibility import why_not_readable
from ingest.registry.unsupported import unsupported
from ingest.registry.wire_format import guid_of
from ingest.schemas.stream_schema import AvroSchemas, StreamSchema
from ingest.type_walk import all_types

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

log = logging.getLogger(__name__)

# Seconds for which the newest schema of a subject counts as that, and for which a registry that
# did not answer is not asked for it: each batch would wait for the answer.
_FRESH, _QUIET = 10.0, 60.0
# Ids that are unknown to the registry and asked for in one batch, and remembered as such; rubbish
# may hold any number. Of ids that messages in quarantine have, fewer are asked for at a time:
# streams wait meanwhile.
_MOST_UNKNOWN, _MOST_REMEMBERED, _MOST_WAITING = 1_000, 100_000, 50
_OPTIONS = {
    "mode": "PERMISSIVE",
    "datetimeRebaseMode": "CORRECTED",
    # A branch of a union is called after its type, wherever it stands.
    "enableStableIdentifiersForUnionType": "true",
}
# The only column of a message that is no record.
_VALUE = "value"


@dataclass(frozen=True, slots=True)
class Read:
    """How messages of one writer's schema are read: as `reader`, where given.

    Both are without the logical types that `avro_encodings` is for. `kind`: the columns that come
    out; `why` it cannot be read at all.
    """

    writer: str
    reader: str | None = None
    kind: T.StructType | None = None
    is_record: bool = True
    why: str = ""

    def record(self, body: Column) -> Column:
        """The record, a struct of `kind`, from a message behind its frame."""
        options = _OPTIONS | ({"avroSchema": self.reader} if self.reader else {})
        found = from_avro(body, self.writer, options)
        return found if self.is_record else F.struct(found.alias(_VALUE))


class WriterSchemas:
    """The schemas of one stream's messages; asks the registry for those that are new.

    `are_columns`: fields of records are columns of the table, and there is a reader's schema.
    """

    def __init__(
        self,
        spark: SparkSession,
        registry: SchemaRegistry,
        *,
        are_columns: bool,
        subject: str | None = None,
        declared: str | None = None,
    ) -> None:
        self._spark, self._registry = spark, registry
        self._are_columns, self._subject, self._declared = are_columns, subject, declared
        # The newest schema of the subject, and until when it counts as that.
        self._newest: str | None = None
        self._until = 0.0
        self._reads: dict[tuple[str, str | None], Read] = {}
        # Ids that the registry did not know, by the question in which they were asked for last;
        # and those that it knows, but that no message could be read by.
        self._questions, self._asked = 0, dict[int, int]()
        self._unfit: set[int] = set()

    def known_by_now(self, numbers: Iterable[int]) -> set[int]:
        """Those of some ids that the registry knows; without an answer none."""
        try:
            return set(self._found(set(numbers) - self._unfit, _MOST_WAITING))
        except RegistryUnreachable as error:
            log.debug("%s; nothing leaves quarantine", error)
            return set()

    def _found(self, numbers: Iterable[int], most: int) -> Mapping[int, str]:
        """The schemas of ids, as far as there are; of too many, those not asked for lately."""
        asked = sorted(numbers, key=lambda one: (self._asked.get(one, 0), one))[:most]
        found = {number: self._schema(number) for number in sorted(asked)}
        known = {number: text for number, text in found.items() if text is not None}
        self._questions += 1
        for number in asked:
            self._asked.pop(number, None)
            if number not in known:
                self._asked[number] = self._questions
        for number in list(self._asked)[:-_MOST_REMEMBERED]:
            self._asked.pop(number, None)
        return known

    def _schema(self, number: int) -> str | None:
        guid = guid_of(number)
        return self._registry.schema_of_guid(guid) if guid else self._registry.schema(number)

    def learn(
        self,
        schema: StreamSchema,
        numbers: Iterable[int],
        batch_id: int,
        now: datetime,
        proven: Callable[[Mapping[int, Read]], set[int]] | None = None,
    ) -> None:
        """Learn the schemas of ids, and the reader's as it is now, in one commit.

        `proven` says by which of them some message can be read: rubbish may name any schema.
        Raises RegistryUnreachable where there is no answer, and ids that are not known.
        """
        before = schema.agreed_before(batch_id)
        if before:
            if before != schema.agreed:
                self._agree(schema, before, batch_id, now)
            return
        known = schema.agreed
        added = self._found(set(numbers) - known.writers.keys(), _MOST_UNKNOWN)
        reader = self._reader(known, is_changing=bool(added))
        if added and proven:
            reads = {number: self._read(text, reader) for number, text in added.items()}
            # Those that nothing is read by bring no columns either.
            sound = proven(reads) | {number for number, read in reads.items() if read.why}
            self._unfit |= added.keys() - sound
            added = {number: text for number, text in added.items() if number in sound}
        if added or reader != known.reader:
            self._agree(schema, AvroSchemas({**known.writers, **added}, reader), batch_id, now)

    def reads(self, agreed: AvroSchemas, numbers: Iterable[int]) -> Mapping[int, Read]:
        """How messages are read, by those ids of their writers' schemas that are known."""
        return {
            number: self._read(agreed.writers[number], agreed.reader)
            for number in sorted(agreed.writers.keys() & set(numbers))
        }

    def _reader(self, known: AvroSchemas, *, is_changing: bool) -> str | None:
        """The reader's schema; without an answer it stays as it was, once there is one."""
        if self._declared or not self._subject:
            return self._declared
        if is_changing or time.monotonic() > self._until:
            try:
                self._newest = self._registry.newest(self._subject)
                self._until = time.monotonic() + _FRESH
            except RegistryUnreachable as error:
                if is_changing or not known.writers:
                    raise
                log.warning("%s; messages are read as before", error)
                self._newest, self._until = known.reader, time.monotonic() + _QUIET
        return self._newest

    def _agree(
        self, schema: StreamSchema, agreed: AvroSchemas, batch_id: int, now: datetime
    ) -> None:
        incoming: dict[str, T.StructField] = {}
        # Those that were there before have brought their columns, but for a new reader.
        numbers = {*agreed.newest, *(agreed.writers.keys() - schema.agreed.writers.keys())}
        for one in self.reads(agreed, numbers).values() if self._are_columns else ():
            for field in one.kind.fields if one.kind else ():
                column = T.StructField(field.name, decoded(field.dataType))
                incoming.setdefault(folded(field.name), column)
        schema.agree(agreed, T.StructType(list(incoming.values())), batch_id, now)

    def _read(self, writer: str, reader: str | None) -> Read:
        known = self._reads.get((writer, reader))
        if known is None:
            known = self._reads[writer, reader] = self._judged(writer, reader)
        return known

    def _judged(self, writer: str, reader: str | None) -> Read:
        try:
            schema = json.loads(writer)
            if why := unsupported(schema):
                return Read(writer, why=why)
            if reader is not None and why_not_readable(writer, reader) is not None:
                return self._read(writer, None)
            writer = json.dumps(as_encoded(schema))
            if reader is not None:
                schema = json.loads(reader)
                reader = json.dumps(as_encoded(schema))
            nothing = F.lit(None).cast("binary")
            kind = self._spark.range(0).select(Read(writer, reader).record(nothing)).schema[0]
            found = encoded(schema, nullable(kind.dataType))
        except Exception as error:  # what a registry holds may be anything
            return Read(writer, why=f"not a schema that Spark reads: {_first_line(error)}")
        is_record = isinstance(kind.dataType, T.StructType)
        if not isinstance(found, T.StructType):
            found = T.StructType([T.StructField(_VALUE, found)])
        if holds_nothing(found):
            return Read(writer, why="a record without fields, or a field that is always null")
        if has_equal_names(found):
            return Read(writer, why="two fields differ in case only")
        return Read(writer, reader, found, is_record=is_record)


def has_equal_names(kind: T.DataType) -> bool:
    """Whether Spark takes two fields of one record for the same."""
    return any(
        len(set(map(folded, one.fieldNames()))) < len(one.fields)
        for one in all_types(kind)
        if isinstance(one, T.StructType)
    )


def holds_nothing(kind: T.DataType) -> bool:
    """Whether a type is, or holds, one that has no values: no file of a table could."""
    return any(
        isinstance(one, T.NullType) or (isinstance(one, T.StructType) and not one.fields)
        for one in all_types(kind)
    )


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" :")]
    lines_of_error = [line for line in lines if not line.startswith("An error occurred while")]
    return (lines_of_error or [type(error).__name__])[0].removeprefix(": ")[:200]
