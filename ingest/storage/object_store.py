"""Buckets of object stores: their URLs, clients, and what their failures mean to a person.

A client takes address and credentials from the environment, by the names of AWS's, Azure's and
Google's own tools; deltalake has the same library and takes the same ones. None of them stands in
a URL or a message.
"""

from __future__ import annotations

import contextlib
import functools
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from ingest import settings
from ingest.errors import InputError, StorageAway, StorageFailed
from ingest.storage.object_urls import Place, credentials_of, is_object

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_Answer = TypeVar("_Answer")

_AWS = ("s3a", "s3")
# Of the environment's variables those that a client reads.
_OF_CLIENTS = re.compile(r"(AWS|AZURE|GOOGLE)_\w+")
# Seconds for which a request is sent again: before the store has answered this process, where the
# address may be wrong, and afterwards, where the store may have been restarted.
_AT_FIRST, _AFTERWARDS = 5.0, 60.0
# Seconds between two of these, at most.
_LONGEST_REST = 3.0
_MOST_RETRIES = 1_000


@dataclass(eq=False)
class Bucket:
    """Clients of a bucket. After a fork its owner's clients do not answer in the child."""

    url: str
    _patient: ObjectStore = field(repr=False)
    _quick: ObjectStore = field(repr=False)
    _once: ObjectStore = field(repr=False)
    _has_answered: bool = False

    @property
    def patience(self) -> float:
        """Seconds for which a request is sent again."""
        return _AFTERWARDS if self._has_answered else _AT_FIRST

    @contextlib.contextmanager
    def reached(self, path: str = "", *, once: bool = False) -> Iterator[ObjectStore]:
        """Give a client, which sends a request again for a while unless `once`.

        What the client raises is FileNotFoundError, AlreadyExistsError and PreconditionError;
        everything else becomes StorageFailed, StorageAway where it may pass. `path` is for
        messages.
        """
        again = self._patient if self._has_answered else self._quick
        try:
            yield self._once if once else again
        except (FileNotFoundError, AlreadyExistsError, PreconditionError) as error:
            self._has_answered = True
            if "NoSuchBucket" in str(error):
                raise failure(f"{self.url}/{path}", error) from None
            raise
        except (BaseError, OSError, ValueError) as error:
            # Not chained: the store's answer may have the request's signature.
            raise failure(f"{self.url}/{path}", error) from None
        self._has_answered = True

    def read(self, path: str, request: Callable[[ObjectStore], _Answer]) -> _Answer:
        """Send a request that changes nothing, also again where its answer breaks off.

        Raises as `reached`.
        """

        def send() -> _Answer:
            with self.reached(path) as store:
                return request(store)

        return self.again(send)

    def again(self, send: Callable[[], _Answer]) -> _Answer:
        """What `send`, which changes nothing, returns; called again while it raises StorageAway."""
        until = time.monotonic() + self.patience
        for rest in rests():
            try:
                return send()
            except StorageAway:
                if time.monotonic() > until:
                    raise
            time.sleep(rest)
        raise AssertionError("it has tried for ever")


def rests() -> Iterator[float]:
    """Seconds between requests that are sent again, for ever."""
    longest = 0.1
    while True:
        yield random.uniform(0.05, longest)  # noqa: S311
        longest = min(_LONGEST_REST, 2 * longest)


def bucket_of(url: str) -> Bucket:
    """Clients of the bucket of a place. Raises InputError where the environment lacks something."""
    variables = frozenset(
        (name, value)
        for name, value in settings.environment().items()
        if _OF_CLIENTS.fullmatch(name)
    )
    return _bucket(url, variables)


@functools.lru_cache(maxsize=16)
def _bucket(url: str, variables: frozenset[tuple[str, str]]) -> Bucket:
    _check_variables(url.partition(":")[0], dict(variables))
    try:
        patient, quick = (
            from_url(
                url,
                retry_config={
                    "max_retries": _MOST_RETRIES,
                    "retry_timeout": timedelta(seconds=seconds),
                    "backoff": {
                        "init_backoff": timedelta(milliseconds=100),
                        "max_backoff": timedelta(seconds=_LONGEST_REST),
                        "base": 2,
                    },
                },
            )
            for seconds in (_AFTERWARDS, _AT_FIRST)
        )
        return Bucket(url, patient, quick, from_url(url, retry_config={"max_retries": 0}))
    except (BaseError, ValueError) as error:
        raise InputError(f"{url}: {_first_line(error)}") from None


def _check_variables(scheme: str, variables: Mapping[str, str]) -> None:
    """Raise InputError for what a client would answer with a minute of silence, or in riddles."""
    if scheme not in _AWS:
        return
    if "AWS_PROFILE" in variables and "AWS_ACCESS_KEY_ID" not in variables:
        raise InputError(
            "AWS_PROFILE is not read: put its keys into the environment, with "
            'eval "$(aws configure export-credentials --format env)"'
        )
    if ("AWS_ACCESS_KEY_ID" in variables) != ("AWS_SECRET_ACCESS_KEY" in variables):
        raise InputError("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together: set both")
    endpoint = _endpoint(variables)
    if endpoint and not urlsplit(endpoint).scheme.startswith("http"):
        raise InputError("AWS_ENDPOINT_URL is no URL such as https://s3.example.com")
    is_allowed = variables.get("AWS_ALLOW_HTTP", "").lower() in ("true", "1", "yes", "on", "y")
    if endpoint.startswith("http:") and not is_allowed:
        raise InputError(
            "AWS_ENDPOINT_URL begins with http://, which is not encrypted: set AWS_ALLOW_HTTP=true "
            "if that is meant"
        )


def delta_options(url: str) -> dict[str, str] | None:
    """Options for deltalake: to send a request again as long as a Bucket does; None for a path.

    Raises InputError.
    """
    if not is_object(url):
        return None
    return {
        "max_retries": str(_MOST_RETRIES),
        "retry_timeout": f"{bucket_of(Place.of(url).bucket).patience:.0f}s",
        "backoff_config.init_backoff": "100ms",
        "backoff_config.max_backoff": f"{_LONGEST_REST:.0f}s",
    }


_NO_RIGHT = "the credentials may not do this ({0}): they need to read, write, list and delete"
# What a person can do, by what the store or the client says; the first that is found counts.
_MEANINGS = (
    (
        r"169\.254\.169\.254|metadata\.google|NoAuthWithAWSException|Unable to load credentials",
        "there are no credentials: set {variables}",
    ),
    (
        r"\bNoSuchBucket\b|ContainerNotFound|Bucket does not exist",
        "there is no such bucket: create it, or mend the name",
    ),
    (
        r"\b(ExpiredToken\w*|TokenRefreshRequired|RequestExpired)\b",
        "the credentials have expired ({0}): get new ones, and start again",
    ),
    (
        r"\b(SignatureDoesNotMatch|Invalid(?:AccessKeyId|Token)|AuthenticationFailed|401 \w+)\b",
        "the credentials are refused ({0}): look at {variables}",
    ),
    (
        r"\b(PermanentRedirect|AuthorizationHeaderMalformed|Received redirect)\b",
        "the bucket is in another region ({0}): set AWS_REGION",
    ),
    (r"\bRequestTimeTooSkewed\b", "the clock of this machine is wrong: set it"),
    (r"\b(AccessDenied|AllAccessDisabled)\b", _NO_RIGHT),
    # Of a HEAD, all that there is.
    (r"\b(403 Forbidden|Status Code: 403)\b", _NO_RIGHT),
    (r"URL scheme is not allowed|BadScheme", "the endpoint is http://: set AWS_ALLOW_HTTP=true"),
    (r"\b(NotImplemented|501 Not Implemented)\b", "the store lacks what is needed ({0})"),
)
_AWAY = re.compile(
    r"error sending request|operation timed out|TimedOut|"
    r"connection (?:reset|closed|refused)|response body|IncompleteMessage|"
    # Of AWS's client for Java.
    r"Unable to execute HTTP request|UnknownHostException",
    re.IGNORECASE,
)


_FAILS = re.compile(
    r"\b50[0234] [A-Z]\w+(?: [A-Z]\w+)*|SlowDown|429 Too Many|Status Code: (?:50[0234]|429)"
)


def failure(url: str, error: BaseException) -> StorageFailed:
    """What an error of a client, or of deltalake, means for the object or folder at `url`."""
    text = str(error)
    scheme = url.partition(":")[0]
    for pattern, meaning in _MEANINGS:
        if found := re.search(pattern, text, re.DOTALL):
            said = meaning.format(found[found.lastindex or 0], variables=credentials_of(scheme))
            return StorageFailed(f"{url}: {said}")
    endpoint = _endpoint(settings.environment()) if scheme in _AWS else ""
    where = endpoint or "the object store"
    if found := _FAILS.search(text):
        return StorageAway(f"{url}: {where} fails ({found[0]}): try again later")
    if _AWAY.search(text):
        remedy = "AWS_ENDPOINT_URL" if scheme in _AWS else "the network"
        return StorageAway(f"{url}: {where} does not answer: see that it runs, and {remedy}")
    return StorageFailed(f"{url}: {_first_line(error)}")


def _first_line(error: BaseException) -> str:
    """What a client says first, without what is for its makers."""
    text = str(error).partition("Debug source:")[0]
    return " ".join(re.sub(r"<\?xml.*|\x1b\[\d*m|↳", "", text, flags=re.DOTALL).split())[:300]


def _endpoint(variables: Mapping[str, str]) -> str:
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    return next((variables[name] for name in names if variables.get(name)), "")
