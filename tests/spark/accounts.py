"""Compare a JSON record with what landed of it, by rules that share no code with `ingest`.

Each value of the record must be what its column shows, or stand in `_rescued` under its path.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)"
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?"
    r" ?(?P<zone>Z|UTC|[+-]\d\d(?::?\d\d)?)?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def unaccounted(
    sent: Any, landed: Any, rescued: Mapping[str, Any], path: str = ""
) -> Iterator[str]:
    """What of a value is neither what `landed` shows nor in `rescued`, in words."""
    if sent is None or (path in rescued and _is_told(sent, rescued[path])):
        if sent is None and landed is not None:
            yield f"{path}: null was sent, and {landed!r} landed"
        return
    if isinstance(sent, dict) and isinstance(landed, dict):
        yield from _unaccounted_members(sent, landed, rescued, path)
    elif isinstance(sent, list) and isinstance(landed, list):
        if len(sent) != len(landed):
            yield f"{path}: {len(sent)} values were sent, and {len(landed)} landed"
            return
        for number, (value, there) in enumerate(zip(sent, landed, strict=True)):
            yield from unaccounted(value, there, rescued, f"{path}[{number}]")
    elif landed is None or not _is_same(sent, landed):
        yield f"{path}: {sent!r} was sent, and {landed!r} landed"


def path_below(path: str, name: str) -> str:
    """The path of a member as the reference has it."""
    part = f"`{name.replace('`', '``')}`" if not name or set(name) & set(".[]`") else name
    return f"{path}.{part}" if path else part


def _unaccounted_members(
    sent: Mapping[str, Any], landed: Mapping[str, Any], rescued: Mapping[str, Any], path: str
) -> Iterator[str]:
    for name, value in sent.items():
        yield from unaccounted(value, landed.get(name), rescued, path_below(path, name))
    for name in landed.keys() - sent.keys():
        if landed[name] is not None:
            yield f"{path}.{name}: nothing was sent, and {landed[name]!r} landed"


def _is_told(sent: Any, text: Any) -> bool:
    """Whether `_rescued` has a value: as it is, or as its text."""
    if isinstance(sent, dict | list):
        return bool(text == sent or (isinstance(text, str) and json.loads(text) == sent))
    if isinstance(sent, str):
        return bool(text == sent)
    return text == sent or text == json.dumps(sent) or _number(text) == _number(sent)


def _is_same(sent: Any, landed: Any) -> bool:  # noqa: PLR0911  (a case a type)
    if isinstance(landed, bool):
        return sent is landed or sent == json.dumps(landed)
    if isinstance(landed, int | float | Decimal):
        return _number(sent) == Decimal(repr(landed) if isinstance(landed, float) else landed)
    if isinstance(landed, datetime):
        return isinstance(sent, str) and _instant(sent) == landed
    if isinstance(landed, date):
        return bool(isinstance(sent, str) and _DATE.fullmatch(sent)) and sent == landed.isoformat()
    if isinstance(landed, bytes | bytearray):
        return isinstance(sent, str) and sent == b64encode(landed).decode()
    if isinstance(landed, str):
        if isinstance(sent, str):
            return sent == landed
        return bool(json.loads(landed) == sent)
    return False


def _number(sent: Any) -> Decimal | None:
    if isinstance(sent, bool) or not isinstance(sent, int | float | str):
        return None
    try:
        return Decimal(sent if isinstance(sent, str) else repr(sent))
    except InvalidOperation:
        return None


def _instant(text: str) -> datetime | None:
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        return None
    try:
        moment = datetime.fromisoformat(f"{found['day']}T00:00:00+00:00")
        moment += timedelta(
            hours=int(found["hour"] or 0),
            minutes=int(found["minute"] or 0),
            seconds=int(found["second"] or 0),
            microseconds=int(f"{found['fraction'] or ''}000000"[:6]),
        )
        zone = (found["zone"] or "Z").replace(":", "")
        if zone not in ("Z", "UTC"):
            sign = -1 if zone[0] == "-" else 1
            minutes = int(zone[3:] or 0)
            moment -= sign * timedelta(hours=int(zone[1:3]), minutes=minutes)
    except (ValueError, OverflowError):
        return None
    return moment if moment >= _EPOCH.replace(year=1) else None
