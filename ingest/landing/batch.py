"""Land one micro-batch in bronze: once, whatever happens in between.

A batch makes at most two commits to its table. The first takes every record that fits at
first sight, in one pass; the second takes the rest, after the table has grown. Each has its
own `_batch_id`, so that a reader who saw the first never misses the second, and a process that
repeats a batch finds by it what an earlier one has written. Delta's own `txnVersion` would do
the same, and cost a look at the table's whole state for each commit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql import Observation
from pyspark.sql import functions as F

from ingest.cdc.current_table import ORDER_RULE
from ingest.landing.deduplication import deduplicated
from ingest.landing.ingest_values import ingest_values, instant, of_the_batch
from ingest.landing.result import BatchResult
from ingest.landing.unreadable_files import broken_files
from ingest.landing.arrow_files import WorkerFiles
from ingest.declarations.stream import Format, Stream
from ingest.decoders.avro import AvroMessages
from ingest.schemas.column_comments import Comments
from ingest.decoders.decoder import MARK, ROW, SOURCE, Decoder, Deferred
from ingest.decoders.file_input import FileInput, Layout
from ingest.decoders.json import JsonRecords
from ingest.decoders.kafka_input import MessageInput
from ingest.decoders.requeued import Requeue
from ingest.decoders.raw import RawMessages
from ingest.schemas.stream_schema import StreamSchema
from ingest.decoders.tabular import TabularRecords
from ingest.decoders.writer_schemas import WriterSchemas
from ingest.errors import HeadwaterError, SourceUnreadable
from ingest.event_types.catalog import EventTypes
from ingest.failpoint import failpoint
from ingest.decoders.file_headers import empty_files
from ingest.parse.lines import packed_otherwise
from ingest.storage.layout import Lake
from ingest.schemas import datetimes
from ingest.schemas.conversion import at, type_at
from ingest.spark.sql import quoted, text_literal
from ingest.schemas import ingest_columns
from ingest.spark import delta_tables
from ingest.storage import delta_log

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

_LAYOUTS = {Format.JSON: Layout.LINES, Format.AVRO: Layout.AVRO}
_NOTHING: dict[str, Any] = {"rows": 0, "rescued": 0, "rejects": 0, "left": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProcessor:
    """Lands the batches of one stream; `clock` gives the time (UTC).

    `writers` are those of messages in Avro, and `parked` the messages that may leave quarantine.
    `blame` gives the files of a batch that an unknown error comes of, with the reason.
    """

    spark: SparkSession
    lake: Lake
    stream: Stream
    schema: StreamSchema
    comments: Comments
    files: WorkerFiles
    types: EventTypes
    writers: WriterSchemas | None
    parked: Requeue | None
    application: str
    first_batch_id: int
    clock: Callable[[], datetime]
    blame: Callable[[Sequence[str], Exception], Mapping[str, str]] | None = None

    @property
    def path(self) -> str:
        """Folder of the bronze table."""
        return self.lake.bronze(self.stream.table)

    @property
    def quarantine_path(self) -> str:
        """Folder of the quarantine table."""
        return self.lake.bronze(self.stream.quarantine_table)

    def land(self, paths: Sequence[str], batch: int, *, repeated: bool) -> BatchResult:
        """Land the files of the query's batch number `batch`.

        `repeated`: an earlier process may have begun this batch, which holds for the first
        batch of each start.
        """
        now = self.clock()
        first = self.first_batch_id + 2 * batch
        unreadable: dict[str, str] = {}
        if self.stream.format in (Format.JSON, Format.CSV):
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
        """Land messages, with the columns of `messages.FROM_KAFKA`, as `land` lands files."""
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
        if repeated:
            self.schema.load(first)
            self.types.load(first, self.schema.columns)
        is_landed = repeated and self._has_first_pass(first)
        decoder = decoding()
        if not (is_landed or (repeated and self.schema.is_ahead)):
            # What is learnt now would change what the first pass, which is over, held back. Nor
            # would it be recorded, where its second pass has learnt already.
            decoder.learn(first, now)
        failpoint("before_first_write")
        counts = self._land_first(decoder, first, now, is_landed)
        failpoint("after_first_write")
        rest = _NOTHING
        if (
            counts["held"]
            or decoder.lets_out(first)
            or (repeated and self._is_landed(self.path, first + 1))
        ):
            try:
                rest = self._land_rest(decoder, counts["marks"] or "", first + 1, now, repeated)
            finally:
                decoder.close()
        if unreadable:
            self._quarantine_files(unreadable, first + 1, now, repeated)
        failpoint("after_quarantine")
        landed = BatchResult(
            batch_id=first,
            files=files + len(unreadable),
            records=counts["records"],
            landed=counts["rows"] + rest["rows"],
            rescued=counts["rescued"] + rest["rescued"],
            quarantined=rest["rejects"] + len(unreadable) - rest["left"],
            has_second=rest["rows"] > 0,
        )
        if not is_landed:
            # What an earlier try has read and written may have changed since.
            return landed.checked(
                self.stream.name,
                len(unreadable),
                may_drop=self.stream.identity.deduplicate_within is not None,
                removed=partial(decoder.removed, counts["marks"] or ""),
            )
        return landed

    def _land_first(
        self, decoder: Decoder, batch_id: int, now: datetime, is_landed: bool
    ) -> dict[str, Any]:
        """Land what fits at first sight; counts, and the marks of what was held back."""
        if is_landed:
            # Only to see what was held back.
            examined, seen = _observed(self._examined_again(decoder, batch_id))
            examined.write.format("noop").mode("overwrite").save()
        else:
            self.schema.record(batch_id, now)
            if written := self.files.landed(decoder, self.schema.columns, batch_id, now):
                return written
            examined, seen = _observed(decoder.examined())
            fresh = self._fresh(decoder.with_row(examined.where(f"{MARK} is null")), now)
            delta_tables.append(self._with_ingest_columns(fresh, batch_id, now), self.path)
        # Counted afterwards, from one column: a look at each wide row on its way costs more.
        return {**seen.get, **self._counted(batch_id)}

    def _examined_again(self, decoder: Decoder, batch_id: int) -> DataFrame:
        """Records with MARK, null where an earlier try has landed them.

        A duplicate that it has dropped is held back, too, and dropped once more.
        """
        if isinstance(decoder, JsonRecords):
            unlanded = decoder.unlanded(self._rows_of(self.path, batch_id))
            if unlanded:
                return unlanded
        with self.schema.as_recorded():
            return decoder.examined()

    def _land_rest(
        self, decoder: Decoder, marks: str, batch_id: int, now: datetime, repeated: bool
    ) -> dict[str, Any]:
        """Land held records, or send them to quarantine; counts of both."""
        if repeated and self._has_second_pass(batch_id):
            self.schema.settle(batch_id)
        decoder.learn_held(marks, batch_id, now)
        rest = decoder.rest(marks)
        # Two tables: neither commit has to wait for the other.
        with ThreadPoolExecutor(1) as beside:
            rejects = beside.submit(self._land_rejects, rest, batch_id, now, repeated)
            is_landed = repeated and self._is_landed(self.path, batch_id)
            if not is_landed:
                rows = self._fresh(rest.rows, now)
                delta_tables.append(self._with_ingest_columns(rows, batch_id, now), self.path)
            failpoint("after_second_write")
            counts = {**self._counted(batch_id), "rejects": rejects.result()}
        # What has landed here is in one of the two tables, so it leaves quarantine last.
        left = self._let_out(rest.leaving, batch_id, is_landed) if rest.leaving else 0
        return {**counts, "left": left}

    def _let_out(self, leaving: str, batch_id: int, is_landed: bool) -> int:
        if not self.parked:
            raise RuntimeError(f"{self.stream.name} keeps nothing in quarantine that may leave it")
        if is_landed:
            return self.parked.left_before(leaving, self.path, batch_id)
        return self.parked.left(leaving)

    def _land_rejects(self, rest: Deferred, batch_id: int, now: datetime, repeated: bool) -> int:
        """Send records to quarantine; how many there are."""
        if rest.are_few:
            few = [reject.asDict(recursive=True) for reject in rest.rejects.collect()]
            self._quarantine_few(few, batch_id, now, "records", repeated)
            return len(few)
        count = rest.rejects.count()
        if count and not self._is_quarantined(batch_id, "records", repeated):
            values = {
                "_ingested_at": of_the_batch(instant(now)),
                "_batch_id": of_the_batch(f"{batch_id}L"),
                "_code_version": text_literal(delta_tables.code_version()),
            } | {name: name for name in rest.rejects.columns}
            delta_tables.append_once(
                rest.rejects.selectExpr(*ingest_values(ingest_columns.QUARANTINE, values)),
                self.quarantine_path,
                application=self._quarantining("records"),
                version=batch_id,
            )
        return count

    def _of_files(self, paths: Sequence[str]) -> Decoder:
        layout = _LAYOUTS.get(self.stream.format)
        if not layout:
            return TabularRecords(self.spark, self.stream, self.schema, paths)
        layout = Layout.WHOLE_FILE if self.stream.multi_line else layout
        records = FileInput(self.spark, paths, layout)
        return JsonRecords(self.stream, self.schema, self.types, records)

    def _of_messages(self, messages: DataFrame) -> Decoder:
        records = MessageInput(self.spark, messages)
        if self.stream.format is Format.BYTES:
            return RawMessages(records)
        if self.writers and self.parked and self.stream.is_plain_avro:
            return AvroMessages(self.stream, self.schema, self.writers, records, self.parked)
        return JsonRecords(self.stream, self.schema, self.types, records, self.writers, self.parked)

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
        for path, reason in unreadable.items():
            log.warning("%s: %s is quarantined whole: %s", self.stream.name, path, reason)
        rows = [
            {SOURCE: path, "_reason_code": "FILE_UNREADABLE", "_reason": reason}
            for path, reason in sorted(unreadable.items())
        ]
        self._quarantine_few(rows, batch_id, now, "files", repeated)

    def _quarantine_few(
        self,
        rejects: Sequence[Mapping[str, Any]],
        batch_id: int,
        now: datetime,
        part: str,
        repeated: bool,
    ) -> None:
        """Write rejects, by the names of their columns, without Spark."""
        if not rejects or self._is_quarantined(batch_id, part, repeated):
            return
        shared = {
            "_ingested_at": now,
            "_batch_id": batch_id,
            "_code_version": delta_tables.code_version(),
        }
        rows = [{**shared, **one} for one in rejects]
        delta_log.append_rows(
            self.quarantine_path,
            [[row.get(name) for name in ingest_columns.QUARANTINE.fieldNames()] for row in rows],
            application=self._quarantining(part),
            version=batch_id,
        )

    def _quarantining(self, part: str) -> str:
        return f"{self.application}/{part}"

    def _is_quarantined(self, batch_id: int, part: str, repeated: bool) -> bool:
        """Whether an earlier try has written this, be it under another application."""
        if not repeated or not self._is_landed(self.quarantine_path, batch_id):
            return False
        there = self._rows_of(self.quarantine_path, batch_id)
        is_file = "_reason_code = 'FILE_UNREADABLE'"
        # A table of living keys keeps what it refuses there, too, under the batch of the change.
        is_ours = f"not ({is_file}) and not coalesce(startswith(_rule, '{ORDER_RULE}'), false)"
        return not there.where(is_file if part == "files" else is_ours).isEmpty()

    def _rows_of(self, path: str, batch_id: int) -> DataFrame:
        rows = self.spark.read.format("delta").load(path)
        return rows.where(rows._batch_id == batch_id)

    def _has_first_pass(self, first: int) -> bool:
        """Whether an earlier try was done with its first pass, be it one that landed nothing."""
        return self._is_landed(self.path, first) or self._has_second_pass(first + 1)

    def _has_second_pass(self, batch_id: int) -> bool:
        """Whether an earlier try has written something of its second pass."""
        return self._is_landed(self.path, batch_id) or self._is_quarantined(
            batch_id, "records", repeated=True
        )

    def _is_landed(self, path: str, batch_id: int) -> bool:
        there = delta_log.counted(path, batch_id)
        return bool(there.rows) if there else not self._rows_of(path, batch_id).isEmpty()

    def _counted(self, batch_id: int) -> dict[str, Any]:
        there = delta_log.counted(self.path, batch_id)
        if there:
            return asdict(there)
        rows = self._rows_of(self.path, batch_id)
        return delta_tables.only_row(
            rows.selectExpr("count(*) as rows", "count(_rescued) as rescued")
        ).asDict()


def _observed(examined: DataFrame) -> tuple[DataFrame, Observation]:
    seen = Observation()
    examined = examined.observe(
        seen,
        F.count(F.lit(1)).alias("records"),
        F.count(MARK).alias("held"),
        F.expr(f"listagg({MARK}, ',')").alias("marks"),
    )
    return examined, seen
