"""S3 for Spark: the client's jars, the log store and the settings of a session.

A session has them where the lake or the landing folder is at `s3a://…`, or where the user's own
settings of Spark name S3A; a session of a local lake starts without them. What says where S3 is
are the variables that AWS's tools and deltalake take:

    AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_ENDPOINT   server, where it is not AWS's own
    AWS_VIRTUAL_HOSTED_STYLE_REQUEST   true: buckets are host names of that server, not folders
    AWS_REGION, AWS_DEFAULT_REGION     region

Credentials never become settings of Spark, which show them in its UI and logs: Hadoop looks them
up, as AWS's tools do. Standard library only, because set-up names the jars.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Of Hadoop's file system; Spark knows no other name of S3.
SCHEME = "s3a://"
# Folder of the client's jars, in the project.
CLIENT = ".jars-s3client"
# What set-up compiles, among them.
LOG_STORE_JAR = f"{CLIENT}/headwater-log-store.jar"
LOG_STORE = "headwater.ConditionalPutLogStore"

_HADOOP = "spark.hadoop.fs.s3a."
_ENDPOINT = f"{_HADOOP}endpoint"
_PROVIDERS = f"{_HADOOP}aws.credentials.provider"
_OWN_STORE = "spark.delta.logStore.s3a.impl"
_ANY_STORE = "spark.delta.logStore.class"

# Keys in fs.s3a.*, which Spark itself takes over from the environment; then all that AWS's tools
# look into: environment, web identity, profile, container, machine.
_CREDENTIALS = ",".join(
    (
        "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
        "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
        "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
    )
)


def is_on_s3(path: str) -> bool:
    """Whether a path is one of S3."""
    return path.startswith(SCHEME)


def is_asked_for(user: Iterable[str]) -> bool:
    """Whether the user's own settings of Spark, by their names, are about S3."""
    return any(name.startswith((_HADOOP, _OWN_STORE)) for name in user)


def session_settings(
    environ: Mapping[str, str],
    user: Iterable[str] = (),
    *,
    is_local: bool = True,
    has_conditional_put: bool = True,
) -> dict[str, str]:
    """Settings of a session on S3, but for the class path and what the user sets otherwise.

    `environ` names the server; `user` are names of the user's own settings; `is_local` says
    whether Spark runs on this machine alone. Without conditional put Delta's own log store is
    left, which knows one driver.
    """
    theirs = set(user)
    found = {} if _ENDPOINT in theirs else _server(environ)
    if region := _first(environ, "AWS_REGION", "AWS_DEFAULT_REGION"):
        found[f"{_ENDPOINT}.region"] = region
    # A cluster's own configuration of Hadoop says who its machines are.
    if is_local or "HADOOP_CONF_DIR" not in environ:
        found[_PROVIDERS] = _CREDENTIALS
    if _ANY_STORE not in theirs and has_conditional_put:
        found[_OWN_STORE] = LOG_STORE
    return found


def _server(environ: Mapping[str, str]) -> dict[str, str]:
    url = _first(environ, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    if not url:
        return {}
    has_hosts = environ.get("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "").lower() == "true"
    return {
        _ENDPOINT: url,
        f"{_HADOOP}path.style.access": "false" if has_hosts else "true",
        f"{_HADOOP}connection.ssl.enabled": "false" if url.startswith("http://") else "true",
    }


def _first(environ: Mapping[str, str], *names: str) -> str | None:
    return next((environ[name] for name in names if environ.get(name)), None)
