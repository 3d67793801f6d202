"""One declared stream, as frozen values that cannot be wrong once they exist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import assert_never

from pyspark.sql import types as T

from ingest.declarations.globs import matches
from ingest.registry.compatibility import Compatibility


class SourceKind(Enum):
    """Where records come from, as `from` says; see `Source` for what follows."""

    FILES = "files"
    KAFKA = "kafka"
    POSTGRES = "postgres"


class Format(Enum):
    """What the bytes are."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    AVRO = "avro"
    BYTES = "bytes"

    @property
    def is_read_as_json(self) -> bool:
        """Whether records are, or become, JSON: only those can have types of events, or masks."""
        match self:
            case Format.JSON | Format.AVRO:
                return True
            case Format.CSV | Format.PARQUET | Format.BYTES:
                return False
            case _:
                assert_never(self)

    @property
    def is_text(self) -> bool:
        """Whether files are text, which is packed as a whole and may have records of many lines."""
        match self:
            case Format.JSON | Format.CSV:
                return True
            case Format.PARQUET | Format.AVRO | Format.BYTES:
                return False
            case _:
                assert_never(self)


class Envelope(Enum):
    """What the fields of a record mean."""

    NONE = "none"
    CLOUDEVENTS = "cloudevents"
    DEBEZIUM = "debezium"
    DMS = "dms"

    @property
    def has_changes(self) -> bool:
        """Whether a record is a change of a row, so that several have its key."""
        match self:
            case Envelope.DEBEZIUM | Envelope.DMS:
                return True
            case Envelope.NONE | Envelope.CLOUDEVENTS:
                return False
            case _:
                assert_never(self)


class DecimalHandling(Enum):
    """Debezium's `decimal.handling.mode`."""

    PRECISE = "precise"
    STRING = "string"
    DOUBLE = "double"


class TimePrecision(Enum):
    """Debezium's `time.precision.mode`."""

    ADAPTIVE = "adaptive"
    ADAPTIVE_TIME_MICROSECONDS = "adaptive_time_microseconds"
    CONNECT = "connect"
    ISOSTRING = "isostring"
    MICROSECONDS = "microseconds"
    NANOSECONDS = "nanoseconds"


class SchemaEvolution(Enum):
    """What happens to a field that the table does not have (Auto Loader's words).

    Unlike there, no choice but `fail_on_new_columns` ever stops the stream.
    """

    ADD_NEW_COLUMNS = "add_new_columns"
    RESCUE = "rescue"
    FAIL_ON_NEW_COLUMNS = "fail_on_new_columns"
    NONE = "none"


class OnDataLoss(Enum):
    """What a stream does where messages were removed before they landed."""

    FAIL = "fail"
    CONTINUE = "continue"


class CleanSource(Enum):
    """What becomes of a file after its batch is committed (Auto Loader's words)."""

    OFF = "keep"
    MOVE = "move"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedFolders:
    """Folders named by day: only those younger than `open_for` are listed again.

    `format` is strftime's, of one path component below the stream's folder.
    """

    format: str
    open_for: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """Spark's CSV options of the same names; without a header, columns come as declared."""

    header: bool = True
    sep: str = ","
    quote: str = '"'
    escape: str = '"'
    null_value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumOptions:
    """How a connector writes; the first three matter to messages without a schema only.

    `semantic_types` are those of single columns, by name.
    """

    decimal_handling: DecimalHandling = DecimalHandling.PRECISE
    time_precision: TimePrecision = TimePrecision.ADAPTIVE
    semantic_types: Mapping[str, str] = field(default_factory=dict)
    unavailable_value_placeholder: str = "__debezium_unavailable_value"


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroOptions:
    """Whose schema messages of Avro are read as: `schema`, its text, else the newest of `subject`.

    Without a subject, each is read as it was written. `compatibility` is what the registry is to
    ask of new schemas; None leaves it as it is.
    """

    schema: str | None = None
    subject: str | None = None
    compatibility: Compatibility | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """Where files of a stream appear and how many one batch may take.

    With `list_all_every`, a look in between asks an object store for the names behind the newest.
    Without `look_every` it depends on where the files are.
    """

    path: str
    path_glob_filter: str = "*"
    dated_folders: DatedFolders | None = None
    list_all_every: timedelta | None = None
    look_every: timedelta | None = None
    min_file_age: timedelta = timedelta(0)
    max_files_per_trigger: int = 1000
    max_bytes_per_trigger: int = 1 << 30
    clean_source: CleanSource = CleanSource.OFF
    move_destination: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseTable:
    """A table of PostgreSQL as `schema.table`, its key, and the bronze table of its changes.

    `compatibility` is what the registry is to ask of new schemas of its changes.
    """

    name: str
    key: tuple[str, ...]
    bronze: str
    stream: str
    compatibility: Compatibility | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """The database that a dbt source is, with the tables of it that are declared, by name.

    One connector follows them all, into a topic each, in one format.
    """

    name: str
    tables: tuple[DatabaseTable, ...]
    format: Format = Format.JSON

    def topic(self, table: DatabaseTable) -> str:
        """The topic of a table's changes."""
        return f"{self.name}.{table.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource:
    """The topics of a broker that are read: those named, or all that match a Java pattern.

    `database` is the one whose changes they have, where a connector is to write them.
    """

    topics: tuple[str, ...] = ()
    topic_pattern: str | None = None
    starting_offsets: str = "earliest"
    max_offsets_per_trigger: int = 500_000
    on_data_loss: OnDataLoss = OnDataLoss.FAIL
    database: Database | None = None

    @property
    def is_ordered(self) -> bool:
        """Whether there are several topics, each of which comes before the next one."""
        return len(self.topics) > 1


Source = FileSource | KafkaSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnHint:
    """A declared column: `path` from the record's root, and its type if declared."""

    path: tuple[str, ...]
    type: T.DataType | None = None


class Mask(Enum):
    """What stands for a value that nobody may see: its keyed hash, a fixed text, or nothing."""

    HASH = "hash"
    REDACT = "redact"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolution:
    """How the table's columns follow the records."""

    mode: SchemaEvolution = SchemaEvolution.ADD_NEW_COLUMNS
    infer_column_types: bool = True
    max_columns: int = 1000


# The group of the types that no declared group takes. Where they have tables, it comes in parts,
# which have a number.
REST_OF_TYPES = "default"


class PerType(Enum):
    """What stands for each type of a stream's events."""

    NONE = "none"
    VIEWS = "views"
    TABLES = "tables"


class OnConflict(Enum):
    """What becomes of an event whose attribute is of another JSON type than before."""

    RESCUE = "rescue"
    QUARANTINE = "quarantine"
    FAIL_GROUP = "fail_group"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventGroup:
    """Types of events that share a fate: those whose names match one of the globs.

    One with a process of its own is filled by `ingest stream --group`, not where the stream lands.
    """

    name: str
    event_types: tuple[str, ...]
    per_type: PerType
    on_conflict: OnConflict
    has_own_process: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """How types of events are recognised and shown; `payload` holds an event's attributes.

    `hints` are declared types by their paths in the payload; `reserved` are the names of
    columns that stand beside them. `schema` is that of the types' tables, which are filled once
    an `interval`. The first of `groups` that matches takes a type; the last matches all.
    """

    payload: tuple[str, ...] = ()
    groups: tuple[EventGroup, ...] = ()
    interval: timedelta = timedelta(minutes=5)
    hints: Mapping[tuple[str, ...], T.DataType] = field(default_factory=dict)
    reserved: tuple[str, ...] = ()
    schema: str = ""

    @property
    def are_split(self) -> bool:
        """Whether each type has a table."""
        return bool(self.groups)

    @property
    def have_tables(self) -> bool:
        """Whether some types may have a table of their own, and not a view."""
        return any(group.per_type is PerType.TABLES for group in self.groups)

    @property
    def have_own_processes(self) -> bool:
        """Whether tables of some types are filled by processes of their own."""
        return any(group.has_own_process for group in self.groups)

    def group_of(self, event_type: str) -> EventGroup:
        """The group of a type."""
        return next(
            group
            for group in self.groups
            if any(matches(event_type, glob) for glob in group.event_types)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAndOrder:
    """Key of a stream's records, and their order.

    Every element is a path from the record's root. `within` is counted on arrival time.
    """

    key: tuple[tuple[str, ...], ...] = ()
    sequence_by: tuple[tuple[str, ...], ...] = ()
    apply_as_deletes: str | None = None
    event_id: tuple[tuple[str, ...], ...] = ()
    event_type: tuple[str, ...] | None = None
    event_time: tuple[str, ...] | None = None
    deduplicate_within: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """One stream's promise, as declared in its dbt source."""

    unique_id: str
    name: str
    table: str
    declared_in: str
    description: str
    source: Source
    format: Format
    envelope: Envelope = Envelope.NONE
    multi_line: bool = False
    csv: CsvOptions = field(default_factory=CsvOptions)
    debezium: DebeziumOptions = field(default_factory=DebeziumOptions)
    avro: AvroOptions = field(default_factory=AvroOptions)
    columns: tuple[ColumnHint, ...] = ()
    masks: Mapping[tuple[str, ...], Mask] = field(default_factory=dict)
    identity: KeyAndOrder = field(default_factory=KeyAndOrder)
    evolution: Evolution = field(default_factory=Evolution)
    events: Events = field(default_factory=Events)
    keep_current: bool = False

    @property
    def is_plain_avro(self) -> bool:
        """Whether messages of Avro become rows as they are, of one schema that all are read as."""
        is_plain = self.envelope is Envelope.NONE and not (self.events.are_split or self.masks)
        return is_plain and self.has_writer_schemas

    @property
    def has_writer_schemas(self) -> bool:
        """Whether a record names the schema in the registry by which it was written."""
        match self.format:
            case Format.AVRO:
                return self.has_messages
            case Format.JSON | Format.CSV | Format.PARQUET | Format.BYTES:
                return False
            case _:
                assert_never(self.format)

    @property
    def has_messages(self) -> bool:
        """Whether each record is a message, and not a part of a file."""
        match self.source:
            case KafkaSource():
                return True
            case FileSource():
                return False
            case _:
                assert_never(self.source)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that are named; none where they are a pattern, or records are in files."""
        match self.source:
            case KafkaSource():
                return self.source.topics
            case FileSource():
                return ()
            case _:
                assert_never(self.source)

    @property
    def database(self) -> Database | None:
        """The database whose changes are landed, if it is one's."""
        match self.source:
            case KafkaSource():
                return self.source.database
            case FileSource():
                return None
            case _:
                assert_never(self.source)

    @property
    def subject(self) -> str | None:
        """The registry's subject of a stream of plain Avro; None where topics are a pattern."""
        return self.avro.subject or (f"{self.topics[-1]}-value" if self.topics else None)

    @property
    def quarantine_table(self) -> str:
        """Name of the table of records that broke their promise."""
        return f"{self.table}__quarantine"

    @property
    def current_table(self) -> str:
        """Name of the table of living keys, which the stream keeps where it is declared so."""
        return f"{self.table}__current"

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of all tables that the stream writes."""
        current = (self.current_table,) if self.keep_current else ()
        return (self.table, self.quarantine_table, *current)
