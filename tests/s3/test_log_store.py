"""Delta's log on S3 by conditional puts: many writers, and answers that get lost."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError

from ingest.stack.s3 import KEY_ID, SECRET
from tests.fuzzing import cases, seed
from tests.s3.faults import Fault, FaultyProxy, Plan
from tests.s3.log_writer import LogWriter
from tests.s3_server import S3Server

# Commits of each of two processes; `make fuzz CASES=20` makes 2,000 of them.
COMMITS = cases(100)
# Of a hundred puts, so many have each fault.
SHARES = {
    Fault.ANSWER_LOST: 8,
    Fault.DONE_BUT_FAILED: 4,
    Fault.REQUEST_LOST: 4,
    Fault.CONFLICT: 4,
}


@pytest.fixture(scope="module")
def writers(
    server: S3Server, standing_proxy: FaultyProxy, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LogWriter, LogWriter]]:
    """Two processes that write the log."""
    environ = server.environ(standing_proxy.url)
    log = tmp_path_factory.mktemp("writers") / "java.log"
    both = LogWriter(environ, log), LogWriter(environ, log)
    yield both
    for writer in both:
        writer.close()


@pytest.fixture
def writer(writers: tuple[LogWriter, LogWriter]) -> LogWriter:
    """One of them."""
    return writers[0]


def commit(version: int, table: str) -> str:
    return f"{table}/_delta_log/{version:020}.json"


def faults(*planned: Fault) -> Plan:
    """These for the first puts, one each."""
    left = list(planned)
    return lambda method, _: left.pop(0) if method == "PUT" and left else Fault.NONE


def test_two_processes_lose_no_commit_and_write_none_twice(
    server: S3Server, proxy: FaultyProxy, writers: tuple[LogWriter, LogWriter]
) -> None:
    draw, one_at_a_time = random.Random(seed()), threading.Lock()
    kinds = [*SHARES, Fault.NONE]
    weights = [*SHARES.values(), 100 - sum(SHARES.values())]

    def plan(method: str, _: str) -> Fault:
        with one_at_a_time:
            return draw.choices(kinds, weights)[0] if method == "PUT" else Fault.NONE

    proxy.plan = plan

    def write_all(number: int) -> dict[int, str]:
        version, written = 0, {}
        for each in range(COMMITS):
            text = f"process {number}, commit {each}"
            while not writers[number].write(commit(version, "raced"), [text]):
                version += 1
            written[version] = f"{text}\n"
        return written

    with ThreadPoolExecutor() as pool:
        first, second = pool.map(write_all, range(2))
    assert not first.keys() & second.keys()
    stored = {
        int(path.stem): path.read_text() for path in server.path("raced/_delta_log").iterdir()
    }
    assert stored == first | second
    assert sorted(stored) == list(range(2 * COMMITS))


@pytest.mark.parametrize("fault", [Fault.ANSWER_LOST, Fault.DONE_BUT_FAILED])
def test_an_own_put_that_was_sent_again_is_no_conflict(
    proxy: FaultyProxy, writer: LogWriter, fault: Fault
) -> None:
    proxy.plan = faults(fault)
    assert writer.write(commit(0, f"own-{fault.name}"), ["mine"])
    assert proxy.requests("PUT") == 2


def test_a_put_of_another_writer_is_a_conflict(server: S3Server, writer: LogWriter) -> None:
    key = commit(0, "taken")
    assert writer.write(key, ["theirs"])
    assert not writer.write(key, ["mine"])
    # Neither is what begins with this text, or is the beginning of it.
    assert not writer.write(key, ["theirs", "and more"])
    assert not writer.write(key, ["their"])
    assert server.path(key).read_text() == "theirs\n"


def test_a_put_is_own_although_all_its_answers_are_lost(
    proxy: FaultyProxy, writer: LogWriter
) -> None:
    proxy.plan = lambda method, _: Fault.ANSWER_LOST if method == "PUT" else Fault.NONE
    assert writer.write(commit(0, "silent"), ["mine"])


def test_a_conflict_of_requests_at_once_is_tried_again(
    server: S3Server, proxy: FaultyProxy, writer: LogWriter
) -> None:
    proxy.plan = faults(Fault.CONFLICT, Fault.CONFLICT)
    assert writer.write(commit(0, "at-once"), ["mine"])
    assert server.path(commit(0, "at-once")).read_text() == "mine\n"


def test_a_put_that_is_refused_is_no_conflict(
    server: S3Server, proxy: FaultyProxy, writer: LogWriter
) -> None:
    proxy.plan = faults(Fault.FORBIDDEN)
    with pytest.raises(Py4JJavaError, match="AccessDenied"):
        writer.write(commit(0, "refused"), ["mine"])
    assert not server.path(commit(0, "refused")).exists()


def test_a_store_without_conditional_put_is_named_with_the_remedy(
    proxy: FaultyProxy, writer: LogWriter
) -> None:
    proxy.plan = faults(Fault.NOT_IMPLEMENTED)
    with pytest.raises(Py4JJavaError, match="HEADWATER_S3_CONDITIONAL_PUT=off"):
        writer.write(commit(0, "plain"), ["mine"])


def test_an_overwrite_replaces(server: S3Server, proxy: FaultyProxy, writer: LogWriter) -> None:
    key = "replaced/_delta_log/_last_checkpoint"
    proxy.plan = faults(Fault.NONE, Fault.ANSWER_LOST)
    for text in ("one", "two"):
        assert writer.write(key, [text], overwrite=True)
    assert server.path(key).read_text() == "two\n"


def test_actions_that_end_early_leave_no_object(
    server: S3Server, proxy: FaultyProxy, writer: LogWriter
) -> None:
    with pytest.raises(Py4JJavaError, match="ClassCastException"):
        writer.write(commit(0, "early"), ["a text", 1])
    assert not server.path("early").exists()
    assert proxy.requests("PUT") == 0


def test_a_log_is_listed_from_a_version_on_by_one_request(
    server: S3Server, proxy: FaultyProxy, writer: LogWriter
) -> None:
    folder = server.path("long/_delta_log")
    (folder / "_sidecars").mkdir(parents=True)
    (folder / "_sidecars" / "one.parquet").touch()
    names = [f"{version:020}.{suffix}" for version in range(2_500) for suffix in ("crc", "json")]
    for name in names:
        (folder / name).touch()
    proxy.seen.clear()
    assert writer.list_from(commit(2_490, "long")) == names[2 * 2_490 + 1 :]
    assert len(proxy.seen) == 1
    assert writer.list_from(f"long/_delta_log/{0:020}.") == names
    assert writer.list_from(commit(2_500, "long")) == []


def test_a_log_that_does_not_exist_is_not_found(writer: LogWriter) -> None:
    with pytest.raises(Py4JJavaError, match="FileNotFoundException"):
        writer.list_from(commit(0, "absent"))


def test_keys_are_those_of_a_profile_where_the_environment_has_none(
    server: S3Server, tmp_path: Path
) -> None:
    file = tmp_path / "credentials"
    file.write_text(f"[lakes]\naws_access_key_id={KEY_ID}\naws_secret_access_key={SECRET}\n")
    environ = {name: one for name, one in server.environ().items() if "KEY" not in name}
    profile = {"AWS_PROFILE": "lakes", "AWS_SHARED_CREDENTIALS_FILE": str(file)}
    writer = LogWriter(environ | profile, tmp_path / "java.log")
    assert writer.write(commit(0, "of-a-profile"), ["mine"])
    writer.close()
