"""How a declaration writes names, paths, times and sizes."""

from __future__ import annotations

import re
from datetime import timedelta

SIZE = re.compile(r"^\s*(\d+)\s*(b|kb|mb|gb|tb|k|m|g|t)?\s*$", re.IGNORECASE)
_SIZE_UNITS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# Names of tables and of groups.
IDENTIFIER = re.compile(r"^[a-z_][a-z0-9_]{0,127}$")
# Names of databases, which are part of those of slots; PostgreSQL has 63 characters for these.
DATABASE = re.compile(r"^[a-z0-9_]{1,40}$")
_PART = r"`((?:[^`]|``)+)`|([^.`]+)"
_PATH_PART, _PATH = re.compile(_PART), re.compile(rf"(?:{_PART})(?:\.(?:{_PART}))*")

Path = tuple[str, ...]


def split_path(text: str) -> Path:
    """`a.b` and ``a.`b.c` `` as path components."""
    return tuple(
        (quoted.replace("``", "`") or plain) for quoted, plain in _PATH_PART.findall(text.strip())
    )


def is_path(text: str) -> bool:
    """Whether a text is a path: names with a dot between, backticks around one with a dot."""
    return bool(_PATH.fullmatch(text.strip()))


def duration(text: str) -> timedelta:
    """A time such as `7 days`."""
    number, unit = text.split()
    return timedelta(**{unit.rstrip("s") + "s": int(number)})


def size_in_bytes(value: int | str) -> int:
    """Bytes of a size such as `512mb` (binary units)."""
    if isinstance(value, int):
        return value
    match = SIZE.match(value)
    if not match:
        raise ValueError(f"{value!r} is not a size such as 512mb")
    unit = (match[2] or "").lower().removesuffix("b")
    return int(match[1]) << 10 * _SIZE_UNITS[unit]
