"""Files of landing folders by their URLs: listed, read, moved and deleted."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pyarrow import NativeFile, fs

from ingest.storage.local import LOCAL


class FoundFile(NamedTuple):
    """A file as a listing showed it; `modified_us` counts microseconds since 1970 in UTC."""

    path: str
    size: int
    modified_us: int


def opened(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or of a URL that `walk` gave, and the path there."""
    if path.startswith(LOCAL) or "://" not in path:
        return fs.LocalFileSystem(), path.removeprefix(LOCAL)
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(path)
    return found


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none."""
    return _info(path).size or 0


def is_file(path: str) -> bool:
    """Return whether there is a file."""
    return _info(path).type is fs.FileType.File


def is_folder(path: str) -> bool:
    """Return whether there is a folder."""
    return _info(path).type is fs.FileType.Directory


def open_stream(path: str) -> NativeFile:
    """Open a file to read it from its start, unpacked as its ending says. Raises OSError."""
    system, inside = opened(path)
    return system.open_input_stream(inside)


def open_file(path: str) -> NativeFile:
    """Open a file to read parts of it, as it is. Raises OSError."""
    system, inside = opened(path)
    return system.open_input_file(inside)


def ending_of(path: str) -> str:
    """The last ending of a file's name in small letters, with its dot; empty where it has none."""
    name = path.rpartition("/")[2].lower()
    stem, dot, ending = name.rpartition(".")
    return dot + ending if stem and ending else ""


def walk(folder: str, is_left_out: Callable[[str], bool]) -> Iterator[FoundFile]:
    """Find the files below a folder, but for the folders that are left out. Raises OSError.

    A leading dot or underscore marks what is not (yet) data, as everywhere in Hadoop.
    """
    system, inside = opened(folder)
    scheme, mark, _ = folder.partition("://")
    prefix = scheme + mark if mark else ""

    def found(below: str) -> Iterator[FoundFile]:
        for info in system.get_file_info(fs.FileSelector(below)):
            if info.base_name.startswith((".", "_")):
                continue
            path = prefix + info.path
            if info.type is fs.FileType.Directory:
                if not is_left_out(path):
                    yield from found(info.path)
            elif info.type is fs.FileType.File:
                yield FoundFile(path, info.size, info.mtime_ns // 1000)

    return found(inside)


def delete(path: str) -> None:
    """Delete a local file, if there is one. Raises OSError."""
    _local(path).unlink(missing_ok=True)


def move(path: str, target: str) -> None:
    """Move a local file, if there is one, to a path whose folders are created. Raises OSError."""
    file, to = _local(path), _local(target)
    if file.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, to)


def _info(path: str) -> fs.FileInfo:
    system, inside = opened(path)
    return system.get_file_info(inside)


def _local(path: str) -> Path:
    return Path(path.removeprefix(LOCAL))
