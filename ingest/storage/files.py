"""Files by their paths or URLs."""

from __future__ import annotations

from pyarrow import fs

# How the URL of a local path begins.
LOCAL = "file://"


def opened(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of a path or of a URL that `listed` gave, and the path there."""
    if path.startswith(LOCAL) or "://" not in path:
        return fs.LocalFileSystem(), path.removeprefix(LOCAL)
    found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(path)
    return found


def size_of(path: str) -> int:
    """Bytes of a file; 0 where there is none."""
    system, inside = opened(path)
    return system.get_file_info(inside).size or 0
