"""Storage in a bucket: the contract on a real server, lost answers, and what is wrong in a line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.errors import HeadwaterError, InputError, StorageAway, StorageFailed
from ingest.stack import s3
from ingest.storage import delta_log, files, object_store
from ingest.storage.layout import storage_at
from ingest.storage.storage import Storage
from tests.objects.proxy import Proxy, pages
from tests.s3_server import S3Server
from tests.storage_contract import StorageContract, names


class TestObjectStorage(StorageContract):
    """The contract in a bucket."""


def test_a_folder_of_many_files_is_listed_page_by_page(root: str, proxy: Proxy) -> None:
    proxy.answers = pages(2_500)
    found = iter(storage_at(root).list("many"))
    assert next(found).name == "0000000.jsonl"
    assert proxy.requests == ["GET"]
    assert sum(1 for _ in found) == 2_499
    assert proxy.requests == ["GET"] * 3


def test_a_folder_of_folders_is_two_requests(root: str, proxy: Proxy) -> None:
    storage = storage_at(root)
    for number in range(30):
        storage.put(f"bronze/table-{number}/_delta_log/0.json", b"1")
    proxy.requests.clear()
    assert sum(one.is_folder for one in storage.list("bronze")) == 30
    assert proxy.requests == ["GET"] * 2


def test_an_object_that_stands_for_a_folder_is_no_file(root: str, server: S3Server) -> None:
    storage = storage_at(root)
    # S3Proxy shows an empty folder as other programs leave them: an object `a/empty/` of no bytes.
    folder = server.path() / root.rpartition("/")[2] / "a"
    (folder / "empty").mkdir(parents=True)
    storage.put("a/full/b", b"1")
    assert [(one.name, one.is_folder) for one in sorted(storage.list("a"))] in (
        [("empty", True), ("full", True)],
        [("full", True)],
    )
    assert not storage.exists("a/empty")


@pytest.mark.parametrize("content", [b"mine", b""])
def test_a_file_whose_answer_was_lost_is_this_process_s(
    root: str, proxy: Proxy, content: bytes
) -> None:
    storage = storage_at(root)
    lost: list[str] = []

    def lose(method: str, path: str) -> bool:
        if method == "PUT" and not lost:
            lost.append(path)
            return True
        return False

    proxy.loses = lose
    assert storage.put_new("a", content)
    assert lost
    assert not storage.put_new("a", content)
    assert storage.read("a") == content


def test_a_lost_answer_makes_no_file_of_another_process_mine(root: str, proxy: Proxy) -> None:
    storage = storage_at(root)
    storage.put("a", b"theirs")
    proxy.loses = lambda method, _path: method == "PUT" and proxy.requests.count("PUT") < 3
    proxy.requests.clear()
    assert not storage.put_new("a", b"mine")
    assert storage.read("a") == b"theirs"


def test_a_conflict_with_a_file_that_did_not_come_is_tried_again(root: str, proxy: Proxy) -> None:
    conflict = "<Error><Code>ConditionalRequestConflict</Code></Error>"
    proxy.answers = lambda method, _path: (
        (409, conflict) if method == "PUT" and proxy.requests.count("PUT") < 3 else None
    )
    assert storage_at(root).put_new("a", b"1")
    assert proxy.requests.count("PUT") == 3


def held(storage: Storage) -> None:
    """Hold a lease for a moment."""
    with storage.lease("a"):
        pass


def answer(status: int, code: str) -> tuple[int, str]:
    """An answer of S3 that refuses."""
    return status, f"<?xml version='1.0'?><Error><Code>{code}</Code><Key>HIDDEN</Key></Error>"


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (400, "ExpiredToken", "the credentials have expired .ExpiredToken.: get new ones"),
        (403, "InvalidAccessKeyId", "the credentials are refused .InvalidAccessKeyId.: look at"),
        (403, "AccessDenied", "may not do this .AccessDenied.: they need to read, write, list"),
        (400, "AuthorizationHeaderMalformed", "in another region .* set AWS_REGION"),
        (403, "RequestTimeTooSkewed", "the clock of this machine is wrong"),
        (404, "NoSuchBucket", "there is no such bucket: create it, or mend the name"),
        (418, "Teapot", "418"),
    ],
)
def test_what_a_store_refuses_is_one_line(
    root: str, proxy: Proxy, status: int, code: str, said: str
) -> None:
    storage = storage_at(root)
    proxy.answers = lambda _method, _path: answer(status, code)
    attempts: dict[str, Callable[[], object]] = {
        "put": lambda: storage.put("a", b""),
        "put_new": lambda: storage.put_new("a", b""),
        "read": lambda: storage.read("a"),
        "list": lambda: names(storage, "a"),
        "lease": lambda: held(storage),
        "delta": lambda: delta_log.version(f"{root}/t"),
        "walk": lambda: list(files.walk(root, ())),
        "open": lambda: files.open_stream(f"{root}/a.json"),
    }
    for name, attempt in attempts.items():
        with pytest.raises(StorageFailed, match=said) as failed:
            attempt()
        assert failed.value.exit_code == 1, name
        assert str(failed.value).startswith(root), name
        assert "\n" not in str(failed.value)
        assert "HIDDEN" not in str(failed.value)
        assert not isinstance(failed.value, StorageAway)


def test_a_bucket_that_is_not_there_is_named(root: str) -> None:
    del root
    storage = storage_at("s3a://nobody/lake")
    for attempt in (
        lambda: storage.put("a", b""),
        lambda: storage.put_new("a", b""),
        lambda: storage.read("a"),
        lambda: storage.exists("a"),
        lambda: list(storage.list("")),
        lambda: storage.is_leased("a"),
    ):
        with pytest.raises(StorageFailed, match=r"s3a://nobody/lake.*: there is no such bucket"):
            attempt()


@pytest.mark.parametrize(
    ("variables", "error", "said"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, StorageFailed, "credentials are refused"),
        ({"AWS_ACCESS_KEY_ID": "nobody"}, StorageFailed, "credentials are refused"),
        ({"AWS_ALLOW_HTTP": "false"}, InputError, "set AWS_ALLOW_HTTP=true if that is meant"),
        ({"AWS_ENDPOINT_URL": "127.0.0.1:80"}, InputError, "AWS_ENDPOINT_URL is no URL"),
        ({"AWS_SECRET_ACCESS_KEY": None}, InputError, "go together: set both"),
        (
            {"AWS_SECRET_ACCESS_KEY": None, "AWS_ACCESS_KEY_ID": None, "AWS_PROFILE": "me"},
            InputError,
            "AWS_PROFILE is not read: put its keys into the environment",
        ),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"},
            StorageAway,
            "http://127.0.0.1:9 does not answer: see that it runs, and AWS_ENDPOINT_URL",
        ),
    ],
)
def test_a_wrong_environment_is_one_line(
    root: str,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str | None],
    error: type[HeadwaterError],
    said: str,
) -> None:
    monkeypatch.setattr(object_store, "_AT_FIRST", 0.5)
    for name, value in variables.items():
        if value is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)
    for attempt in (
        lambda: storage_at(root).put("a", b""),
        lambda: delta_log.version(f"{root}/table"),
        lambda: list(files.walk(root, ())),
    ):
        with pytest.raises(error, match=said) as failed:
            attempt()
        assert "wrong" not in str(failed.value)
        assert s3.SECRET not in str(failed.value)
    assert s3.SECRET not in repr(storage_at(root))
