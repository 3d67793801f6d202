"""What Spark says of S3, as Hadoop 3.5 words it, in a line for the person on call."""

from __future__ import annotations

import pytest

from ingest.errors import HeadwaterError, StorageAway, StorageFailed, TransientError
from ingest.runtime.spark_errors import explained, may_be_of_a_file
from ingest.storage.layout import Lake

# Each text is what a real server, or none, made Spark say.
_S3 = "software.amazon.awssdk.services.s3.model"
NO_BUCKET = (
    "org.apache.hadoop.fs.s3a.UnknownStoreException: `s3a://nobody/t': getFileStatus on "
    f"s3a://nobody/t: {_S3}.NoSuchBucketException: The specified bucket does not exist (Service: "
    "S3, Status Code: 404, Request ID: 651A) (SDK Attempt Count: 1):NoSuchBucket: The specified"
)
NO_RIGHT = (
    "java.nio.file.AccessDeniedException: s3a://wrong/t: getFileStatus on s3a://wrong/t: "
    f"{_S3}.S3Exception: Forbidden (Service: S3, Status Code: 403, Request ID: A1A0):null"
)
DEAD = (
    "java.net.ConnectException: getFileStatus on s3a://dead/t: "
    "software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP request: "
    "Connect to 127.0.0.1:9 [/127.0.0.1] failed: Connection refused (SDK Attempt Count: 2)"
)
STACK = """
\tat org.apache.hadoop.fs.s3a.S3AUtils.translateException(S3AUtils.java:285)
\tat org.apache.hadoop.fs.s3a.S3AFileSystem.s3GetFileStatus(S3AFileSystem.java:4110)
\tat software.amazon.awssdk.services.s3.DefaultS3Client.getObject(DefaultS3Client.java:1)"""


def said(text: str) -> HeadwaterError:
    """What a stream on S3 says of an error of Spark's."""
    error = RuntimeError(f"An error occurred while calling o1.parquet.\n: {text}{STACK}")
    return explained(error, "shop.a", Lake("s3a://bucket/lake"))


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        (NO_BUCKET, StorageFailed, "shop.a: s3a://nobody/t: there is no such bucket: create it"),
        (NO_RIGHT, StorageFailed, "shop.a: s3a://wrong/t: the credentials may not do this (Status"),
        (DEAD, StorageAway, "shop.a: s3a://dead/t: the object store does not answer"),
    ],
    ids=["no bucket", "no right", "dead"],
)
def test_what_spark_says_of_s3_is_one_line(
    monkeypatch: pytest.MonkeyPatch, text: str, kind: type[HeadwaterError], line: str
) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    found = said(text)
    assert type(found) is kind
    assert str(found).startswith(line)
    assert "\n" not in str(found)
    assert not may_be_of_a_file(RuntimeError(text))


def test_a_stack_that_goes_through_s3_is_no_failure_of_s3() -> None:
    conflict = "[DELTA_CONCURRENT_APPEND] Files were added to the table by a concurrent update."
    assert type(said(conflict)) is TransientError
    broken = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file s3a://b/a.parquet."
    assert may_be_of_a_file(RuntimeError(f"{broken}{STACK}"))
