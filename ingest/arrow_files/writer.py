"""First passes over batches whose rows Spark's Python workers write to files themselves.

Only where the workers see the table's folder as the driver does.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from ingest.arrow_files.table_writer import TableWriter, Target, Written, can_write
from ingest.decoders.decoder import Decoder
from ingest.decoders.json import JsonRecords
from ingest.decoders.kafka_input import MessageInput
from ingest.errors import StreamLocked
from ingest.failpoint import failpoint
from ingest.schemas.conversion import type_at
from ingest.schemas.ingest_columns import INGEST
from ingest.spark.delta_commit import FileAppend
from ingest.storage.layout import storage_at
from ingest.type_walk import has_variant
from ingest.writers.bronze_writer import FirstPass, PassToWrite
from ingest.writers.table_commits import TableCommits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql import types as T

log = logging.getLogger(__name__)

# Batches for which the writer stays off after one that needed Spark's parser: the workers had
# read that one for nothing.
_OFF_FOR = 100
# Deferred records that a commit names, in some 40 bytes each: a batch that is repeated knows them.
_MOST_REFS = 5_000


class ArrowWriter:
    """See BronzeWriter: messages in JSON, into a table that need not grow."""

    def __init__(self, spark: SparkSession, commits: TableCommits) -> None:
        self._spark, self._commits = spark, commits
        self._storage = storage_at(commits.path)
        self._off_for = 0
        self._is_first = True

    def first_pass(self, decoder: Decoder, batch: PassToWrite) -> FirstPass | None:
        """See BronzeWriter."""
        if self._is_first:
            self._is_first = False
            # Another process may have committed them.
            self._commits.begin(batch.batch_id)
            self._remove_remains(batch.batch_id)
        if self._off_for:
            self._off_for -= 1
            return None
        if not isinstance(decoder, JsonRecords) or not _can_write(decoder):
            return None
        append = FileAppend(self._spark, self._commits.path)
        if not append.is_able or not _has_just(batch.columns, append.columns):
            return None
        written = self._written(decoder, batch, append.columns)
        if written.is_unsuited:
            self._off_for = _OFF_FOR
            log.info(
                "%s: batch %d: many values need Spark's parser; arrow writer off for %d batches",
                self._commits.path.rpartition("/")[2],
                batch.batch_id,
                _OFF_FOR,
            )
            self._remove(written)
            return None
        if written.deferred > _MOST_REFS:
            self._remove(written)
            return None
        failpoint("before_first_commit")
        commit = self._commits.begin(batch.batch_id)
        if not all(self._storage.exists(file.name) for file in written.files):
            raise StreamLocked(
                f"{self._commits.path}: another process has begun batch {batch.batch_id}, and "
                "removed the files of this one. Stop one of the two"
            )
        # Past this line the files may be the table's, whatever the commit answers.
        append.commit(written.files, commit.metadata(written.records, written.refs))
        result = self._commits.finished(commit)
        return FirstPass(written.records, written.deferred, written.refs, result)

    def _written(self, decoder: JsonRecords, batch: PassToWrite, table: T.StructType) -> Written:
        reader, records = decoder.reader(), decoder.records
        writer = TableWriter(
            reader.kind,
            reader.watch,
            reader.overflow_matters,
            target=Target(
                folder=self._commits.path,
                prefix=f"batch-{batch.batch_id}-{self._commits.stream_run}-",
                columns=table,
                batch_id=batch.batch_id,
                now=batch.now,
            ),
            identity=decoder.identity,
            provenance=records.provenance,
            place=records.place,
            keys=decoder.key_columns(),
        )
        return Written.by(records.read(writer, decoder.reading()))

    def _remove(self, written: Written) -> None:
        for file in written.files:
            self._storage.delete(file.name)

    def _remove_remains(self, batch_id: int) -> None:
        """Remove files of this batch and later ones, which a killed process did not commit.

        The stream's lock says that it does not run any more. Files of earlier checkpoints stay: a
        recovery may give out numbers again, of which the table's earlier versions have files.
        """
        data_file = re.compile(rf"batch-(\d+)-{re.escape(self._commits.stream_run)}-.*\.parquet")
        for one in list(self._storage.list("")):
            found = data_file.fullmatch(one.name)
            if found and int(found[1]) >= batch_id:
                self._storage.delete(one.name)


def _can_write(decoder: JsonRecords) -> bool:
    """Whether the workers can write records to the table's files.

    Of a file a process that repeats a batch could not find out what an earlier one has deferred:
    a row does not have its line.
    """
    identity, columns = decoder.identity, decoder.columns
    keys = [path for key in decoder.key_columns() for path in (key.path, *key.only_of)]
    return (
        isinstance(decoder.records, MessageInput)
        and not identity.deduplicate_within
        and can_write(columns, identity.event_time, identity.event_type)
        and all(type_at(columns, path) for path in keys)
    )


def _has_just(columns: T.StructType, table: T.StructType) -> bool:
    """Whether a table has ingest's columns and those, just as they are, so that it need not grow.

    Of another VARIANT that it has, Arrow cannot write nulls.
    """
    wanted = {one.name: one.dataType for one in [*INGEST.fields, *columns.fields]}
    there = {one.name: one.dataType for one in table.fields}
    others = [kind for name, kind in there.items() if name not in wanted]
    return not any(map(has_variant, others)) and all(
        name in there and there[name].simpleString() == kind.simpleString()
        for name, kind in wanted.items()
    )
