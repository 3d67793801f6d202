"""Messages that leave quarantine: their schema has become known, or a person decided so.

They are decoded with the deferred messages of a batch, and are deleted from quarantine when that
batch is written. A batch that is repeated finds them in quarantine, or in what it has landed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingest.decoders.arrow_batches import Batches
from ingest.decoders.kafka_input import DEFERRED, PROVENANCE
from ingest.decoders.writer_schemas import WriterSchemas
from ingest.registry.wire_format import id_number, id_text
from ingest.schemas.stream_schema import StreamSchema
from ingest.spark import delta_tables
from ingest.spark.sql import text_literal
from ingest.storage import delta_log, delta_writes
from ingest.storage.json_files import read_json, write_json
from ingest.storage.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Set

    from pyspark.sql import SparkSession

UNKNOWN = "SCHEMA_UNKNOWN"
# Seconds between two looks into quarantine, and two questions to the registry.
_LOOK_EVERY = 30.0
# Identity of a message: a topic that was created again counts from 0.
_MESSAGE = ("_source", "_partition", "_offset", "_timestamp")


@dataclass(slots=True)
class Requeue:
    """Messages of one stream, in the quarantine table at `path`.

    In the folder `asked` of `storage` is a file for each request to requeue some: the rule that
    they broke, and the last batch that they came with.
    """

    spark: SparkSession
    path: str
    storage: Storage
    asked: str
    schema: StreamSchema
    writers: WriterSchemas | None
    # The first batch that each id came with; looked at again from time to time.
    _since: dict[int, int] = field(default_factory=dict)
    _until: float = 0.0
    _due: Set[int] = frozenset()
    # The requests that are carried out with the current batch, and SQL of the rows that leave.
    _current: list[str] = field(default_factory=list)
    _leaving: str = ""

    @property
    def has_due(self) -> bool:
        """Whether messages are to land with the next batch."""
        return bool(self.due()) or any(self._asked())

    def ask(self, rule: str, request: str) -> int:
        """Let those out that broke `rule`, with the next batch; how many there are."""
        rows = delta_log.rows_where(self.path, {"_rule": rule}, ["_batch_id"])
        key = f"{self.asked}/{request}.json"
        if len(rows) and not self.storage.exists(key):
            newest = max(rows["_batch_id"].to_pylist())
            write_json(self.storage, key, {"rule": rule, "newest": newest})
        return len(rows)

    def _asked(self) -> Iterator[str]:
        """Keys of the requests that there are."""
        for one in self.storage.list(self.asked):
            if one.name.endswith(".json"):
                yield f"{self.asked}/{one.name}"

    def due(self) -> Set[int]:
        """Ids of schemas that messages wait for, and that are known by now."""
        if self.writers and time.monotonic() >= self._until:
            self._since = self._looked()
            new = self._since.keys() - self.schema.agreed.writers.keys()
            self._due = (self._since.keys() - new) | self.writers.known_by_now(new)
            self._until = time.monotonic() + _LOOK_EVERY
        return self._due

    def look_again(self) -> None:
        """Something has changed: what was seen does not count any more."""
        self._until = 0.0

    def leaving(self, batch_id: int) -> str:
        """SQL of the rows that leave quarantine with a batch; empty where there are none."""
        known = self.due() & self.schema.agreed.writers.keys()
        since, leaving = self._since, []
        if any(since.get(number, batch_id) < batch_id for number in known):
            leaving.append(_waiting(known, batch_id))
        self._current = sorted(self._asked())
        for key in self._current:
            state = read_json(self.storage, key)
            if state is None:
                continue
            newest = min(state["newest"], batch_id - 1)
            leaving.append(f"_rule = {text_literal(state['rule'])} and _batch_id <= {newest}")
        return " or ".join(f"({one})" for one in leaving)

    def for_batch(self, batch_id: int) -> Batches | None:
        """Messages to decode with a batch; None where there are none."""
        self._leaving = self.leaving(batch_id)
        if not self._leaving:
            return None
        return self.messages(self._leaving)

    def delete_landed(self, bronze: str, batch_id: int, *, by_earlier_try: bool) -> int:
        """Delete the messages that `for_batch` gave and the batch has written; how many.

        `by_earlier_try`: the table at `bronze` says which, as an earlier process wrote them.
        """
        if not self._leaving:
            return 0
        if by_earlier_try:
            batches = f"_batch_id = {batch_id}"
            count = delete_landed_again(self.spark, self.path, bronze, batches, self._leaving)
        else:
            count = delta_writes.delete_rows(self.path, self._leaving)
        self._leaving = ""
        self._are_done()
        return count

    def _are_done(self) -> None:
        self.look_again()
        for key in self._current:
            self.storage.delete(key)

    def messages(self, where: str) -> Batches:
        """Messages in quarantine, as MessageInput has those of a batch."""
        rows = self.spark.read.format("delta").load(self.path).where(where)
        found = rows.selectExpr(*PROVENANCE, "_raw as value", "_position")
        return Batches(self.spark, DEFERRED, found)

    def waiting(self, numbers: Collection[int]) -> Batches:
        """All messages that wait for one of some schemas."""
        return self.messages(_waiting(numbers, None))

    def _looked(self) -> dict[int, int]:
        rows = delta_log.rows_where(
            self.path, {"_reason_code": UNKNOWN}, ["_schema_id", "_batch_id"], present="_raw"
        )
        first = rows.group_by("_schema_id").aggregate([("_batch_id", "min")])
        state = zip(
            first["_schema_id"].to_pylist(), first["_batch_id_min"].to_pylist(), strict=True
        )
        # Older versions did not write down the ids of all streams.
        return {id_number(number): batch for number, batch in state if number}


def delete_landed_again(
    spark: SparkSession, quarantine: str, bronze: str, batches: str, where: str = "true"
) -> int:
    """Delete rows of quarantine that one of some later batches has written again; how many.

    `batches` and `where` are SQL. What such a batch has written is in one of the two tables.
    """
    tables = [spark.read.format("delta").load(one) for one in (bronze, quarantine)]
    written = [one.where(batches).select("_batch_id", *_MESSAGE) for one in tables]
    # Streams share a session.
    view = f"{quarantine.rpartition('/')[2]}__written_before"
    newest = written[0].union(written[1]).groupBy(*_MESSAGE).agg({"_batch_id": "max"})
    newest.withColumnRenamed("max(_batch_id)", "written_by").createOrReplaceTempView(view)
    same = " and ".join(f"old.{name} = new.{name}" for name in _MESSAGE)
    state = spark.sql(
        f"merge into delta.`{quarantine}` as old using `{view}` as new "
        f"on {same} and old._batch_id < written_by and ({where}) when matched then delete"
    )
    return int(delta_tables.only_row(state).num_deleted_rows)


def _waiting(numbers: Collection[int], before: int | None) -> str:
    ids = ", ".join(text_literal(id_text(one)) for one in sorted(numbers)) or "''"
    state = f"_reason_code = '{UNKNOWN}' and _schema_id in ({ids}) and _raw is not null"
    return state if before is None else f"{state} and _batch_id < {before}"
