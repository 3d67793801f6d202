"""A stream's checkpoint, and what ties it to its stream and table.

Batch numbers restart with a new checkpoint. Delta would take them for repeated ones and drop
new rows without a word, so each checkpoint has an application id of its own and a first
`_batch_id` above all that the table has.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ingest.declarations.stream import KafkaSource, Stream
from ingest.errors import CheckpointInvalid, TableChanged
from ingest.storage import delta_log
from ingest.storage.layout import Lake


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointIdentity:
    """Whose checkpoint this is; `first_batch_id` is even, see `BatchProcessor`."""

    stream: str
    application: str
    table_id: str
    first_batch_id: int

    def save(self, path: Path) -> None:
        """Write it so that a reader finds all of it or none."""
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(self), indent=2) + "\n", "utf-8")
        new.replace(path)


def identity_of(lake: Lake, stream: Stream) -> CheckpointIdentity:
    """The identity of the stream's checkpoint, a new one for a stream that never ran.

    Raises CheckpointInvalid (lost, torn, another stream's) and TableChanged (replaced).
    """
    path, checkpoint = lake.identity(stream.table), lake.checkpoint(stream.table)
    bronze = lake.bronze(stream.table)
    current_id = delta_log.table_id(bronze)
    remedy = f"to go on from what has landed: ingest recover --select source:{stream.name}"
    has_run = (checkpoint / "commits").is_dir() and any((checkpoint / "commits").glob("[0-9]*"))
    if not path.exists() or not (checkpoint.exists() or has_run):
        rejected = lake.bronze(stream.quarantine_table)
        if delta_log.newest_batch(bronze) >= 0 or (
            lake.is_table(rejected) and delta_log.newest_batch(rejected) >= 0
        ):
            raise CheckpointInvalid(
                f"{stream.name}: bronze.{stream.table}, or its quarantine, has rows, but its "
                f"checkpoint {checkpoint} is gone; {remedy}"
            )
        if not path.exists():
            identity = fresh_identity(stream, current_id, first_batch_id=0)
            identity.save(path)
            return identity
    identity = _read(path, stream, remedy)
    if identity.table_id != current_id:
        raise TableChanged(
            f"{stream.name}: bronze.{stream.table} is not the table that this stream made: it was "
            f"replaced or removed under us; {remedy}"
        )
    _check_newest(checkpoint, stream, remedy)
    if isinstance(stream.source, KafkaSource):
        _check_topics(lake, stream, stream.source, remedy)
    else:
        _check_queue(lake, stream, remedy)
    return identity


def is_unfinished(checkpoint: Path) -> bool:
    """Whether a batch was begun that is not known to be done: it will run again."""
    return _newest(checkpoint / "offsets") > newest_committed(checkpoint)


def _newest(folder: Path) -> int:
    return max((int(one.name) for one in folder.glob("*") if one.name.isdigit()), default=-1)


def fresh_identity(stream: Stream, table_id: str, first_batch_id: int) -> CheckpointIdentity:
    """The identity of a new checkpoint."""
    return CheckpointIdentity(
        stream=stream.name,
        application=str(uuid.uuid4()),
        table_id=table_id,
        first_batch_id=first_batch_id,
    )


def _read(path: Path, stream: Stream, remedy: str) -> CheckpointIdentity:
    try:
        identity = CheckpointIdentity(**json.loads(path.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise CheckpointInvalid(f"{stream.name}: {path} is torn ({error}); {remedy}") from error
    if identity.stream != stream.name:
        raise CheckpointInvalid(
            f"{stream.name}: {path} belongs to stream {identity.stream}; {remedy}"
        )
    return identity


def _check_newest(checkpoint: Path, stream: Stream, remedy: str) -> None:
    """Spark answers a torn file with a stack trace, and some with silence."""
    for folder in ("offsets", "commits"):
        numbers = [int(f.name) for f in (checkpoint / folder).glob("*") if f.name.isdigit()]
        if not numbers:
            continue
        newest = checkpoint / folder / str(max(numbers))
        lines = newest.read_text("utf-8", errors="replace").splitlines()
        try:
            if lines[0] != "v1":
                raise ValueError("no version line")
            for line in lines[1:]:
                json.loads(line)
            if len(lines) < (3 if folder == "offsets" else 2):
                raise ValueError("it ends early")
        except (ValueError, IndexError) as error:
            raise CheckpointInvalid(
                f"{stream.name}: {newest} is torn ({error}); {remedy}"
            ) from error


def counted(checkpoint: Path, batch: int | None = None) -> dict[str, Any] | None:
    """Up to where a batch reads, or the newest that was begun; None where there is none."""
    offsets = checkpoint / "offsets"
    number = _newest(offsets) if batch is None else batch
    try:
        text = (offsets / str(number)).read_text("utf-8")
    except FileNotFoundError:
        return None
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


def newest_committed(checkpoint: Path) -> int:
    """The newest batch that is known to be done; -1 for none."""
    return _newest(checkpoint / "commits")


def _check_topics(lake: Lake, stream: Stream, source: KafkaSource, remedy: str) -> None:
    """A checkpoint counts the messages of the topics that were declared when it was written."""
    there = counted(lake.checkpoint(stream.table)) or {}
    others = sorted(set(there) - set(source.topics)) if source.topics else []
    if others or "reservoirId" in there:
        what = f"topics {', '.join(others)}" if "reservoirId" not in there else "files"
        raise CheckpointInvalid(
            f"{stream.name}: it has landed {what}, which are declared no more in "
            f"{stream.declared_in}: declare them again, or {remedy}"
        )


def _check_queue(lake: Lake, stream: Stream, remedy: str) -> None:
    """A checkpoint counts the commits of one queue of files, and names it."""
    checkpoint = lake.checkpoint(stream.table)
    there = counted(checkpoint)
    if there is None:
        return
    queue = lake.queue(stream.table)
    if not lake.is_table(queue) or there.get("reservoirId") != delta_log.table_id(queue):
        raise CheckpointInvalid(
            f"{stream.name}: {checkpoint} is not of this stream's files: it was copied, or "
            f"{queue} was replaced or removed; {remedy}"
        )
