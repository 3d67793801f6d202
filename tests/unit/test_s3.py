"""Settings of Spark for S3, from the variables that AWS's tools take."""

from __future__ import annotations

import pytest

from ingest.spark import s3
from ingest.spark.s3 import session_settings

KEYS = {
    "AWS_ACCESS_KEY_ID": "the-key",
    "AWS_SECRET_ACCESS_KEY": "the-secret",
    "AWS_SESSION_TOKEN": "the-token",
}


def s3a(settings: dict[str, str]) -> dict[str, str]:
    """The settings of Hadoop's S3A, by their own names."""
    start = "spark.hadoop.fs.s3a."
    return {name.removeprefix(start): one for name, one in settings.items() if start in name}


def test_nothing_of_aws_own_servers_is_set_but_the_region() -> None:
    found = s3a(session_settings({"AWS_REGION": "eu-central-1"}))
    assert found.pop("aws.credentials.provider")
    assert found == {"endpoint.region": "eu-central-1"}


@pytest.mark.parametrize(
    ("url", "has_tls"), [("http://127.0.0.1:9000", "false"), ("https://store:9000", "true")]
)
def test_another_server_has_buckets_as_folders(url: str, has_tls: str) -> None:
    found = s3a(session_settings({"AWS_ENDPOINT_URL": url}))
    assert found["endpoint"] == url
    assert (found["path.style.access"], found["connection.ssl.enabled"]) == ("true", has_tls)


def test_buckets_may_be_names_of_hosts() -> None:
    environ = {"AWS_ENDPOINT": "https://store", "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"}
    assert s3a(session_settings(environ))["path.style.access"] == "false"


def test_the_address_of_s3_alone_comes_first() -> None:
    environ = {"AWS_ENDPOINT_URL": "https://all", "AWS_ENDPOINT_URL_S3": "https://s3"}
    assert s3a(session_settings(environ))["endpoint"] == "https://s3"


def test_keys_are_in_no_setting() -> None:
    found = session_settings({**KEYS, "AWS_ENDPOINT_URL": "http://127.0.0.1:9000"})
    assert not set(KEYS.values()) & set(found.values())


def test_an_endpoint_of_the_user_is_not_mixed_with_another() -> None:
    environ = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9000"}
    found = s3a(session_settings(environ, ["spark.hadoop.fs.s3a.endpoint"]))
    assert not {"endpoint", "path.style.access", "connection.ssl.enabled"} & set(found)


def test_a_cluster_with_its_own_hadoop_knows_its_credentials() -> None:
    for environ, is_ours in (({}, True), ({"HADOOP_CONF_DIR": "/etc/hadoop"}, False)):
        found = s3a(session_settings(environ, is_local=False))
        assert ("aws.credentials.provider" in found) == is_ours


def test_the_log_store_is_ours_unless_the_user_names_one_for_all() -> None:
    """Delta refuses both at once."""
    name = "spark.delta.logStore.s3a.impl"
    assert session_settings({})[name] == s3.LOG_STORE
    assert name not in session_settings({}, ["spark.delta.logStore.class"])
