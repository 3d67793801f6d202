"""A stream's own table of the living keys of its changes: `bronze.<stream>__current`.

It follows bronze after each batch, with the SQL of `apply_changes`. Changes that were applied
may be applied again, so a process that dies in between costs nothing but the repetition.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from pyspark.sql import functions as F
from pyspark.sql import types as T

from ingest.cdc.apply import ChangeApplication, Outcome, Target
from ingest.cdc.rules import Rules
from ingest.declarations.stream import Envelope, Stream
from ingest.envelopes.debezium import CHANGE_OPERATIONS, INCOMPLETE, OPERATION, REST, TRUNCATE
from ingest.quarantine.table import ORDER_RULE
from ingest.schemas import ingest_columns
from ingest.schemas.conversion import type_at
from ingest.spark import delta_tables
from ingest.spark.checkpointed import kept, release
from ingest.spark.sql import quoted, text_literal
from ingest.storage import delta_log
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

log = logging.getLogger(__name__)

# About so many changes are applied at once.
_AT_ONCE = 2_000_000
# So many rows of bronze take less time to copy than to find again, which is done three times.
_FEW = 100_000

# What stands before every change: DMS gives no sequence to the rows of a full load.
_BEFORE_ALL: dict[T.DataType, str] = {
    T.StringType(): "''",
    T.LongType(): str(-(2**63)),
    T.DateType(): "date'0001-01-01'",
    T.TimestampType(): "timestamp'0001-01-01 00:00:00'",
}


class CurrentRowsTable:
    """Follows the bronze table of one stream; `application` is that of its landing."""

    def __init__(self, spark: SparkSession, lake: Lake, stream: Stream, application: str) -> None:
        self._spark, self._lake, self._application = spark, lake, application
        self.stream = stream
        self._changes = self._application_of_changes()

    @property
    def path(self) -> str:
        """Folder of the table."""
        return self._lake.bronze(self.stream.current_table)

    def follow(self, applied: int) -> Iterator[int]:
        """Apply what bronze holds past the batch `applied`; the newest batch applied, each time.

        Everything, where there is no such table yet.
        """
        bronze = self._lake.bronze(self.stream.table)
        newest = delta_log.newest_batch(bronze)
        is_new = not self._lake.is_table(self.path)
        since = -1 if is_new else applied
        if is_new and applied >= 0:
            # Somebody removed the table: who is killed before it is whole again must know it.
            yield -1
        for after, up_to, rows in delta_log.batch_ranges(bronze, since, newest, _AT_ONCE):
            with self._arrived(after, up_to, is_kept=rows <= _FEW) as view:
                self._say(self._changes(view))
            if is_new:
                table = (self.stream.current_table, self.stream.name, "current")
                delta_tables.register(self._lake, [table])
                is_new = False
            yield up_to

    @contextlib.contextmanager
    def _arrived(self, after: int, up_to: int, *, is_kept: bool) -> Iterator[str]:
        """A view of the changes that those batches brought, while they are applied."""
        bronze = self._spark.read.format("delta").load(self._lake.bronze(self.stream.table))
        rows = bronze.where(F.col("_batch_id").between(after + 1, up_to))
        if is_kept:
            rows = kept(rows)
        try:
            view = f"{self.stream.table}__arrived"
            self._changes_of(rows).createOrReplaceTempView(view)
            yield view
        finally:
            if is_kept:
                release(rows)

    def _changes_of(self, rows: DataFrame) -> DataFrame:
        match self.stream.envelope:
            case Envelope.DEBEZIUM:
                self._warn_of_incomplete(rows)
                return rows.where(F.col(OPERATION).isin(*CHANGE_OPERATIONS))
            case Envelope.DMS:
                return self._with_full_load_first(self._without_empty_messages(rows))
            case Envelope.NONE | Envelope.CLOUDEVENTS:
                return self._without_empty_messages(rows)
            case _:
                assert_never(self.stream.envelope)

    def _without_empty_messages(self, rows: DataFrame) -> DataFrame:
        """A message without a value has no key, and says nothing of a row."""
        if not self.stream.has_messages:
            return rows
        keys = [f"{quoted(name)} is not null" for (name,) in self.stream.identity.key]
        return rows.where(" and ".join(keys))

    def _with_full_load_first(self, rows: DataFrame) -> DataFrame:
        for (name,) in self.stream.identity.sequence_by:
            least = _BEFORE_ALL.get(rows.schema[name].dataType)
            if least:
                column = quoted(name)
                first = f"if({column} is null and Op is null, {least}, {column})"
                rows = rows.withColumn(name, F.expr(first))
        return rows

    def _warn_of_incomplete(self, rows: DataFrame) -> None:
        if not type_at(rows.schema, (REST, INCOMPLETE)):
            return
        count = rows.where(f"{REST}.{INCOMPLETE}").count()
        if count:
            log.warning(
                "%s: %d rows were created without values that PostgreSQL did not send; they are "
                "null, and stay so if a key has changed: set REPLICA IDENTITY FULL on the table",
                self.stream.name,
                count,
            )

    def _application_of_changes(self) -> ChangeApplication:
        identity = self.stream.identity
        rules = Rules(
            keys=tuple(name for (name,) in identity.key),
            sequence_by=tuple(name for (name,) in identity.sequence_by),
            apply_as_deletes=identity.apply_as_deletes or "",
        )
        match self.stream.envelope:
            case Envelope.DEBEZIUM:
                rules = replace(
                    rules,
                    apply_as_truncates=f"{OPERATION} = '{TRUNCATE}'",
                    unavailable_value=self.stream.debezium.unavailable_value_placeholder,
                    except_column_list=(REST,),
                )
            case Envelope.NONE | Envelope.CLOUDEVENTS | Envelope.DMS:
                pass
            case _:
                assert_never(self.stream.envelope)
        target = Target(
            table=f"delta.`{self.path}`",
            state=f"delta.`{self.path}__memory`",
            view=f"{self.stream.table}__current",
            path=self.path,
            properties=delta_tables.LAYER,
        )
        return ChangeApplication(self._spark, target, rules, on_refused=self._quarantine)

    def _quarantine(self, refused: DataFrame) -> None:
        """Keep changes without a sequence; landing has refused those without a key."""
        path = self._lake.bronze(self.stream.quarantine_table)
        application = f"{self._application}/current"
        held = delta_log.last_version(path, application)
        origin = F.from_json("_row", "_batch_id long, _source string, _ingested_at timestamp")
        rows = refused.withColumn("_origin", origin).selectExpr("*", "_origin.*")
        rows = rows.where(F.col("_batch_id") > held)
        newest = rows.agg(F.max("_batch_id")).first()
        if newest is None or newest[0] is None:
            return
        sequence = ", ".join(name for (name,) in self.stream.identity.sequence_by)
        values = {
            "_ingested_at": "_ingested_at",
            "_batch_id": "_batch_id",
            "_source": "_source",
            "_raw": "cast(_row as binary)",
            "_reason_code": "_reason_code",
            "_reason": "_reason",
            "_rule": text_literal(f"{ORDER_RULE}{sequence}"),
            "_code_version": text_literal(delta_tables.code_version()),
        }
        delta_tables.append_once(
            rows.selectExpr(
                *(
                    f"cast({values.get(one.name, 'null')} as {one.dataType.simpleString()})"
                    f" as {one.name}"
                    for one in ingest_columns.QUARANTINE.fields
                )
            ),
            path,
            application=application,
            version=newest[0],
        )

    def _say(self, outcome: Outcome) -> None:
        log.info(
            "%s: current: %d upserted, %d deleted, %d late, %d tied, %d quarantined",
            self.stream.name,
            outcome.upserted,
            outcome.deleted,
            outcome.late,
            outcome.tied,
            outcome.quarantined,
        )
