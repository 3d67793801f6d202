"""Let records out of quarantine, to land as if they came now: each once, killed or not.

They are written to a file that the stream finds among its others, and then deleted. The file's
name has the newest batch that it holds, so that what came to quarantine later is left there.
"""

from __future__ import annotations

from ingest.declarations.stream import Stream
from ingest.failpoint import failpoint
from ingest.storage import delta_log, delta_writes
from ingest.storage.layout import Lake


def release(lake: Lake, stream: Stream, rule: str, request: str) -> int:
    """Release the records that broke `rule`; how many there were when it was first tried."""
    storage, folder = lake.storage, lake.released(stream.table)
    quarantine = lake.bronze(stream.quarantine_table)
    literal = rule.replace("'", "''")
    written = [one.name for one in storage.list(folder) if one.name.startswith(f"{request}.")]
    if written:
        name = written[0]
        content = storage.read(f"{folder}/{name}") or b""
    else:
        rows = delta_log.rows_where(quarantine, {"_rule": rule}, ["_batch_id", "_raw"])
        if not len(rows):
            return 0
        newest = max(rows["_batch_id"].to_pylist())
        lines = rows.sort_by("_batch_id")["_raw"].to_pylist()
        name = f"{request}.{newest}.jsonl"
        content = b"".join(line.rstrip(b"\r\n") + b"\n" for line in lines)
        storage.put(f"{folder}/{name}", content)
    failpoint("after_release_is_written")
    newest = int(name.split(".")[-2])
    delta_writes.delete_rows(quarantine, f"_rule = '{literal}' and _batch_id <= {newest}")
    return content.count(b"\n")
