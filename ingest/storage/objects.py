"""Storage in a bucket of an object store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError

from ingest.errors import StorageAway, StorageFailed
from ingest.storage import object_lease
from ingest.storage.object_lease import ObjectLease
from ingest.storage.object_store import Bucket, bucket_of, rests
from ingest.storage.object_urls import Place
from ingest.storage.storage import Entry, Lease

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

# Objects of one answer of a store.
_PAGE = 1_000
# Seconds for which a new object is sent again.
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class ObjectStorage:
    """Implements Storage below the URL `root`, such as `s3a://bucket/lake`.

    `lease_seconds` is how long a lease lasts whose holder does not renew it. Raises InputError for
    a URL or an environment that cannot be right.
    """

    root: str
    lease_seconds: float = object_lease.SECONDS

    def __post_init__(self) -> None:
        Place.of(self.root)

    def url(self, key: str) -> str:
        """See Storage."""
        return f"{self.root}/{key}" if key else self.root

    def read(self, key: str) -> bytes | None:
        """See Storage."""
        bucket, path = self._at(key)
        try:
            return bucket.read(path, lambda store: bytes(obstore.get(store, path).bytes()))
        except FileNotFoundError:
            return None

    def put(self, key: str, content: bytes) -> None:
        """See Storage."""
        bucket, path = self._at(key)
        with bucket.reached(path) as store:
            obstore.put(store, path, content)

    def put_new(self, key: str, content: bytes) -> bool:
        """See Storage.

        The client is not left to send it again: then what it has created itself would look like
        another process's.
        """
        bucket, path = self._at(key)
        until, is_unsure = time.monotonic() + _PATIENCE, False
        for rest in rests():
            try:
                with bucket.reached(path, once=True) as store:
                    obstore.put(store, path, content, mode="create")
                return True
            except AlreadyExistsError:
                there = self.read(key)
                if there is not None:
                    return is_unsure and there == content
                # A conflict (409) with one that came to nothing, or one that was deleted since.
                if time.monotonic() > until:
                    raise StorageFailed(f"{self.url(key)}: conflicts without end") from None
            except StorageAway:
                is_unsure = True
                if time.monotonic() > until:
                    raise
            time.sleep(rest)
        raise AssertionError("it has tried for ever")

    def exists(self, key: str) -> bool:
        """See Storage. An object without bytes may stand for an empty folder, and is none."""
        bucket, path = self._at(key)
        if key:
            with contextlib.suppress(FileNotFoundError):
                bucket.read(path, lambda store: obstore.head(store, path))
                return True
        return any(one["size"] for one in _below(bucket, path))

    def delete(self, key: str) -> None:
        """See Storage."""
        bucket, path = self._at(key)
        with contextlib.suppress(FileNotFoundError), bucket.reached(path) as store:
            obstore.delete(store, path)

    def delete_tree(self, key: str) -> None:
        """See Storage."""
        bucket, path = self._at(key)
        with contextlib.suppress(FileNotFoundError, StorageFailed):
            for page in listed_pages(bucket, path):
                with bucket.reached(path) as store:
                    obstore.delete(store, [one["path"] for one in page])

    def list(self, key: str) -> Iterator[Entry]:
        """See Storage: page by page where there are files alone.

        Of a folder that has folders, the store would list all that is in them. Those are asked for
        at once, by name alone.
        """
        bucket, path = self._at(key)
        start = len(path) + 1 if path else 0
        last = ""
        for one in _below(bucket, path):
            name = one["path"][start:]
            if "/" in name or not one["size"]:
                # One without bytes may stand for a folder, which the other list tells apart.
                break
            last = name
            if _is_shown(name):
                yield _file(name, one)
        else:
            return
        found = bucket.read(path, lambda store: obstore.list_with_delimiter(store, path))
        for folder in found["common_prefixes"]:
            name = folder[start:]
            if not name.startswith("."):
                yield Entry(name, 0, 0, is_folder=True)
        for one in found["objects"]:
            name = one["path"][start:]
            if name > last and _is_shown(name):
                yield _file(name, one)

    @contextlib.contextmanager
    def lease(self, key: str) -> Iterator[Lease]:
        """See Storage."""
        bucket, path = self._at(key)
        lease = ObjectLease(bucket, path, self.lease_seconds)
        lease.take()
        try:
            yield lease
        finally:
            lease.release()

    def is_leased(self, key: str) -> bool:
        """See Storage."""
        bucket, path = self._at(key)
        return object_lease.is_leased(bucket, path)

    def _at(self, key: str) -> tuple[Bucket, str]:
        place = Place.of(self.root)
        return bucket_of(place.bucket), "/".join(one for one in (place.path, key) if one)


def listed_pages(bucket: Bucket, path: str, after: str | None = None) -> Iterator[list[ObjectMeta]]:
    """All objects below a folder, to the bottom, in the order of their names, from `after` on.

    Where an answer breaks off, from the last name that came.
    """
    last = after
    pages: Iterator[Sequence[ObjectMeta]] | None = None

    def next_page(store: ObjectStore) -> Sequence[ObjectMeta] | None:
        nonlocal pages
        waiting, pages = pages, None
        if waiting is None:
            waiting = obstore.list(store, path or None, offset=last, chunk_size=_PAGE)
        page = next(waiting, None)
        pages = waiting
        return page

    while (page := bucket.read(path, next_page)) is not None:
        if page:
            last = page[-1]["path"]
            yield list(page)


def _below(bucket: Bucket, path: str) -> Iterator[ObjectMeta]:
    for page in listed_pages(bucket, path):
        yield from page


def _is_shown(name: str) -> bool:
    """Whether an object is a file: not one that stands for the folder itself."""
    return bool(name) and not name.startswith(".")


def _file(name: str, one: ObjectMeta) -> Entry:
    modified_us = int(one["last_modified"].timestamp() * 1_000_000)
    return Entry(name, one["size"], modified_us, is_folder=False)
