"""A stream's columns and the shapes it has seen, remembered in `ops`.

Which of a batch's records are deferred follows from the columns that it began with, so those
must be the same when the batch runs again, though its declaration may have changed (of messages,
the landed rows show it): they are recorded before the first write. Each entry carries the
`_batch_id` that made it, and a batch uses the entries up to its own number.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as T

from ingest.declarations.stream import Evolution, SchemaEvolution, Stream
from ingest.errors import DeclarationInvalid, NewColumnsRefused
from ingest.registry.wire_format import guid_of, id_number
from ingest.schemas import ingest_columns, schema_log
from ingest.schemas.conversion import union
from ingest.schemas.evolution import Evolved, declared_schema, evolved, widened
from ingest.schemas.schema_log import AVRO_CHANGES, READER, WRITER, Entry, SchemaLog
from ingest.schemas.shape import Shape, merged, parse_shape
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Past this many shapes a stream's records are all looked at carefully when they are new.
MOST_SHAPES = 20_000
# Schemas of Avro by which the first pass over a batch reads, each of which makes its plan larger;
# messages of older ones are deferred.
_MOST_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class AvroSchemas:
    """Schemas of Avro that producers agreed on: writers' by id, and the reader's, if any."""

    writers: Mapping[int, str] = field(default_factory=dict)
    reader: str | None = None

    @property
    def newest(self) -> Sequence[int]:
        """The ids that came last, by which messages are read at first sight."""
        return list(self.writers)[-_MOST_AT_ONCE:]


class StreamSchema:
    """What is known of one stream, up to a batch."""

    def __init__(self, spark: SparkSession, lake: Lake, stream: Stream, application: str) -> None:
        self._stream = stream
        self.columns = T.StructType()
        self._recorded = T.StructType()
        self.version = 0
        self._shapes: dict[int, Shape] = {}
        # Of a stream of Avro: schemas of writers, by their ids, and the one all are read by.
        self.agreed = AvroSchemas()
        self._recorded_agreed = AvroSchemas()
        # What an earlier try of a batch has recorded, by the batch's numbers.
        self._agreed_by: dict[int, AvroSchemas] = {}
        self._recorded_by: set[int] = set()
        self._log = SchemaLog(schema_log.ensured(spark, lake), stream.name, application)

    def load(self, batch_id: int) -> None:
        """Know what was known when `batch_id` began. Raises DeclarationInvalid."""
        # A batch has two numbers.
        log_entries = self._log.entries(batch_id + 1)
        self._recorded_by = {entry["_batch_id"] for entry in log_entries}
        there = [entry for entry in log_entries if entry["event_type"] is None]
        known = [entry for entry in there if entry["_batch_id"] <= batch_id]
        versions = {one["version"]: one["schema"] for one in known if one["schema"]}
        self._recorded = T.StructType()
        if versions:
            self.version = max(versions)
            self._recorded = T.StructType.fromJson(json.loads(versions[self.version]))
        self.columns = self._with_declared(self._recorded)
        self._shapes = {
            one["variation"]: parse_shape(one["shape"]) for one in known if one["shape"]
        }
        self.agreed = self._recorded_agreed = _agreed(known)
        self._agreed_by = {
            number: _agreed([one for one in there if one["_batch_id"] <= number])
            for number in {one["_batch_id"] for one in there if one["change"] in AVRO_CHANGES}
        }

    @property
    def knows_shapes(self) -> bool:
        """Whether any shape has been seen."""
        return bool(self._shapes)

    def has_recorded(self, batch_id: int) -> bool:
        """Whether an earlier try has recorded something under a number: no more would be.

        What is used and not recorded, the next try would not know: rows would land twice.
        """
        return batch_id in self._recorded_by

    def learn(self, shapes: Iterable[str], batch_id: int, now: datetime) -> None:
        """Take in shapes that are new, and grow the columns as declared; both are recorded.

        Raises NewColumnsRefused under `fail_on_new_columns`.
        """
        found = {_variation(text): text for text in shapes}
        new = {key: text for key, text in found.items() if key not in self._shapes}
        if not new:
            return
        parsed = {key: parse_shape(text) for key, text in new.items()}
        seen = merged(parsed.values())
        result = self._evolved(lambda how: evolved(self.columns, seen, how, ingest_columns.NAMES))
        remembered = new if len(self._shapes) < MOST_SHAPES else {}
        log_entries = [
            Entry(version=0, variation=key, shape=text) for key, text in sorted(remembered.items())
        ]
        self._adopt(result, log_entries, batch_id, now)
        self._shapes |= parsed

    def on_trial(self, spark: SparkSession, lake: Lake) -> StreamSchema:
        """The same, that remembers in another lake what it learns."""
        other = copy.copy(self)
        other._shapes, other._agreed_by = dict(self._shapes), dict(self._agreed_by)
        other._log = replace(self._log, path=schema_log.ensured(spark, lake))
        return other

    def agreed_before(self, batch_id: int) -> AvroSchemas | None:
        """What an earlier try of the batch took in, which this one must go by."""
        return self._agreed_by.get(batch_id)

    def settle(self, batch_id: int) -> None:
        """An earlier try of the batch has written by what is known: this one must go by it, too."""
        self._agreed_by.setdefault(batch_id, self.agreed)

    def agree(
        self, found: AvroSchemas, incoming: T.StructType, batch_id: int, now: datetime
    ) -> None:
        """Take in schemas of Avro, and grow the columns by those they bring, as declared."""
        result = self._evolved(
            lambda how: widened(self.columns, incoming, how, ingest_columns.NAMES)
        )
        log_entries = [
            Entry(
                version=0,
                variation=None if guid_of(number) else number,
                guid=guid_of(number),
                prototype=text,
                change=WRITER,
            )
            for number, text in sorted(found.writers.items())
            if number not in self.agreed.writers
        ]
        if found.reader != self.agreed.reader:
            log_entries.append(Entry(version=0, prototype=found.reader, change=READER))
        self._adopt(result, log_entries, batch_id, now, part="agreed")
        self.agreed = found

    def widen(self, incoming: T.StructType, batch_id: int, now: datetime) -> None:
        """Grow the columns by those of typed files, as declared, and record the version."""
        result = self._evolved(
            lambda how: widened(self.columns, incoming, how, ingest_columns.NAMES)
        )
        self._adopt(result, [], batch_id, now)

    def record(self, batch_id: int, now: datetime) -> None:
        """Record the columns that the batch begins with, where they are not yet."""
        if self.columns != self._recorded:
            self._adopt(Evolved(schema=self.columns), [], batch_id, now, part="declared")

    @contextlib.contextmanager
    def as_recorded(self) -> Iterator[None]:
        """Know only what an earlier try of the batch began with."""
        known, agreed = self.columns, self.agreed
        self.columns, self.agreed = self._recorded, self._recorded_agreed
        try:
            yield
        finally:
            self.columns, self.agreed = known, agreed

    def _evolved(self, grown: Callable[[Evolution], Evolved]) -> Evolved:
        declared = self._stream.evolution
        if declared.mode is SchemaEvolution.FAIL_ON_NEW_COLUMNS:
            growing = replace(declared, mode=SchemaEvolution.ADD_NEW_COLUMNS)
            if added := grown(growing).added:
                names = ", ".join(f"{path} {kind}" for path, kind in added)
                raise NewColumnsRefused(
                    f"{self._stream.name}: new columns {names}; declare them in "
                    f"{self._stream.declared_in} (schema_evolution is fail_on_new_columns)"
                )
        return grown(declared)

    def _adopt(
        self,
        result: Evolved,
        log_entries: Sequence[Entry],
        batch_id: int,
        now: datetime,
        part: str = "schemas",
    ) -> None:
        """Take over a version, and record it with what brought it, in one commit."""
        is_new = result.schema != self._recorded or not self.version
        if is_new:
            self.columns = self._recorded = result.schema
            self.version += 1
        rows = [replace(one, version=self.version) for one in log_entries]
        if is_new:
            columns_json, added = result.schema.json(), list(result.added)
            rows.append(Entry(version=self.version, schema=columns_json, added=added))
        self._log.append(rows, batch_id, now, part)

    def _with_declared(self, recorded: T.StructType) -> T.StructType:
        declared = declared_schema(self._stream.columns)
        problems = [
            (
                f"{self._stream.declared_in}: {self._stream.name}",
                (
                    f"columns.{path}: declared {wanted}, but the table has {there}; "
                    "a landed column keeps its type"
                ),
            )
            for path, wanted, there in _conflicts(declared, recorded)
        ]
        if problems:
            raise DeclarationInvalid(problems)
        return union(recorded, declared) if recorded.fields else declared


def _agreed(known: Sequence[Mapping[str, Any]]) -> AvroSchemas:
    readers = [one["prototype"] for one in known if one["change"] == READER]
    return AvroSchemas(
        {_id(one): one["prototype"] for one in known if one["change"] == WRITER},
        readers[-1] if readers else None,
    )


def _id(writer: Mapping[str, Any]) -> int:
    return id_number(writer["guid"]) if writer["guid"] else int(writer["variation"])


def _variation(shape: str) -> int:
    digest = hashlib.blake2b(shape.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _conflicts(
    declared: T.StructType, there: T.StructType, path: str = ""
) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    columns_there = {member.name: member.dataType for member in there.fields}
    for member in declared.fields:
        old, name = columns_there.get(member.name), f"{path}{member.name}"
        if old is None or old == member.dataType:
            continue
        if isinstance(old, T.StructType) and isinstance(member.dataType, T.StructType):
            found += _conflicts(member.dataType, old, f"{name}.")
        else:
            found.append((name, member.dataType.simpleString(), old.simpleString()))
    return found
