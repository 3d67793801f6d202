"""Read one JSON document exactly, in Python: for the few records that need a careful look.

Fast parsers say only "not JSON", and round numbers that no type holds. This one says what is
wrong and where, and keeps each number's digits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from ingest.column_names import member_path
from ingest.errors import ReasonCode

# Spark 4.0 refuses a VARIANT over this size (VariantUtil.SIZE_LIMIT).
LARGEST_RECORD = 16 * 1024 * 1024
# Python stops at 1000 calls inside each other, and what walks through a document takes three a
# level.
DEEPEST = 200
# Digits of Spark's largest decimal.
DECIMAL_DIGITS = 38
_CONTAINERS = (dict, list)
# Names up to so many characters are kept with their quotes.
_USUAL_NAME = 200
_MOST_NAMES = 4096


class Refused(Exception):
    """A document that is not taken, by code and reason."""

    def __init__(self, code: ReasonCode, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(reason)


class Number(str):
    """A number's own digits."""

    __slots__ = ()


class Inexact(str):
    """The digits of a number that no type holds."""

    __slots__ = ()


class Known(str):
    """A text whose source says what it is: `kind` as a word of `shape.py`."""

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, text: str, kind: str) -> Known:
        """The text, of that kind."""
        known = super().__new__(cls, text)
        known.kind = kind
        return known


def record(text: str) -> dict[str, Any]:
    """The object that `text` is. Raises Refused."""
    document = loaded(text)
    if not isinstance(document, dict):
        raise Refused("NOT_AN_OBJECT", f"the document is {_kind(document)}, not an object")
    return document


def decoded(raw: bytes) -> str:
    """The text of a record. Raises Refused."""
    if len(raw) > LARGEST_RECORD:
        raise Refused("TOO_LARGE", f"{len(raw)} bytes; at most {LARGEST_RECORD} fit one record")
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Refused("INVALID_UTF8", f"byte {error.start}: {error.reason}") from error


def loaded(text: str) -> Any:
    """The document, its numbers as their digits. Raises Refused."""
    try:
        document = _DECODER.decode(text)
        if may_be_deep(text) and deeper(document, DEEPEST):
            raise RecursionError
        return document
    except json.JSONDecodeError as error:
        where = "ends" if error.pos >= len(text.rstrip()) else f"character {error.pos}"
        raise Refused("MALFORMED_JSON", f"{where}: {error.msg}") from error
    except RecursionError as error:
        raise Refused("TOO_DEEP", f"nested deeper than {DEEPEST} levels") from error


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused("DUPLICATE_KEY", f"the name {twice!r} stands twice in one object")
    return members


def _refused_constant(name: str) -> Any:
    raise Refused("MALFORMED_JSON", f"{name} is not JSON")


def _whole(digits: str) -> Number | Inexact:
    return Number(digits) if len(digits) <= DECIMAL_DIGITS else _number(digits)


def _number(digits: str) -> Number | Inexact:
    return Number(digits) if _is_exact(digits) else Inexact(digits)


def _is_exact(digits: str) -> bool:
    mantissa = digits.lstrip("-").replace(".", "")
    if "e" not in digits and "E" not in digits and len(mantissa) <= DECIMAL_DIGITS:
        return True
    return len(digits) <= 400 and is_double(digits)


def is_double(digits: str) -> bool:
    """Whether a double shows the digits of a number again, but for zeros at its end."""
    value = float(digits)
    try:
        return abs(value) != float("inf") and Decimal(digits) == Decimal(repr(value))
    except InvalidOperation:
        # An exponent past Decimal's own limits.
        return False


# Made once: json.loads makes one for each text.
_DECODER = json.JSONDecoder(
    parse_int=_whole,
    parse_float=_number,
    parse_constant=_refused_constant,
    object_pairs_hook=_object,
)


def is_too_deep(text: str) -> bool:
    """Whether a text that is JSON is nested deeper than a record may be."""
    try:
        return deeper(json.loads(text), DEEPEST)
    except RecursionError:
        return True


def may_be_deep(text: str) -> bool:
    """Whether a text has as many brackets as a document that is nested too deep.

    Most have fewer, of which a look at each level is spared. In a string, where somebody may read
    a document in turn, a bracket may be escaped.
    """
    least = DEEPEST - 1
    if len(text) < least:
        return False
    brackets = text.count("{") + text.count("[")
    # A single character is found several times as fast.
    return brackets + text.count("\\") >= least and brackets + text.count("\\u00") >= least


def deeper(document: Any, levels: int) -> bool:
    """Whether a document is nested deeper than so many levels."""
    reached = [document] if isinstance(document, _CONTAINERS) else []
    for _ in range(levels - 1):
        if not reached:
            return False
        reached = [
            inner
            for one in reached
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, _CONTAINERS)
        ]
    return any(reached)


def is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold it: JSON can write half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def written(value: Any) -> str:
    """A value of `loaded` as JSON; a number that no type holds as a string of its digits."""
    if isinstance(value, str):
        return str(value) if isinstance(value, Number) else quoted(value)
    if isinstance(value, dict):
        # Most members are scalars: a call for each takes as long as the rest.
        members = [
            f"{_heads[name]}{one}"
            if type(one) is Number
            else f"{_heads[name]}{quoted(one) if isinstance(one, str) else written(one)}"
            for name, one in value.items()
        ]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return "null" if value is None else json.dumps(value)


def named(name: str) -> str:
    """The name of a member with what stands behind it."""
    return f"{quoted(name)}:"


class _Heads(dict[str, str]):
    """Names of members, as `named` writes them: the same few come again and again."""

    def __missing__(self, name: str) -> str:
        head = named(name)
        if len(self) < _MOST_NAMES and len(name) <= _USUAL_NAME:
            self[name] = head
        return head


_heads = _Heads()


def _kind(value: Any) -> str:
    if isinstance(value, Number | Inexact):
        return "a number"
    return {list: "an array", str: "a string", bool: "a boolean"}.get(type(value), "null")


def leftovers(
    text: str | None, typed: str | None, columns: Mapping[str, Any], keep_unknown: bool
) -> str | None:
    """JSON object of what `text` holds and `typed` lacks, by path; None where nothing is lost.

    `typed` is the record as its columns hold it, `columns` the names of the table's columns,
    nested as the structs are (`{}` for anything else). Fields without a column count as lost
    only with `keep_unknown`.
    """
    if text is None:
        return None
    record = json.loads(text, parse_int=Number, parse_float=Number)
    held = json.loads(typed or "{}")
    lost: dict[str, Any] = {}
    _collect(record, held, columns, "", lost, keep_unknown)
    if not lost:
        return None
    return "{" + ",".join(f"{json.dumps(k)}:{_as_text(v)}" for k, v in lost.items()) + "}"


def _collect(
    raw: Any,
    held: Any,
    columns: Mapping[str, Any] | None,
    path: str,
    lost: dict[str, Any],
    keep: bool,
) -> None:
    if raw is None:
        return
    if held is None or (isinstance(raw, str) and not is_unicode(raw)):
        lost[path] = raw
    elif isinstance(raw, dict) and isinstance(held, dict):
        for name, value in raw.items():
            if not keep and columns and name not in columns:
                continue
            inner = (columns or {}).get(name)
            _collect(value, held.get(name), inner, member_path(path, name), lost, keep)
    elif isinstance(raw, list) and isinstance(held, list) and len(raw) == len(held):
        for index, (value, inner) in enumerate(zip(raw, held, strict=True)):
            _collect(value, inner, columns, f"{path}[{index}]", lost, keep)


def _as_text(value: Any) -> str:
    return written(value) if isinstance(value, dict | list) else json.dumps(_plain(value))


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Number) else value
