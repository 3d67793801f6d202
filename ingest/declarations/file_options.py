"""What a declaration says of files: their folder, their names, and how CSV is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from ingest import settings
from ingest.declarations.globs import glob_problem
from ingest.declarations.stream import CsvOptions
from ingest.errors import InputError
from ingest.storage.object_urls import SCHEMES, Place, is_object

# Of one letter, it is a drive.
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]+):(//)?")
_CHARACTERS = ("sep", "quote", "escape")
_SOME_DAY = date(2026, 11, 28)


def file_problems(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each (key, reason) why files cannot be found or read as declared."""
    if "path" in declared and (reason := _path_problem(declared["path"])):
        yield "meta.ingest.path", reason
    if "move_destination" in declared:
        problem = _move_problem(str(declared.get("path", "")), declared["move_destination"])
        if problem:
            yield "meta.ingest.move_destination", problem
    if (glob := declared.get("path_glob_filter")) is not None and (reason := _names_problem(glob)):
        yield "meta.ingest.path_glob_filter", reason
    if "dated_folders" in declared and not _names_days(form := declared["dated_folders"]["format"]):
        reason = f"{form!r} is no format of days, such as dt=%Y-%m-%d"
        yield "meta.ingest.dated_folders.format", reason
    yield from _csv_problems(declared.get("csv", {}))


def _path_problem(path: str) -> str | None:
    scheme = _SCHEME.match(path)
    if scheme and scheme[1] in SCHEMES:
        return _url_problem(path)
    if scheme and scheme[1] != "file":
        allowed = ", ".join(f"{one}://" for one in SCHEMES)
        return f"{path!r}: nothing reads {scheme[0]}; local paths, file:/// and {allowed} are read"
    if path.startswith("~"):
        return f"{path!r}: ~ is no folder here; write the path in full"
    if path.startswith("file:") and not re.match(r"file:///[^\s]*$", path):
        return f"{path!r} is no URL of a local folder, such as file:///data/my%20orders"
    return None


def _url_problem(url: str) -> str | None:
    try:
        Place.of(settings.located(url))
    except InputError as error:
        return str(error)
    return None


def _move_problem(path: str, target: str) -> str | None:
    scheme = _SCHEME.match(target)
    if scheme and scheme[1] not in SCHEMES:
        return f"{target!r}: files are moved to local folders, or within a bucket"
    if scheme and (problem := _url_problem(target)):
        return problem
    from_bucket, to_bucket = (
        Place.of(settings.located(one)).bucket if is_object(one) and not _url_problem(one) else ""
        for one in (path, target)
    )
    if from_bucket != to_bucket:
        there = f"the bucket {from_bucket}" if from_bucket else "local folders"
        return f"{target!r}: files of {path!r} are moved within {there} only"
    return None


def _names_problem(glob: str) -> str | None:
    if "/" in glob:
        return f"{glob!r}: no file's name has a /, its folder is path"
    if glob.startswith((".", "_")):
        return f"{glob!r}: names that begin with . or _ are passed over"
    return glob_problem(glob)


def _names_days(form: str) -> bool:
    """Whether the name of a day's folder can be parsed back to the day."""
    name = _SOME_DAY.strftime(form)
    try:
        day = datetime.strptime(name, form).replace(tzinfo=UTC).date()
    except ValueError:
        return False
    return day == _SOME_DAY and "/" not in name


def _csv_problems(csv: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    default = CsvOptions()
    found = {key: csv.get(key, getattr(default, key)) for key in _CHARACTERS}
    for key, text in found.items():
        where = f"meta.ingest.csv.{key}"
        if len(text) > 1:
            yield where, f"'{text}' has {len(text)} characters; one is allowed{_in_yml(text)}"
        elif text in ("\n", "\r"):
            yield where, f"{text!r} ends a line"
        elif text > "\uffff":
            yield where, f"{text!r} is more than one character to Spark"
    if found["sep"] == "\\":
        yield "meta.ingest.csv.sep", "a backslash separates no values in Spark"
    for key in ("quote", "escape"):
        if found[key] == found["sep"]:
            yield f"meta.ingest.csv.{key}", f"{found[key]!r} is csv.sep, too"


def _in_yml(text: str) -> str:
    """What to write for a character that was escaped in single quotes, as yml does not read it."""
    if not re.fullmatch(r"\\([0abtnvfre]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})", text):
        return ""
    return f'; write it in double quotes: "{text}"'
