"""What a failure means to the person on call."""

from __future__ import annotations

import re
from urllib.parse import unquote

from ingest import settings
from ingest.errors import (
    BrokerUnreachable,
    DataLost,
    HeadwaterError,
    MemoryShort,
    QueryWrong,
    SourceUnreadable,
    StorageAway,
    StorageFailed,
    TableChanged,
    TerminalError,
    TopicMissing,
    TransientError,
)
from ingest.storage.layout import Lake

_STORAGE = re.compile(
    r"No space left on device|Read-only file system|Disk quota exceeded|Permission denied|"
    r"File too large|Mkdirs failed|failed to create",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\[(DELTA_(METADATA_CHANGED|SCHEMA_CHANGED\w*|PROTOCOL_CHANGED|FAILED_TO_MERGE_FIELDS|"
    r"MISSING_DELTA_TABLE|PATH_DOES_NOT_EXIST|TABLE_NOT_FOUND|UNSUPPORTED_DROP\w*|"
    r"VERSION_NOT_CONTIGUOUS|TRUNCATED_TRANSACTION_LOG|FILE_NOT_FOUND\w*))\]"
)
_BROKER = re.compile(
    r"(?:org\.apache\.kafka\.(?:clients|common)\.(?:\w+\.)*\w+(?:Exception|Error)"
    r"|No resolvable bootstrap urls|Failed to create new KafkaAdminClient"
    r"|Failed to construct kafka consumer|Cannot fetch record for offset"
    r"|The error could be transient - restart your query)[^\n]*"
)
_DATA_LOST = re.compile(
    r"(?:KAFKA_DATA_LOSS|Some data may have been lost because they are not available in Kafka)"
    r"[\s\S]*?Reason:\s*(?P<reason>[^\n]+)"
)
_OTHER_PARTITIONS = "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED"
_OUT_OF_RANGE = re.compile(
    r"OffsetOutOfRangeException: .*?offset=(?P<offset>\d+).* for partition (?P<partition>\S+)"
)
_NO_TOPIC = "UnknownTopicOrPartitionException"
# What a Python worker has raised, as Spark passes it on.
_OF_A_STORE = re.compile(r"ingest\.errors\.Storage(?P<kind>Failed|Away): (?P<line>[^\n]+)")
# What Hadoop's client of S3 says, and AWS's below it: no line of a stack, which names them, too.
_OF_S3A = re.compile(
    r"^(?!\s*at )[^\n]*(?:hadoop\.fs\.s3a\.|software\.amazon\.awssdk\.)[\w.]*Exception[^\n]*",
    re.MULTILINE,
)
_S3A_URL = re.compile(r"s3a://[\w.-]+(?:/[^\s:'`,;]*)?")
_GONE = re.compile(
    r"\[FAILED_READ_FILE\.FILE_NOT_EXIST\] Encountered error while reading file (?P<path>.+?)\.\s+"
    r"File does not exist"
)
_NO_FOLDER = re.compile(r"\[DELTA_PATH_DOES_NOT_EXIST\] (?P<folder>\S.*?) doesn't exist")
_NO_COUNTER = re.compile(
    r"\[UNRESOLVED_COLUMN[^\]]*\][^\n]*? name `(_batch_id|_build_id)`[^\n]*?(?= SQLSTATE|\n|$)"
)
_OUTSIDE = re.compile(r"\[DELTA_REPLACE_WHERE_MISMATCH\][^\n]*?'(.{1,200})")
# A plan of Spark's follows the place in the statement.
_PLAN = re.compile(r"(SQLSTATE: \w{5}(?:; line \d+ pos \d+)?);\s*\n\s*['!]?[A-Z]\w*.*", re.DOTALL)
_TRACEBACK = "Traceback (most recent call last):"
_MEMORY = re.compile(
    r"OutOfMemoryError\b|\bMemoryError\b|Cannot allocate memory|UNABLE_TO_ACQUIRE_MEMORY"
    r"|GC overhead limit exceeded"
    r"|spark\.driver\.maxResultSize"
)
# What is said where work was stopped, or where Spark's Java process is gone.
_INTERRUPTED = re.compile(
    r"InterruptedException|\b(?:Job|Stage|Task|Query|Operation)\b(?: \S+){0,3} cancell?ed\b"
    r"|(?:JOB|OPERATION)_CANCELL?ED|SparkContext (?:was|has been) shut ?down|stopped "
    r"SparkContext|SparkContext already stopped|Py4JNetworkError|Answer from Java side is empty|"
    r"Error while (?:sending|receiving|obtaining)",
    re.IGNORECASE,
)
_CONFLICT = re.compile(r"\[DELTA_CONCURRENT_\w+\]|Concurrent\w+Exception")


def explained(error: BaseException, stream: str, lake: Lake) -> HeadwaterError:
    """`error` as one of ours, in one line; what is not ours is in the log in full."""
    if isinstance(error, HeadwaterError):
        return error
    text = str(error)
    log = lake.spark_log
    # Memory first: what Kafka's client says of it looks like a broker that will come back.
    known = _of_memory(text, stream) or _of_kafka(text, stream) or _of_storage(text, stream)
    if known:
        return known
    if found := _CHANGED.search(text):
        return TableChanged(
            f"{stream}: its table was changed under us ({found[1]}): "
            f"restore it, then run again; see {log}"
        )
    if _CONFLICT.search(text):
        return TransientError(
            f"{stream}: another writer committed to its table; run again, "
            "and let only one process write it"
        )
    return TerminalError(f"{stream}: {cause(error)}; see {log}")


def of_build(text: str) -> HeadwaterError | None:
    """What Spark says of the lake's files or of an increment where dbt builds, in a line."""
    if found := _NO_COUNTER.search(text):
        return QueryWrong(
            f"{found[0].rstrip('.')}; a model that is read in increments must select {found[1]}, "
            "and be built with --full-refresh where it did not"
        )
    if found := _OUTSIDE.search(text):
        return QueryWrong(
            f"the model gives rows outside of what it replaces, {found[1]}: select unchanged the "
            "column of affected_partitions(), incremental_predicates or event_time, and give "
            "window_start() and affected_windows() the same time and size"
        )
    if found := _NO_FOLDER.search(text):
        folder = unquote(found["folder"])
        schema, _, name = folder.rpartition("/")
        built = not schema.endswith(("/bronze", "/ops"))
        remedy = f", or build its model again (--full-refresh --select {name})" if built else ""
        return StorageFailed(f"{folder} is gone, but the catalog names it: put it back{remedy}")
    if found := _GONE.search(text):
        return StorageFailed(
            f"{unquote(found['path'])} is gone, but a table still names it: VACUUM has removed it. "
            "If the table is a shallow clone, clone it again (dbt clone --full-refresh); else "
            "build it again (--full-refresh)"
        )
    return of_s3(text, "the lake")


def without_plan(text: str) -> str:
    """What Spark says of a statement, without the plan of it that follows."""
    return _PLAN.sub(r"\1", text)


def of_s3(text: str, what: str) -> StorageFailed | None:
    """What Spark says of S3, in a line about `what`; None where it says nothing of it."""
    found = _OF_S3A.search(text)
    return _of_s3a(found[0], what) if found else None


def may_be_of_a_file(error: Exception) -> bool:
    """Whether an error may come of what is in a file, because nothing is known that says otherwise.

    Not of the stream (its declaration, its table) nor of the world (a broker, a disk, memory), nor
    because work was stopped.
    """
    if isinstance(error, HeadwaterError):
        return isinstance(error, SourceUnreadable)
    text = f"{type(error).__name__}: {error}"
    is_known = any(
        one.search(text)
        for one in (
            _MEMORY,
            _STORAGE,
            _OF_A_STORE,
            _OF_S3A,
            _CHANGED,
            _CONFLICT,
            _INTERRUPTED,
            _BROKER,
            _DATA_LOST,
        )
    )
    return not is_known and not isinstance(error, ConnectionError)


def _of_memory(text: str, stream: str) -> HeadwaterError | None:
    return memory_short(stream) if _MEMORY.search(text) else None


def _of_storage(text: str, stream: str) -> HeadwaterError | None:
    if found := _OF_A_STORE.search(text):
        kind = StorageAway if found["kind"] == "Away" else StorageFailed
        return kind(f"{stream}: {found['line']}")
    if said := of_s3(text, stream):
        return said
    if found := _STORAGE.search(text):
        return StorageFailed(
            f"{stream}: the lake cannot be written ({found[0]}): make room or give the right, then "
            "run again; nothing was landed in part"
        )
    return None


def _of_s3a(said: str, stream: str) -> StorageFailed:
    from ingest.storage.object_store import failure

    url = _S3A_URL.search(said)
    found = failure(url[0] if url else "s3a", Exception(said))
    return type(found)(f"{stream}: {found}")


def memory_short(what: str) -> MemoryShort:
    """What is said where Spark's memory is full."""
    return MemoryShort(
        f"{what}: memory is full (HEADWATER_DRIVER_MEMORY is {settings.driver_memory()}): give it "
        "more, or let batches be smaller (max_offsets_per_trigger of topics, max_bytes_per_trigger "
        "of files), then run again; nothing is lost"
    )


def _of_kafka(text: str, stream: str) -> HeadwaterError | None:
    if _OTHER_PARTITIONS in text:
        return TransientError(
            f"{stream}: topics or partitions came or went since it was recovered; once more: "
            f"ingest recover --select source:{stream}"
        )
    what = None
    if found := _OUT_OF_RANGE.search(text):
        what = f"offset {found['offset']} of {found['partition']} is gone."
    elif found := _DATA_LOST.search(text):
        what = found["reason"]
    if what:
        return DataLost(
            f"{stream}: messages were removed before they landed: {what} To go on from what there "
            f"is: ingest recover --select source:{stream}"
        )
    if _NO_TOPIC in text:
        return TopicMissing(
            f"{stream}: Kafka does not have its topic: make it, or declare the one that there is"
        )
    if found := _BROKER.search(text):
        what = found[0].strip()
        return BrokerUnreachable(f"{stream}: Kafka does not answer or refuses us: {what}")
    return None


def cause(error: BaseException) -> str:
    """The line that says what went wrong."""
    text = str(error)
    # Of Python's traceback, which Spark passes on, that is the last one.
    raised = re.findall(r"^[A-Za-z][\w.]*: .*", text.partition(_TRACEBACK)[2], re.MULTILINE)
    # Of Java's too, but for its class.
    raised = raised or re.findall(r"^Caused by: (?:[\w.$]+: )?(.+)", text, re.MULTILINE)
    if raised:
        return str(raised[-1][:400])
    lines = [line.strip(" :\t") for line in text.splitlines()]
    # Py4J says first which call of its own failed.
    known = [line for line in lines if line and not line.startswith("An error occurred while")]
    return known[0][:400] if known else type(error).__name__
