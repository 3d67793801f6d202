"""Files of landing folders by their URLs: listed, read, moved and deleted.

What cannot be read raises OSError, or StorageFailed where an object store says so.
"""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import NativeFile, fs

from ingest.storage.local import LOCAL
from ingest.storage.object_urls import Place, is_object


class FoundFile(NamedTuple):
    """A file as a listing showed it; `modified_us` counts microseconds since 1970 in UTC."""

    path: str
    size: int
    modified_us: int


# Of files in object stores, where each question is a request: two batches of files or so.
_MOST_SIZES = 20_000
_sizes: OrderedDict[str, int] = OrderedDict()


def remember_sizes(files: Iterable[tuple[str, int]]) -> None:
    """Note sizes of files as a listing showed them, so that `size_of` need not ask."""
    for path, size in files:
        if is_object(path):
            _sizes[path] = size
            _sizes.move_to_end(path)
    while len(_sizes) > _MOST_SIZES:
        _sizes.popitem(last=False)


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none. In an object store perhaps those that it had."""
    if not is_object(path):
        return _info(path).size or 0
    if (size := _sizes.get(path)) is None:
        from ingest.storage.object_files import object_size

        size = object_size(path) or 0
        remember_sizes([(path, size)])
    return size


def is_file(path: str) -> bool:
    """Return whether there is a file."""
    if is_object(path):
        from ingest.storage.object_files import object_size

        return bool(Place.of(path).path) and object_size(path) is not None
    return _info(path).type is fs.FileType.File


def is_folder(path: str) -> bool:
    """Return whether there is a folder; in an object store, whether there is a file below it."""
    if is_object(path):
        from ingest.storage.object_files import has_objects

        return has_objects(path)
    return _info(path).type is fs.FileType.Directory


def open_stream(path: str) -> NativeFile:
    """Open a file to read it from its start, unpacked as its ending says."""
    if not is_object(path):
        return fs.LocalFileSystem().open_input_stream(_inside(path))
    packed = open_file(path)
    try:
        codec = pa.Codec.detect(path)
    except (TypeError, ValueError):
        return packed
    return pa.CompressedInputStream(packed, codec.name)


def open_file(path: str) -> NativeFile:
    """Open a file to read parts of it, as it is."""
    if is_object(path):
        from ingest.storage.object_files import object_file

        return pa.PythonFile(object_file(path), mode="r")
    return fs.LocalFileSystem().open_input_file(_inside(path))


def ending_of(path: str) -> str:
    """The last ending of a file's name in small letters, with its dot; empty where it has none."""
    name = path.rpartition("/")[2].lower()
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem and ending else ""


def walk(folder: str, left_out: Collection[str], after: str | None = None) -> Iterator[FoundFile]:
    """Find the files below a folder, but for the folders that are left out.

    In an object store, with `after`, those whose paths sort behind it.
    A leading dot or underscore marks what is not (yet) data, as everywhere in Hadoop.
    """
    if is_object(folder):
        return _walk_objects(folder, left_out, after)
    prefix = LOCAL if folder.startswith(LOCAL) else ""
    system = fs.LocalFileSystem()

    def found(below: str) -> Iterator[FoundFile]:
        for info in system.get_file_info(fs.FileSelector(below)):
            if info.base_name.startswith((".", "_")):
                continue
            path = prefix + info.path
            if info.type is fs.FileType.Directory:
                if path not in left_out:
                    yield from found(info.path)
            elif info.type is fs.FileType.File:
                yield FoundFile(path, info.size, info.mtime_ns // 1000)

    return found(_inside(folder))


def _walk_objects(folder: str, left_out: Collection[str], after: str | None) -> Iterator[FoundFile]:
    from ingest.storage.object_files import found_objects

    bucket = Place.of(folder).bucket
    for one in found_objects(folder, left_out, after):
        modified_us = int(one["last_modified"].timestamp() * 1_000_000)
        yield FoundFile(f"{bucket}/{one['path']}", one["size"], modified_us)


def delete(path: str) -> None:
    """Delete a file, if there is one."""
    if is_object(path):
        from ingest.storage.object_files import delete_object

        delete_object(path)
    else:
        Path(_inside(path)).unlink(missing_ok=True)


def move(path: str, target: str) -> None:
    """Move a file, if there is one, to a path whose folders are created.

    Both are local, or in one bucket.
    """
    if is_object(path):
        from ingest.storage.object_files import move_object

        move_object(path, target)
        return
    file, to = Path(_inside(path)), Path(_inside(target))
    if file.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, to)


def _info(path: str) -> fs.FileInfo:
    return fs.LocalFileSystem().get_file_info(_inside(path))


def _inside(path: str) -> str:
    return path.removeprefix(LOCAL)
