"""Which batch a commit of a bronze table holds, as the table's own log says.

Each commit of a batch carries its identity in `commitInfo.userMetadata`, so it is there in the
same atomic write as the rows, or nothing of both is. Delta's `txnVersion` would say the same;
Delta 4.4 answers it from the table's whole state, which it reconstructs for each new version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingest.storage import delta_log
from ingest.storage.layout import LOG, storage_at

# Versions of ours say so, whoever else writes userMetadata.
_FORMAT = "headwater.batch/1"
_DIGITS = 20
# Delta's names of an append, which without a batch is of earlier code or of another program, and
# of what takes batches out again that stay in the log.
_UNCERTAIN = ("WRITE", "RESTORE")


@dataclass(frozen=True, slots=True)
class CommitId:
    """Identity of a commit in its table: `_batch_id` of its rows, which one run counts up.

    `stream_run` is the id of the stream's checkpoint, and `writer` the process that commits: a
    recovery may give a number out again, and of two processes one may be late.
    """

    stream_run: str
    batch_id: int
    writer: str

    def metadata(self, records: int | None = None, refs: str | None = None) -> str:
        """The text for `userMetadata`.

        `records`: how many the pass read; `refs`: those that it deferred, with commas between;
        None where the writer does not know before it commits.
        """
        text = {
            "format": _FORMAT,
            "run": self.stream_run,
            "batch": self.batch_id,
            "writer": self.writer,
        }
        known = {"records": records, "refs": refs}
        return json.dumps(text | {name: one for name, one in known.items() if one is not None})


@dataclass(frozen=True, slots=True)
class BatchCommit:
    """A commit that holds a batch: its version, who wrote it, and what it added.

    `records` and `refs` are those of CommitId.metadata. `rows` and `rescued` count rows, and those
    with a value in `_rescued`; None where the files' statistics do not say.
    """

    version: int
    stream_run: str
    batch_id: int
    writer: str
    records: int | None
    refs: str | None
    rows: int | None
    rescued: int | None
    files: Sequence[str]

    def is_of(self, commit: CommitId) -> bool:
        """Whether it has this identity, whichever process wrote it."""
        return self.batch_id == commit.batch_id


@dataclass(frozen=True, slots=True)
class LookBack:
    """What the log says of a batch: its commit, or None.

    `is_certain`: None means that it was never committed. Else the log says nothing: earlier code
    wrote it, its files have been cleaned up, the table was restored to an earlier version, or a
    recovery has begun at a number of which the table has no rows any more.
    """

    commit: BatchCommit | None
    is_certain: bool


def newest_version(path: str) -> int:
    """The newest version of the table at `path`."""
    return delta_log.version(path)


def commits_after(path: str, version: int) -> Iterator[tuple[int, BatchCommit | None]]:
    """Commits of the table at `path` past a version, oldest first: None where it is no batch's."""
    while (actions := _actions(path, version + 1)) is not None:
        version += 1
        yield version, _batch_commit(version, actions)


def look_back(path: str, commit: CommitId, version: int) -> LookBack:
    """Look for a batch's commit from a version back, to the first of an earlier batch."""
    while version >= 0:
        actions = _actions(path, version)
        if actions is None:
            return LookBack(None, is_certain=False)
        found = _batch_commit(version, actions)
        if found and found.is_of(commit):
            is_own = found.stream_run == commit.stream_run
            return LookBack(found if is_own else None, is_certain=is_own)
        if found and found.batch_id < commit.batch_id:
            return LookBack(None, is_certain=True)
        if not found and _info(actions).get("operation") in _UNCERTAIN:
            return LookBack(None, is_certain=False)
        version -= 1
    return LookBack(None, is_certain=True)


def _actions(path: str, version: int) -> Sequence[Mapping[str, Any]] | None:
    content = storage_at(path).read(f"{LOG}/{version:0{_DIGITS}}.json")
    if content is None:
        return None
    return [json.loads(line) for line in content.splitlines() if line]


def _info(actions: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return next((one["commitInfo"] for one in actions if "commitInfo" in one), {})


def _batch_commit(version: int, actions: Sequence[Mapping[str, Any]]) -> BatchCommit | None:
    try:
        batch = json.loads(_info(actions).get("userMetadata") or "{}")
    except ValueError:
        return None
    if not isinstance(batch, dict) or batch.get("format") != _FORMAT:
        return None
    added = [one["add"] for one in actions if "add" in one]
    stats = [json.loads(one.get("stats") or "{}") for one in added]
    rows = [one.get("numRecords") for one in stats]
    nulls = [one.get("nullCount", {}).get("_rescued") for one in stats]
    are_known = None not in rows and None not in nulls
    return BatchCommit(
        version=version,
        stream_run=batch["run"],
        batch_id=batch["batch"],
        writer=batch["writer"],
        records=batch.get("records"),
        refs=batch.get("refs"),
        rows=sum(rows) if None not in rows else None,
        rescued=sum(rows) - sum(nulls) if are_known else None,
        files=[one["path"] for one in added],
    )
