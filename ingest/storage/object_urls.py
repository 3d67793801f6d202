"""URLs of object stores."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.errors import InputError

SCHEMES = ("s3a", "s3", "abfss", "gs")


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket by its URL, and a path in it: without slashes around it, as it is, unquoted."""

    bucket: str
    path: str

    @staticmethod
    def of(url: str) -> Place:
        """Parse `s3a://bucket/path`. Raises InputError, which repeats no user or key."""
        scheme, _, rest = url.partition("://")
        host, _, path = rest.partition("/")
        if scheme not in SCHEMES:
            shown = f"{scheme}://…" if "@" in rest else url
            allowed = ", ".join(f"{one}://" for one in SCHEMES)
            raise InputError(f"{shown}: only local folders and {allowed} can be read and written")
        if ":" in host or ("@" in host and scheme != "abfss"):
            raise InputError(
                f"a URL of {scheme}:// has a bucket, and no user, key or port before its first /: "
                f"set {credentials_of(scheme)}"
            )
        if not host or (scheme == "abfss" and "@" not in host):
            raise InputError(f"{url} names no bucket: write {_EXAMPLES[scheme]}")
        path = path.strip("/")
        if path and {"", ".", ".."} & set(path.split("/")):
            raise InputError(f"{url}: a path in a bucket has no empty names, and no . or ..")
        return Place(f"{scheme}://{host}", path)


_EXAMPLES = {
    "s3a": "s3a://bucket/lake",
    "s3": "s3a://bucket/lake",
    "gs": "gs://bucket/lake",
    "abfss": "abfss://container@account.dfs.core.windows.net/lake",
}


def is_object(url: str) -> bool:
    """Return whether a path or URL is one of an object store."""
    return url.partition("://")[0] in SCHEMES


def credentials_of(scheme: str) -> str:
    """Variables of the environment that let a process in, for messages."""
    match scheme:
        case "abfss":
            return "AZURE_STORAGE_ACCOUNT_KEY, or what else Azure's tools take"
        case "gs":
            return "GOOGLE_APPLICATION_CREDENTIALS"
        case _:
            return "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, of a session, AWS_SESSION_TOKEN"
