"""Find files below a stream's folder.

Spark's own file source lists everything at every trigger, passes over files older than the
newest it has seen, and never notices a changed one. Here only open dated folders are listed
again, a file's age means nothing, and size and time of change come with each name.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import assert_never
from urllib.parse import unquote

from ingest import settings
from ingest.declarations.globs import matches
from ingest.declarations.stream import DatedFolders, FileSource, KafkaSource, Stream
from ingest.errors import DeclarationInvalid, FolderMissing, SourceUnreadable
from ingest.storage import files
from ingest.storage.files import FoundFile
from ingest.storage.layout import Lake
from ingest.storage.local import LOCAL
from ingest.storage.object_urls import is_object

log = logging.getLogger(__name__)


def check_folder(source: FileSource, declared: str) -> None:
    """Raise FolderMissing where the stream's folder is none; `declared` names the stream.

    An object store has no empty folders, so that one which has no files yet is only reported.
    """
    reason = _why_no_folder(source)
    if reason and is_object(folder := _folder_of(source)) and not files.is_file(folder):
        log.warning("%s: %s", declared, reason)
    elif reason:
        raise FolderMissing(f"{declared}: {reason}")


def check_paths(streams: Iterable[Stream]) -> list[str]:
    """Folders that are not there yet, in words. Raises DeclarationInvalid where one is a file."""
    missing, wrong = [], []
    for stream in streams:
        match source := stream.source:
            case FileSource():
                if reason := _why_no_folder(source):
                    place = f"{stream.declared_in}: {stream.name}"
                    missing.append(f"{place}: {reason}")
                    if files.is_file(_folder_of(source)):
                        wrong.append((place, f"meta.ingest.{reason}"))
            case KafkaSource():
                pass
            case _:
                assert_never(source)
    if wrong:
        raise DeclarationInvalid(wrong)
    return missing


def _why_no_folder(source: FileSource) -> str | None:
    folder = _folder_of(source)
    if files.is_folder(folder):
        return None
    if is_object(folder) and not files.is_file(folder):
        return f"path {source.path!r}: {folder} has no files yet; wait for them or mend the path"
    shown = folder.removeprefix(LOCAL)
    if files.is_file(folder):
        return f"path {source.path!r}: {shown} is a file; name its folder, and path_glob_filter"
    return f"path {source.path!r}: {shown} is not a folder; create it or mend the path"


def listed(
    source: FileSource,
    known: Mapping[str, tuple[int, int]],
    now: datetime,
    after: str | None = None,
) -> list[FoundFile]:
    """Files of the stream that are new or have changed, oldest first; see FileQueue.known.

    Those of closed folders are left out. A closed folder from which no file is known is listed: it
    came late, or this is the first time. For `after` see `files.walk`. Raises SourceUnreadable.
    """
    closed = _closed_folders(source.dated_folders, known, now.date())
    youngest = (now - source.min_file_age).timestamp()
    try:
        found = [
            file
            for file in files.walk(_folder_of(source), closed, after)
            if known.get(file.path) != (file.size, file.modified_us)
            and matches(file.path.rpartition("/")[2], source.path_glob_filter)
            and (not source.min_file_age or file.modified_us / 1e6 <= youngest)
        ]
    except OSError as error:
        raise SourceUnreadable(f"{source.path}: cannot be listed: {error}") from error
    return sorted(found, key=lambda file: (file.modified_us, file.path))


def released_files(lake: Lake, table: str) -> list[FoundFile]:
    """Files of records that left quarantine and are to land in a table, by name."""
    folder = lake.released(table)
    return [
        FoundFile(lake.url(f"{folder}/{one.name}"), one.size, one.modified_us)
        for one in sorted(lake.storage.list(folder))
        if one.name.endswith(".jsonl")
    ]


def path_in_folder(path: str, source: FileSource) -> str | None:
    """The path of a file below the stream's folder; None where it is elsewhere."""
    root = _folder_of(source).removeprefix(LOCAL).rstrip("/") + "/"
    file = path.removeprefix(LOCAL)
    return file.removeprefix(root) if file.startswith(root) else None


def _folder_of(source: FileSource) -> str:
    """The stream's folder: an absolute path or a URL, in which names are as they are."""
    located = settings.located(source.path)
    # The declared URL has blanks and the like as %20; what is found below it has them plain.
    return unquote(located) if located.startswith(LOCAL) else located


def _closed_folders(
    dated: DatedFolders | None, known: Iterable[str], today: date
) -> frozenset[str]:
    if dated is None:
        return frozenset()
    oldest_open = today - dated.open_for
    folders: set[str] = set()
    for path in known:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(
        folder
        for folder in folders
        if (day := _day(folder.rpartition("/")[2], dated.format)) and day < oldest_open
    )


def _day(name: str, pattern: str) -> date | None:
    try:
        return datetime.strptime(name, pattern).replace(tzinfo=UTC).date()
    except ValueError:
        return None
