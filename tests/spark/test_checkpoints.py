"""A batch that runs again, a checkpoint that is lost, torn or another's: each row once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

from ingest.declarations.stream import Stream
from ingest.errors import CheckpointInvalid, HeadwaterError, TableChanged, TransientError
from ingest.landing import batch
from ingest.runtime.progress import ProgressLog
from ingest.runtime.recovery_files import recover_stream
from ingest.runtime.stream_query import StreamQuery, Trigger
from ingest.schemas.stream_schema import StreamSchema
from ingest.sources.file_queue import FileQueue
from ingest.sources.query_checkpoint import QueryCheckpoint
from tests.spark.mixed_files import DECLARED, HINTS, assert_each_is_there_once, drop_mixed
from tests.spark.workshop import Workshop

HALF = '{"id": 3}\n{"id": "three", "new": 1}\nbroken\n'


@pytest.fixture(scope="module")
def lost(workshop: Workshop) -> Workshop:
    """Three batches, a lost checkpoint, a recovery, and a file more."""
    stream = workshop.stream("lost", {"id": "bigint"}, max_files_per_trigger=1)
    for number, content in (("1", '{"id": 1}\n'), ("2", '{"id": 2}\n'), ("3", HALF)):
        workshop.drop("lost", f"{number}.jsonl", content)
    workshop.land("lost")
    shutil.rmtree(workshop.lake.url(workshop.lake.checkpoint(stream.table)))
    with pytest.raises(CheckpointInvalid, match=r"its checkpoint .* is gone; .*ingest recover"):
        workshop.land("lost")
    recover_stream(workshop.spark, workshop.lake, stream)
    workshop.drop("lost", "4.jsonl", [{"id": 4}])
    workshop.land("lost")
    return workshop


def test_after_a_recovery_nothing_is_there_twice_and_new_files_land(lost: Workshop) -> None:
    assert lost.values("lost", "id") == [1, 2, 3, 4, None]
    assert [row._reason_code for row in lost.rejects("lost")] == ["MALFORMED_JSON"]


def test_after_a_recovery_batch_numbers_go_on(lost: Workshop) -> None:
    rows = lost.rows("lost", "id", "_batch_id")
    newest = next(row._batch_id for row in rows if row.id == 4)
    assert all(row._batch_id < newest for row in rows if row.id != 4)


def test_a_recovery_without_the_newest_files_lands_the_next_ones(lost: Workshop) -> None:
    stream = lost.stream("lost", {"id": "bigint"}, max_files_per_trigger=1)
    shutil.rmtree(lost.folder("lost"))
    lost.drop("lost", "5.jsonl", [{"id": 5}])
    recover_stream(lost.spark, lost.lake, stream)
    lost.land("lost")
    assert lost.values("lost", "id") == [1, 2, 3, 4, 5, None]


def commit(workshop: Workshop, stream: Stream) -> Path:
    """The newest commit of a checkpoint."""
    commits = Path(workshop.lake.url(workshop.lake.checkpoint(stream.table))) / "commits"
    return max(
        (path for path in commits.iterdir() if path.name.isdigit()), key=lambda p: int(p.name)
    )


def test_repeated_large_batch_uses_the_recorded_schemas(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.stream("sampled", {"id": "bigint"})
    workshop.drop("sampled", "1.jsonl", [{"id": 1}])
    workshop.land("sampled")
    monkeypatch.setattr("ingest.decoders.file_input._MANY", 0)
    workshop.drop("sampled", "2.jsonl", [{"id": 2, "early": 1}, {"id": 3, "late": "x"}])
    # Another try may find more in its sample, as where a file has turned out to be broken.
    for size, step in ((1, "before_first_write"), (10, "after_first_write"), (10, "")):
        monkeypatch.setattr("ingest.decoders.json._SAMPLE", size)
        monkeypatch.setattr(batch, "failpoint", stopping_at(step))
        assert (workshop.run("sampled") is None) == (not step)
    assert workshop.values("sampled", "id") == [1, 2, 3]
    known = StreamSchema(
        workshop.spark, workshop.lake, workshop.stream("sampled", {"id": "bigint"}), "a test"
    )
    known.load(2**63 - 2)
    assert known.columns.fieldNames() == ["id", "early", "late"]


def test_a_first_batch_that_earlier_code_has_planned_runs_again_as_it_was(
    apart: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned_before(queue: FileQueue, _: QueryCheckpoint) -> DataFrame:
        reader = apart.spark.readStream.format("delta").option("maxFilesPerTrigger", 1)
        return reader.load(queue.path)

    apart.stream("earlier", {"id": "bigint"}, max_files_per_trigger=1)
    for number in range(3):
        apart.drop("earlier", f"{number}.jsonl", [{"id": number}])
    with monkeypatch.context() as earlier:
        earlier.setattr(FileQueue, "stream", planned_before)
        earlier.setattr(batch, "failpoint", stopping_at("before_first_write"))
        assert apart.run("earlier")
    apart.land("earlier")
    assert apart.values("earlier", "id") == [0, 1, 2]


def stopping_at(step: str) -> Callable[[str], None]:
    """Stands for a process that is killed at a step."""

    def reached(name: str) -> None:
        if name == step:
            raise Killed(f"stopped at {step}")

    return reached


def test_a_batch_whose_commit_was_lost_lands_once(workshop: Workshop) -> None:
    stream = workshop.stream("replayed", {"id": "bigint"})
    workshop.drop("replayed", "1.jsonl", HALF)
    workshop.land("replayed")
    newest = commit(workshop, stream)
    newest.unlink()
    (newest.parent / f".{newest.name}.crc").unlink(missing_ok=True)
    workshop.drop("replayed", "2.jsonl", [{"id": 4}])
    workshop.land("replayed")
    assert workshop.values("replayed", "id") == [3, 4, None]
    assert len(workshop.rejects("replayed")) == 1


def test_interrupted_table_creation_is_completed_by_next_run(workshop: Workshop) -> None:
    stream = workshop.stream("unmade", {"id": "bigint"})
    workshop.drop("unmade", "1.jsonl", [{"id": 1}])
    lake = workshop.lake
    for path in (lake.bronze(stream.table), lake.queue(stream.table)):
        Path(path, "_delta_log", "_staged_commits").mkdir(parents=True)
    workshop.land("unmade")
    assert workshop.values("unmade", "id") == [1]


class Killed(TransientError):
    """Stands for a kill, where a process would be too slow; no file is to blame for it."""


def stop_at(workshop: Workshop, name: str, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start to land a stream, and get no further than a step."""

    def failpoint(reached: str) -> None:
        if reached == step:
            raise Killed(f"stopped at {step}")

    with monkeypatch.context() as patched:
        patched.setattr(batch, "failpoint", failpoint)
        assert workshop.run(name) is not None


# test_processes has the fourth step, and a real kill.
@pytest.mark.parametrize("step", ["before_first_write", "after_second_write", "after_quarantine"])
def test_a_batch_that_stops_at_a_step_and_runs_again_lands_each_record_once(
    workshop: Workshop, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"stopped_{step}"
    workshop.stream(name, HINTS, **DECLARED)
    drop_mixed(workshop, name)
    stop_at(workshop, name, step, monkeypatch)
    workshop.land(name)
    assert_each_is_there_once(workshop, name)


@pytest.mark.parametrize("step", ["after_first_write", "after_second_write"])
def test_a_batch_of_broken_records_only_runs_again(
    workshop: Workshop, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"hollow_{step}"
    workshop.stream(name, {"id": "bigint"})
    workshop.drop(name, "1.jsonl", "{broken\n")
    stop_at(workshop, name, step, monkeypatch)
    workshop.land(name)
    assert workshop.table(name).count() == 0
    assert [bytes(row._raw) for row in workshop.rejects(name)] == [b"{broken"]


def test_a_checkpoint_or_table_that_is_not_ours_is_refused(workshop: Workshop) -> None:
    mine = workshop.stream("mine", {"id": "bigint"})
    other = workshop.stream("other", {"id": "bigint"})
    for name in ("mine", "other"):
        workshop.drop(name, "1.jsonl", [{"id": 1}])
        workshop.land(name)
    lake = workshop.lake

    offsets = Path(lake.url(lake.checkpoint(mine.table))) / "offsets" / "0"
    whole = offsets.read_bytes()
    offsets.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointInvalid, match="is torn"):
        workshop.land("mine")
    offsets.write_bytes(whole)

    kept = workshop.root / "kept"
    shutil.move(lake.url(lake.checkpoint(mine.table)), kept)
    shutil.copytree(lake.url(lake.checkpoint(other.table)), lake.url(lake.checkpoint(mine.table)))
    workshop.drop("mine", "2.jsonl", [{"id": 2}])
    error: HeadwaterError | None = None
    try:
        error = workshop.run("mine")
    except HeadwaterError as refused:
        error = refused
    assert isinstance(error, CheckpointInvalid), error
    assert workshop.values("mine", "id") == [1]
    shutil.rmtree(lake.url(lake.checkpoint(mine.table)))
    shutil.move(kept, lake.url(lake.checkpoint(mine.table)))
    workshop.land("mine")
    assert workshop.values("mine", "id") == [1, 2]

    shutil.rmtree(lake.bronze(mine.table))
    with pytest.raises(TableChanged, match="replaced or removed under us"):
        workshop.land("mine")


def test_files_that_come_while_a_batch_waits_land_together(workshop: Workshop) -> None:
    stream = workshop.stream("behind", {"id": "bigint"})
    progress = ProgressLog(workshop.lake)
    query = StreamQuery(workshop.spark, workshop.lake, stream, progress, workshop.now)
    for number in range(3):
        workshop.drop("behind", f"{number}.jsonl", [{"id": number}])
        query.discover()
    query.start(Trigger.AVAILABLE_NOW)
    query.wait()
    query.discover()
    workshop.land("behind")
    first, *later = (row._batch_id for row in workshop.rows("behind", "id", "_batch_id"))
    assert len(later) == 2
    assert later[0] == later[1] > first
