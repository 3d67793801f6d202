"""Which files are to blame where a batch does not land."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from py4j.protocol import Py4JNetworkError

from ingest.errors import NewColumnsRefused, SourceUnreadable
from ingest.runtime.blame import failing
from ingest.runtime.spark_errors import may_be_of_a_file

FILES = [f"{letter}.csv" for letter in "abcdefgh"]


def failing_with(reasons: Mapping[str, str], tried: list[int] | None = None) -> Mapping[str, str]:
    """The files that are found where those in `reasons` fail."""

    def failure(some: Sequence[str]) -> str | None:
        if tried is not None:
            tried.append(len(some))
        return next((reasons[one] for one in some if one in reasons), None)

    return failing(FILES, failure)


@pytest.mark.parametrize("bad", [["a.csv"], ["h.csv"], ["b.csv", "c.csv"], FILES[1:]])
def test_files_that_fail_by_themselves_are_found(bad: list[str]) -> None:
    reasons = dict.fromkeys(bad, "broken")
    assert failing_with(reasons) == reasons


def test_one_file_is_found_by_halves() -> None:
    tried: list[int] = []
    failing_with({"a.csv": "broken"}, tried)
    assert tried == [4, 2, 1, 1, 2, 4]


@pytest.mark.parametrize(("number", "found"), [(15, 15), (16, 0)])
def test_where_many_fail_alike_no_file_is_to_blame(number: int, found: int) -> None:
    files = [f"{one}.csv" for one in range(number)]
    assert len(failing(files, lambda some: f"line 1: {some[0]} is broken")) == found


def test_files_that_fail_for_different_reasons_are_to_blame() -> None:
    files = [f"{one}.csv" for one in range(40)]
    assert len(failing(files, lambda some: "x" * (1 + files.index(some[0])))) == 40


def test_many_that_fail_alike_are_to_blame_where_a_later_one_lands() -> None:
    files = [f"{number}.csv" for number in range(40)]
    bad = dict.fromkeys(files[:30], "broken")

    def failure(some: Sequence[str]) -> str | None:
        return next((bad[one] for one in some if one in bad), None)

    assert failing(files, failure) == bad
    assert failing(files[:30], failure) == {}


def test_where_no_file_fails_by_itself_none_is_to_blame() -> None:
    assert failing_with({}) == {}


def test_a_file_that_is_alone_may_be_to_blame() -> None:
    assert failing(["a.csv"], lambda _: "broken") == {"a.csv": "broken"}


@pytest.mark.parametrize(
    ("error", "may_be"),
    [
        (ValueError("negative dimensions"), True),
        (RuntimeError("[USER_RAISED_EXCEPTION] the thing broke"), True),
        (SourceUnreadable("a.csv: cut off"), True),
        (NewColumnsRefused("test.a: new columns b"), False),
        (OSError(28, "No space left on device"), False),
        (RuntimeError("java.lang.OutOfMemoryError: Java heap space"), False),
        (RuntimeError("[DELTA_METADATA_CHANGED] …"), False),
        (RuntimeError("org.apache.kafka.common.errors.TimeoutException: …"), False),
        (RuntimeError("Job 3 cancelled as part of cancellation of all jobs"), False),
        (RuntimeError("cannot cast to struct<id: bigint, cancelled: boolean>"), True),
        (Py4JNetworkError("Answer from Java side is empty"), False),
        (ConnectionRefusedError(111, "Connection refused"), False),
    ],
)
def test_only_what_nothing_else_explains_may_be_a_files_fault(
    error: Exception, may_be: bool
) -> None:
    assert may_be_of_a_file(error) is may_be
