"""Find files below a stream's folder.

Spark's own file source lists everything at every trigger, passes over files older than the
newest it has seen, and never notices a changed one. Here only open dated folders are listed
again, a file's age means nothing, and size and time of change come with each name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from pyarrow import fs

from ingest import settings
from ingest.declarations.globs import matches
from ingest.declarations.stream import DatedFolders, FileSource, Stream
from ingest.errors import DeclarationInvalid, FolderMissing, SourceUnreadable
from ingest.storage.files import LOCAL, opened


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file as a listing showed it; `modified_us` counts microseconds since 1970 in UTC."""

    path: str
    size: int
    modified_us: int


def check_folder(source: FileSource, declared: str) -> None:
    """Raise FolderMissing where the stream's folder is none; `declared` names the stream."""
    if reason := _why_no_folder(source):
        raise FolderMissing(f"{declared}: {reason}")


def check_paths(streams: Iterable[Stream]) -> list[str]:
    """Folders that are not there yet, in words. Raises DeclarationInvalid where one is a file."""
    missing, wrong = [], []
    for stream in streams:
        if isinstance(stream.source, FileSource) and (reason := _why_no_folder(stream.source)):
            place = f"{stream.declared_in}: {stream.name}"
            missing.append(f"{place}: {reason}")
            system, root = _opened(stream.source)
            if system.get_file_info(root).type is fs.FileType.File:
                wrong.append((place, f"meta.ingest.{reason}"))
    if wrong:
        raise DeclarationInvalid(wrong)
    return missing


def _why_no_folder(source: FileSource) -> str | None:
    system, root = _opened(source)
    kind = system.get_file_info(root).type
    if kind is fs.FileType.Directory:
        return None
    if kind is fs.FileType.File:
        return f"path {source.path!r}: {root} is a file; name its folder, and path_glob_filter"
    return f"path {source.path!r}: {root} is not a folder; create it or mend the path"


def listed(source: FileSource, known: Collection[str], now: datetime) -> list[FoundFile]:
    """Files of the stream, oldest first, without those of closed folders that `known` shows.

    A closed folder from which no file is known is listed: it came late, or this is the first
    time. Raises SourceUnreadable.
    """
    system, root = _opened(source)
    prefix = source.path.split("://")[0] + "://" if "://" in source.path else ""
    closed = _closed_folders(source.dated_folders, known, now.date())
    youngest = (now - source.min_file_age).timestamp()
    try:
        found = [
            FoundFile(prefix + info.path, info.size, info.mtime_ns // 1000)
            for info in _walked(system, root, closed)
            if matches(info.base_name, source.path_glob_filter)
            and (not source.min_file_age or info.mtime_ns / 1e9 <= youngest)
        ]
    except OSError as error:
        raise SourceUnreadable(f"{source.path}: cannot be listed: {error}") from error
    return sorted(found, key=lambda file: (file.modified_us, file.path))


def released_files(folder: Path) -> list[FoundFile]:
    """Files of records that left quarantine."""
    found = ((path, path.stat()) for path in sorted(folder.glob("*.jsonl")))
    return [FoundFile(str(path), one.st_size, one.st_mtime_ns // 1000) for path, one in found]


def folder_of(source: FileSource) -> str:
    """The stream's folder, in its file system."""
    return _opened(source)[1]


def _opened(source: FileSource) -> tuple[fs.FileSystem, str]:
    located = settings.located(source.path)
    # The declared URL has blanks and the like as %20; what is found below it has them plain.
    return opened(unquote(located) if located.startswith(LOCAL) else located)


def _walked(system: fs.FileSystem, folder: str, closed: frozenset[str]) -> Iterator[fs.FileInfo]:
    for info in system.get_file_info(fs.FileSelector(folder)):
        # A leading dot or underscore marks what is not (yet) data, as everywhere in Hadoop.
        if info.base_name.startswith((".", "_")):
            continue
        if info.type == fs.FileType.Directory:
            if info.path not in closed:
                yield from _walked(system, info.path, closed)
        elif info.type == fs.FileType.File:
            yield info


def _closed_folders(
    dated: DatedFolders | None, known: Collection[str], today: date
) -> frozenset[str]:
    if dated is None:
        return frozenset()
    oldest_open = today - dated.open_for
    return frozenset(
        str(folder)
        for folder in {parent for path in known for parent in PurePosixPath(path).parents}
        if (day := _day(folder.name, dated.format)) and day < oldest_open
    )


def _day(name: str, pattern: str) -> date | None:
    try:
        return datetime.strptime(name, pattern).replace(tzinfo=UTC).date()
    except ValueError:
        return None
