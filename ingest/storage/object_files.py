"""Files of landing folders in a bucket: found, and read in parts."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import GenericError, PreconditionError

from ingest.storage.object_store import Bucket, bucket_of
from ingest.storage.object_urls import Place
from ingest.storage.objects import listed_pages

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta
    from obstore.store import ObjectStore

# Bytes that are asked for at once, at least; a file of no more is one request.
_BLOCK = 1 << 22


def found_objects(
    folder: str, left_out: Collection[str], after: str | None = None
) -> Iterator[ObjectMeta]:
    """Objects with bytes below a folder, but for the folders that are left out.

    With `after`, the path of one of them, those whose names sort behind it. Page by page in the
    order of names, so that the memory that it takes does not grow with them. An object without
    bytes may stand for an empty folder, and is no file here.
    """
    place = Place.of(folder)
    bucket = bucket_of(place.bucket)
    inside = len(place.bucket) + 1
    closed = {one[inside:] for one in left_out if one.startswith(f"{place.bucket}/")}
    if after is None:
        found = _without(bucket, place.path, closed)
    else:
        behind = itertools.chain.from_iterable(listed_pages(bucket, place.path, after[inside:]))
        found = (one for one in behind if closed.isdisjoint(_parents(one["path"])))
    return (one for one in found if _is_file(one, place.path))


def _without(bucket: Bucket, folder: str, closed: Collection[str]) -> Iterator[ObjectMeta]:
    """Objects below a folder that are in none of those that are closed.

    Only a folder that has a closed one somewhere is asked for by itself, all others as a whole.
    """
    parents = {parent for one in closed for parent in _parents(one)}

    def below(path: str) -> Iterator[ObjectMeta]:
        if path not in parents:
            yield from itertools.chain.from_iterable(listed_pages(bucket, path))
            return
        found = bucket.read(path, lambda store: obstore.list_with_delimiter(store, path))
        yield from found["objects"]
        for one in found["common_prefixes"]:
            if one not in closed and not _is_hidden(one.rpartition("/")[2]):
                yield from below(one)

    return below(folder)


def _is_file(one: ObjectMeta, folder: str) -> bool:
    below = one["path"][len(folder) :]
    return one["size"] > 0 and not any(map(_is_hidden, below.split("/")))


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _parents(path: str) -> Iterator[str]:
    while path:
        path = path.rpartition("/")[0]
        yield path


class ObjectFile(io.RawIOBase):
    """An object to read, from a bucket and a path; raises FileNotFoundError where there is none.

    It is read by ranges, each of which is asked for again where the store does not answer.
    """

    def __init__(self, bucket: Bucket, path: str) -> None:
        super().__init__()
        self._bucket, self._path = bucket, path
        self._position = self._block_start = self.size = 0
        self._etag: str | None = None
        self._block = memoryview(b"")
        bucket.read(path, self._begin)

    def _begin(self, store: ObjectStore) -> None:
        try:
            answer = obstore.get(store, self._path, options={"range": (0, _BLOCK)})
        except GenericError as error:
            # An object without bytes has no such range.
            if "416 " not in str(error):
                raise
        else:
            self.size, self._etag = answer.meta["size"], answer.meta["e_tag"]
            self._block = memoryview(answer.bytes())

    def readable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def seekable(self) -> bool:
        """See io.RawIOBase."""
        return True

    def tell(self) -> int:
        """See io.RawIOBase."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """See io.RawIOBase."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = start + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """All that was asked for, up to the file's end."""
        left = max(0, self.size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        start = self._position - self._block_start
        if not 0 <= start <= start + wanted <= len(self._block):
            self._block, self._block_start = self._range(wanted), self._position
            start = 0
        self._position += wanted
        return bytes(self._block[start : start + wanted])

    def readall(self) -> bytes:
        """See io.RawIOBase."""
        return self.read()

    def _range(self, wanted: int) -> memoryview:
        end = min(self.size, self._position + max(wanted, _BLOCK))
        # Parts of another object by this name, which came meanwhile, would not go together.
        options: GetOptions = {"range": (self._position, end), "if_match": self._etag}
        try:
            return self._bucket.read(
                self._path,
                lambda store: memoryview(obstore.get(store, self._path, options=options).bytes()),
            )
        except PreconditionError:
            url = f"{self._bucket.url}/{self._path}"
            raise OSError(f"{url} was replaced while it was read") from None


def object_file(url: str) -> ObjectFile:
    """Open the object at a URL to read it. Raises FileNotFoundError."""
    place = Place.of(url)
    return ObjectFile(bucket_of(place.bucket), place.path)


def object_size(url: str) -> int | None:
    """Bytes of the object at a URL; None where there is none."""
    place = Place.of(url)
    bucket = bucket_of(place.bucket)
    try:
        return bucket.read(place.path, lambda store: obstore.head(store, place.path)["size"])
    except FileNotFoundError:
        return None


def has_objects(url: str) -> bool:
    """Whether there is a file below the folder at a URL."""
    place = Place.of(url)
    pages = listed_pages(bucket_of(place.bucket), place.path)
    return any(one["size"] for page in pages for one in page)


def delete_object(url: str) -> None:
    """Delete the object at a URL, if there is one."""
    place = Place.of(url)
    bucket = bucket_of(place.bucket)
    with contextlib.suppress(FileNotFoundError), bucket.reached(place.path) as store:
        obstore.delete(store, place.path)


def move_object(url: str, target: str) -> None:
    """Copy an object within its bucket, then delete it; nothing where there is none."""
    place, to = Place.of(url), Place.of(target)
    bucket = bucket_of(place.bucket)
    try:
        with bucket.reached(place.path) as store:
            obstore.copy(store, place.path, to.path)
    except FileNotFoundError:
        return
    delete_object(url)
