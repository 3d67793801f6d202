"""What can go wrong, as facts: a stable code, an exit code, and one line for a person.

`InputError` is the user's to mend (exit 2), `TransientError` may pass when tried again and
`TerminalError` stops one stream (exit 1). Nothing outside the runner and the command line
catches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

# Why a record is in quarantine, its `_reason_code`; see docs/reference/errors.md.
ReasonCode = Literal[
    "DUPLICATE_KEY",
    "FILE_UNREADABLE",
    "INCOMPATIBLE_CHANGE",
    "INVALID_UTF8",
    "MALFORMED_AVRO",
    "MALFORMED_CSV",
    "MALFORMED_JSON",
    "MALFORMED_SCHEMA",
    "NOT_AN_OBJECT",
    "NOT_DEBEZIUM",
    "NOT_FRAMED",
    "NULL_KEY",
    "NULL_SEQUENCE",
    "SCHEMA_UNKNOWN",
    "SCHEMA_UNSUPPORTED",
    "TOO_DEEP",
    "TOO_LARGE",
]


class HeadwaterError(Exception):
    """The parent of every error that a person is meant to read."""

    code = "FAILED"
    exit_code = 1

    def __str__(self) -> str:
        return " ".join(super().__str__().split())


class InputError(HeadwaterError):
    """The user's input is wrong; nothing was started."""

    code = "INPUT"
    exit_code = 2


class RequestRefused(InputError):
    """What was asked of a stream's owner cannot be done."""

    code = "REQUEST"


class TransientError(HeadwaterError):
    """Trying again later can help."""

    code = "TRANSIENT"


class TerminalError(HeadwaterError):
    """Trying again cannot help; this stream stops and its neighbours go on."""

    code = "STOPPED"


class DeclarationInvalid(InputError):
    """Declarations that cannot be honoured, each as (place, reason)."""

    code = "DECLARATION"

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{place}: {reason}" for place, reason in self.problems))


class ProjectUnreadable(InputError):
    """dbt could not read the project."""

    code = "PROJECT"


class OptionsRefused(InputError):
    """Options of dbt models that nothing reads, or that cannot be had."""

    code = "OPTION"

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problems))


class PythonModelFailed(HeadwaterError):
    """The code of a Python model raised, or returned no rows."""

    code = "PYTHON"


class SelectionEmpty(InputError):
    """A selector chose no stream."""

    code = "SELECTION"


class QueryWrong(InputError):
    """A SQL statement that Spark cannot analyse, or that names no table of the lake."""

    code = "SQL"


class TypeUnknown(InputError):
    """A type of event that no stream has brought, or several have, or that cannot be used."""

    code = "EVENT_TYPE"


class ServersUnknown(InputError):
    """Nothing says where Kafka, its registry or a database is, or what says it cannot be read."""

    code = "SERVERS"


class BrokerUnreachable(TransientError):
    """Kafka does not answer, or refuses us."""

    code = "BROKER"


class TopicMissing(BrokerUnreachable):
    """Kafka has no topic of a name that is declared, or not yet."""


class SchemaRefused(InputError):
    """A change of a schema, or of declared columns, that does not go with what was before."""

    code = "SCHEMA"


class RevisionUnknown(InputError):
    """git does not have a revision, or there is no git."""

    code = "REVISION"


class RegistryUnreachable(TransientError):
    """The schema registry does not answer, or refuses us."""

    code = "REGISTRY_AWAY"


class DataLost(TerminalError):
    """Messages were removed from their topic before they landed."""

    code = "DATA_LOSS"


class ConnectorFailed(TransientError):
    """Kafka Connect does not answer or refuses us, or a connector of it has failed."""

    code = "CONNECTOR"


class DatabaseUnreachable(TransientError):
    """A database does not answer, or refuses us."""

    code = "DATABASE"


class GapFound(TerminalError):
    """Changes of a database are gone before a connector has read them."""

    code = "GAP"


class StackFailed(TransientError):
    """A part of the stack does not start or does not end."""

    code = "STACK"


class AddressRefused(InputError):
    """The SQL endpoint cannot listen at an address, or must not."""

    code = "ADDRESS"


class EndpointFailed(TerminalError):
    """The SQL endpoint does not start."""

    code = "ENDPOINT"


class ModelFailed(TransientError):
    """A model could not be built; it is tried again."""

    code = "MODEL"


class DocsMissing(InputError):
    """dbt has written no docs that something could be added to."""

    code = "DOCS"


class JavaMissing(InputError):
    """No Java that Spark runs on."""

    code = "JAVA"


class FolderMissing(InputError):
    """A declared folder does not exist."""

    code = "FOLDER"


class StreamLocked(TerminalError):
    """Another process lands this stream."""

    code = "LOCKED"


class SourceUnreadable(TerminalError):
    """A folder, file or table cannot be read."""

    code = "UNREADABLE"


class MemoryShort(TerminalError):
    """Spark has less memory than a batch needs."""

    code = "MEMORY"


class StorageFailed(TransientError):
    """The lake cannot be read or written: disk full, read-only, no permission, no such bucket."""

    code = "STORAGE"


class StorageAway(StorageFailed):
    """An object store does not answer."""


class TableChanged(TerminalError):
    """A table was changed by someone other than its owner."""

    code = "TABLE_CHANGED"


class CheckpointInvalid(TerminalError):
    """A checkpoint is lost, torn, or belongs to another stream."""

    code = "CHECKPOINT"


class RecordsMissing(TerminalError):
    """Not as many records have landed, or were refused, as were read."""

    code = "RECORDS_MISSING"


class NewColumnsRefused(TerminalError):
    """New fields arrived on a stream that is declared `fail_on_new_columns`."""

    code = "NEW_COLUMNS"


class GroupFailed(TerminalError):
    """Tables of a group of types cannot be filled, or wait for a person's decision."""

    code = "GROUP"
