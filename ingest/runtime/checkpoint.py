"""A stream's checkpoint, and what ties it to its stream and table.

Batch numbers restart with a new checkpoint, and would be taken for repeated ones. So each
checkpoint has a first `_batch_id` above all that the table has, and an application id of its own,
by which Delta skips repeated writes of other tables.
"""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass
from typing import assert_never

from ingest.declarations.stream import FileSource, KafkaSource, Stream
from ingest.errors import CheckpointInvalid, TableChanged
from ingest.sources.query_checkpoint import QueryCheckpoint, checkpoint_of
from ingest.storage import delta_log
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake

# File in a checkpoint that no query has begun: an object store has no empty folders.
_RECOVERED = "recovered.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointIdentity:
    """Whose checkpoint this is; `first_batch_id` is even, see `BatchProcessor`."""

    stream: str
    application: str
    table_id: str
    first_batch_id: int

    def save(self, lake: Lake, table: str) -> None:
        """Save it."""
        write_json(lake.storage, lake.identity(table), asdict(self))


def identity_of(lake: Lake, stream: Stream) -> CheckpointIdentity:
    """The identity of the stream's checkpoint, a new one for a stream that never ran.

    Raises CheckpointInvalid (lost, torn, another stream's) and TableChanged (replaced).
    """
    checkpoint, bronze = checkpoint_of(lake, stream.table), lake.bronze(stream.table)
    current_id = delta_log.table_id(bronze)
    remedy = f"to go on from what has landed: ingest recover --select source:{stream.name}"
    has_identity = lake.storage.exists(lake.identity(stream.table))
    if not (has_identity and checkpoint.exists):
        rejected = lake.bronze(stream.quarantine_table)
        if delta_log.newest_batch(bronze) >= 0 or (
            lake.is_table(rejected) and delta_log.newest_batch(rejected) >= 0
        ):
            raise CheckpointInvalid(
                f"{stream.name}: bronze.{stream.table}, or its quarantine, has rows, but its "
                f"checkpoint {checkpoint.url} is gone; {remedy}"
            )
        if not has_identity:
            identity = fresh_identity(stream, current_id, first_batch_id=0)
            identity.save(lake, stream.table)
            return identity
    identity = _read(lake, stream, remedy)
    if identity.table_id != current_id:
        raise TableChanged(
            f"{stream.name}: bronze.{stream.table} is not the table that this stream made: it was "
            f"replaced or removed under us; {remedy}"
        )
    if torn := checkpoint.torn_file():
        raise CheckpointInvalid(f"{stream.name}: {torn}; {remedy}")
    match source := stream.source:
        case KafkaSource():
            _check_topics(checkpoint, stream, source, remedy)
        case FileSource():
            _check_queue(checkpoint, lake, stream, remedy)
        case _:
            assert_never(source)
    return identity


def fresh_identity(stream: Stream, table_id: str, first_batch_id: int) -> CheckpointIdentity:
    """The identity of a new checkpoint."""
    return CheckpointIdentity(
        stream=stream.name,
        application=str(uuid.uuid4()),
        table_id=table_id,
        first_batch_id=first_batch_id,
    )


def start_checkpoint(lake: Lake, table: str) -> None:
    """Create the folder of a new checkpoint, as the last step of a recovery.

    A stream whose table has rows is refused without it.
    """
    write_json(lake.storage, f"{lake.checkpoint(table)}/{_RECOVERED}", {})


def _read(lake: Lake, stream: Stream, remedy: str) -> CheckpointIdentity:
    key = lake.identity(stream.table)
    path = lake.url(key)
    try:
        identity = CheckpointIdentity(**(read_json(lake.storage, key) or {}))
    except (ValueError, TypeError) as error:
        raise CheckpointInvalid(f"{stream.name}: {path} is torn ({error}); {remedy}") from error
    if identity.stream != stream.name:
        raise CheckpointInvalid(
            f"{stream.name}: {path} belongs to stream {identity.stream}; {remedy}"
        )
    return identity


def _check_topics(
    checkpoint: QueryCheckpoint, stream: Stream, source: KafkaSource, remedy: str
) -> None:
    """A checkpoint counts the messages of the topics that were declared when it was written."""
    there = checkpoint.offsets() or {}
    others = sorted(set(there) - set(source.topics)) if source.topics else []
    if others or "reservoirId" in there:
        what = f"topics {', '.join(others)}" if "reservoirId" not in there else "files"
        raise CheckpointInvalid(
            f"{stream.name}: it has landed {what}, which are declared no more in "
            f"{stream.declared_in}: declare them again, or {remedy}"
        )


def _check_queue(checkpoint: QueryCheckpoint, lake: Lake, stream: Stream, remedy: str) -> None:
    """A checkpoint counts the commits of one queue of files, and names it."""
    there = checkpoint.offsets()
    if there is None:
        return
    queue = lake.queue(stream.table)
    if not lake.is_table(queue) or there.get("reservoirId") != delta_log.table_id(queue):
        raise CheckpointInvalid(
            f"{stream.name}: {checkpoint.url} is not of this stream's files: it was copied, or "
            f"{queue} was replaced or removed; {remedy}"
        )
