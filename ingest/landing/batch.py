"""Land one micro-batch in bronze: once, whatever happens in between.

A batch makes at most two commits to its table. The first takes every record that fits at first
sight, in one pass; the second takes the deferred records, after the table has grown. Each has its
own `_batch_id`, so that a reader who saw the first never misses the second, and each says in
Delta's log which it is, so that a process that repeats a batch knows what an earlier try wrote.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, assert_never

from ingest.declarations.stream import Format, Stream
from ingest.decoders.avro import AvroMessages
from ingest.decoders.decoder import REF, ROW, SOURCE, Decoder, Deferred
from ingest.decoders.file_headers import empty_files
from ingest.decoders.file_input import FileInput, Layout
from ingest.decoders.json import JsonRecords
from ingest.decoders.kafka_input import MessageInput
from ingest.decoders.raw import RawMessages
from ingest.decoders.tabular import TabularRecords
from ingest.decoders.writer_schemas import WriterSchemas
from ingest.errors import HeadwaterError, SourceUnreadable
from ingest.event_types.catalog import EventTypes
from ingest.failpoint import failpoint
from ingest.landing.deduplication import deduplicated
from ingest.landing.result import BatchResult
from ingest.landing.unreadable_files import broken_files
from ingest.landing.writers import Writers
from ingest.parse.lines import packed_otherwise
from ingest.quarantine.requeue import Requeue
from ingest.quarantine.table import FILES, RECORDS, QuarantineTable
from ingest.schemas import datetimes, ingest_columns
from ingest.schemas.column_comments import Comments
from ingest.schemas.conversion import at, type_at
from ingest.schemas.ingest_columns import ingest_values, instant, of_the_batch
from ingest.schemas.stream_schema import StreamSchema
from ingest.spark.sql import quoted
from ingest.storage.layout import Lake
from ingest.writers.bronze_writer import Committed, FirstPass, PassToWrite, WriteResult
from ingest.writers.spark_writer import observed


if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What an earlier try of a batch has written: its two commits, and its refused records."""

    first: Committed | None = None
    second: Committed | None = None
    has_rejects: bool = False

    @property
    def has_second_pass(self) -> bool:
        """Whether it has written something of its second pass."""
        return self.second is not None or self.has_rejects


@dataclass(frozen=True, slots=True)
class _SecondPass:
    """What became of deferred records; `requeued`: of the rejects, how many were refused before."""

    written: WriteResult = WriteResult()
    rejects: int = 0
    requeued: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProcessor:
    """Lands the batches of one stream; `clock` gives the time (UTC).

    `writer_schemas` are those of messages in Avro, and `requeue` knows the messages that may
    leave quarantine. `stream_run` is the id of the stream's checkpoint.
    `blame` gives the files of a batch that an unknown error comes of, with the reason.
    """

    spark: SparkSession
    lake: Lake
    stream: Stream
    schema: StreamSchema
    comments: Comments
    writers: Writers
    types: EventTypes
    writer_schemas: WriterSchemas | None
    requeue: Requeue | None
    stream_run: str
    first_batch_id: int
    clock: Callable[[], datetime]
    blame: Callable[[Sequence[str], Exception], Mapping[str, str]] | None = None

    @property
    def path(self) -> str:
        """Folder of the bronze table."""
        return self.lake.bronze(self.stream.table)

    @property
    def quarantine(self) -> QuarantineTable:
        """The stream's quarantine."""
        path = self.lake.bronze(self.stream.quarantine_table)
        return QuarantineTable(self.spark, path, self.stream_run)

    def land(self, paths: Sequence[str], batch: int, *, repeated: bool) -> BatchResult:
        """Land the files of the query's batch number `batch`.

        `repeated`: an earlier process may have begun this batch, which holds for the first
        batch of each start.
        """
        now = self.clock()
        first = self.first_batch_id + 2 * batch
        unreadable: dict[str, str] = {}
        if self.stream.format.is_text:
            unreadable |= packed_otherwise(paths)
        if self.stream.multi_line and self.stream.format is Format.JSON:
            # A file is a record there; this says more than what is wrong with no JSON at all.
            unreadable |= {path: f"{path}: the file is empty" for path in empty_files(paths)}
        readable = [path for path in paths if path not in unreadable]
        while readable:
            try:
                return self._landed(
                    partial(self._of_files, readable), len(readable), unreadable, first, repeated
                )
            except Exception as error:
                if not isinstance(error, SourceUnreadable) and isinstance(error, HeadwaterError):
                    raise
                broken: Mapping[str, str] = broken_files(readable, self.stream)
                if not broken and self.blame:
                    broken = self.blame(readable, error)
                if not broken:
                    raise
                unreadable |= broken
                repeated = True
                readable = [path for path in readable if path not in broken]
        self._quarantine_files(unreadable, first + 1, now, repeated)
        return BatchResult(batch_id=first, files=len(paths), quarantined=len(unreadable))

    def try_out(self, paths: Sequence[str]) -> None:
        """Land files in tables that are thrown away: what is wrong with them is not looked for."""
        self._landed(partial(self._of_files, paths), len(paths), {}, 0, repeated=False)

    def land_messages(self, messages: DataFrame, batch: int, *, repeated: bool) -> BatchResult:
        """Land messages, with the columns of `kafka_source.COLUMNS`, as `land` lands files."""
        first = self.first_batch_id + 2 * batch
        return self._landed(partial(self._of_messages, messages), 0, {}, first, repeated)

    def _landed(
        self,
        decoding: Callable[[], Decoder],
        files: int,
        unreadable: dict[str, str],
        first: int,
        repeated: bool,
    ) -> BatchResult:
        now = self.clock()
        earlier = _Earlier()
        if repeated:
            self.schema.load(first)
            self.types.load(first, self.schema.columns)
            earlier = self._earlier(first)
        decoder = decoding()
        if earlier.first is None and not self.schema.has_recorded(first + 1):
            # What is learnt later would change what the first pass deferred. Nor would it be
            # recorded, where an earlier try has learnt in its second pass already.
            decoder.learn(first, now)
        failpoint("before_first_write")
        try:
            counts = self._first_pass(decoder, first, now, earlier)
            failpoint("after_first_write")
            second = _SecondPass()
            is_requeueing = self.requeue is not None and bool(self.requeue.leaving(first))
            if counts.deferred or is_requeueing or earlier.second is not None:
                second = self._second_pass(decoder, counts.refs, first + 1, now, earlier)
            if unreadable:
                self._quarantine_files(unreadable, first + 1, now, repeated)
            failpoint("after_quarantine")
            result = BatchResult(
                batch_id=first,
                files=files + len(unreadable),
                records=counts.records,
                landed=counts.written.rows + second.written.rows,
                rescued=counts.written.rescued + second.written.rescued,
                quarantined=second.rejects + len(unreadable) - second.requeued,
                has_second=second.written.rows > 0,
            )
            if earlier.first is not None:
                # What an earlier try has read and written may have changed since.
                return result
            return result.checked(
                self.stream.name,
                len(unreadable),
                may_drop=self.stream.identity.deduplicate_within is not None,
                removed=partial(decoder.removed, counts.refs),
            )
        finally:
            decoder.close()

    def _earlier(self, first: int) -> _Earlier:
        written, second = self.writers.commits.committed((first, first + 1))
        has_rejects = self.quarantine.has(RECORDS, first + 1)
        if written is None and (second is not None or has_rejects):
            # Of a try by earlier code, whose first commit had no rows and left no trace.
            written = Committed(WriteResult(), is_logged=False)
        return _Earlier(written, second, has_rejects)

    def _first_pass(
        self, decoder: Decoder, batch_id: int, now: datetime, earlier: _Earlier
    ) -> FirstPass:
        """Land what fits at first sight."""
        if earlier.first is not None:
            return self._repeated(decoder, batch_id, earlier.first)
        self.schema.record(batch_id, now)
        return self.writers.first_pass(
            decoder,
            PassToWrite(
                batch_id,
                now,
                self.schema.columns,
                lambda rows: self._with_ingest_columns(self._fresh(rows, now), batch_id, now),
            ),
        )

    def _repeated(self, decoder: Decoder, batch_id: int, earlier: Committed) -> FirstPass:
        """What the first pass of an earlier try has read and deferred.

        A duplicate that it has dropped may be deferred, too, and is dropped once more.
        """
        if earlier.records is not None and earlier.refs is not None:
            deferred = earlier.refs.count(",") + 1 if earlier.refs else 0
            return FirstPass(earlier.records, deferred, earlier.refs, earlier.written)
        unlanded = None
        if not earlier.is_logged and isinstance(decoder, JsonRecords):
            # Earlier code did not say which of its writers has judged the records.
            rows = self.spark.read.format("delta").load(self.path)
            unlanded = decoder.unlanded(rows.where(rows._batch_id == batch_id))
        with self.schema.as_recorded():
            decoded, seen = observed(unlanded if unlanded is not None else decoder.decode())
        decoded.write.format("noop").mode("overwrite").save()
        counts = seen.get
        return FirstPass(
            counts["records"], counts["deferred"], counts["refs"] or "", earlier.written
        )

    def _second_pass(
        self, decoder: Decoder, refs: str, batch_id: int, now: datetime, earlier: _Earlier
    ) -> _SecondPass:
        """Land deferred records, or send them to quarantine."""
        if earlier.has_second_pass:
            self.schema.settle(batch_id)
        requeued = self.requeue.for_batch if self.requeue else (lambda _: None)
        deferred = decoder.decode_deferred(refs, requeued, batch_id, now)
        rejects = self._quarantine_records(deferred, batch_id, now, earlier.has_rejects)
        if earlier.second is not None:
            written = earlier.second.written
        else:
            rows = self._fresh(deferred.rows, now)
            written = self.writers.append(
                self._with_ingest_columns(rows, batch_id, now), batch_id
            )
        failpoint("after_second_write")
        # What has landed here is in one of the two tables, so it leaves quarantine last.
        left = 0
        if self.requeue:
            left = self.requeue.delete_landed(
                self.path, batch_id, by_earlier_try=earlier.second is not None
            )
        return _SecondPass(written, rejects, left)

    def _quarantine_records(
        self, deferred: Deferred, batch_id: int, now: datetime, are_there: bool
    ) -> int:
        """Send records to quarantine unless they are there; how many there are."""
        if deferred.are_few:
            few = [reject.asDict(recursive=True) for reject in deferred.rejects.collect()]
            if not are_there:
                self.quarantine.append_few(few, batch_id, now, RECORDS)
            return len(few)
        count = deferred.rejects.count()
        if count and not are_there:
            self.quarantine.append(deferred.rejects, batch_id, now)
        return count

    def _of_files(self, paths: Sequence[str]) -> Decoder:
        match self.stream.format:
            case Format.CSV | Format.PARQUET:
                return TabularRecords(self.spark, self.stream, self.schema, paths)
            case Format.JSON:
                layout = Layout.WHOLE_FILE if self.stream.multi_line else Layout.LINES
            case Format.AVRO:
                layout = Layout.AVRO
            case Format.BYTES:
                raise AssertionError("a declaration of files has no format bytes")
            case _:
                assert_never(self.stream.format)
        records = FileInput(self.spark, paths, layout)
        return JsonRecords(self.stream, self.schema, self.types, records)

    def _of_messages(self, messages: DataFrame) -> Decoder:
        records = MessageInput(self.spark, messages)
        match self.stream.format:
            case Format.BYTES:
                return RawMessages(records)
            case Format.AVRO if self.writer_schemas and self.requeue and self.stream.is_plain_avro:
                return AvroMessages(
                    self.stream, self.schema, self.writer_schemas, records, self.requeue
                )
            case Format.JSON | Format.AVRO:
                writers, requeue = self.writer_schemas, self.requeue
                return JsonRecords(
                    self.stream, self.schema, self.types, records, writers, requeue
                )
            case Format.CSV | Format.PARQUET:
                raise AssertionError("a declaration of messages has no format csv or parquet")
            case _:
                assert_never(self.stream.format)

    def _fresh(self, rows: DataFrame, now: datetime) -> DataFrame:
        identity = self.stream.identity
        is_known = all(type_at(self.schema.columns, path) for path in identity.event_id)
        if not identity.deduplicate_within or not identity.event_id or not is_known:
            return rows
        landed = self.spark.read.format("delta").load(self.path)
        is_comparable = all(type_at(landed.schema, path) for path in identity.event_id)
        return deduplicated(
            rows,
            landed if is_comparable else None,
            identity.event_id,
            now - identity.deduplicate_within,
        )

    def _with_ingest_columns(self, rows: DataFrame, batch_id: int, now: datetime) -> DataFrame:
        identity, schema = self.stream.identity, self.schema.columns
        time, event_type = (
            path if path and type_at(schema, path) else None
            for path in (identity.event_time, identity.event_type)
        )
        day = time and datetimes.utc_date_of(type_at(schema, time), at(ROW, time))
        name = f"try_cast({at(ROW, event_type)} as string)" if event_type else "null"
        today = f"date'{now:%Y-%m-%d}'"
        values = {
            "_ingested_at": of_the_batch(instant(now)),
            "_batch_id": of_the_batch(f"{batch_id}L"),
            "_event_date": f"coalesce({day}, {today})" if day else today,
            "_event_type": name,
        } | {name: name for name in rows.columns if name in ingest_columns.NAMES}
        columns_of = (f"{at(ROW, (name,))} as {quoted(name)}" for name in schema.fieldNames())
        found = rows.selectExpr(*ingest_values(ingest_columns.INGEST, values), *columns_of)
        new = self.comments.of_new(schema.fieldNames(), self.schema.agreed)
        for name, comment in new.items():
            found = found.withMetadata(name, {"comment": comment})
        return found

    def _quarantine_files(
        self, unreadable: dict[str, str], batch_id: int, now: datetime, repeated: bool
    ) -> None:
        if repeated and self.quarantine.has(FILES, batch_id):
            return
        for path, reason in unreadable.items():
            log.warning("%s: %s is quarantined whole: %s", self.stream.name, path, reason)
        rows = [
            {SOURCE: path, "_reason_code": "FILE_UNREADABLE", "_reason": reason}
            for path, reason in sorted(unreadable.items())
        ]
        self.quarantine.append_few(rows, batch_id, now, FILES)
