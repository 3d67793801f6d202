"""Random payloads of events, and an independent reader of what a view shows of them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation, localcontext
from typing import Any

from pyspark.sql import types as T
from pyspark.sql.types import VariantVal

from tests.spark.accounts import path_below

NAMES = (
    *("a", "A", "a b", "a.b", "b", "i", "ı", "ς", "σ", "", '"', "both\"'", "`", "\\", "id"),
    *("_x", "_metadata", "_rescued", "de-DE", "x,y", "x;y", "\t", "a\nb", "null", "select"),
    *("2026-11-01", "7", "é", "\U0001f600", " a", "a ", "x" * 200, "$", "[0]", "k", "${x}", "?"),
)
NUMBERS = (
    *("0", "1", "-7", "20261128", "170000", "1.5", "0.1", "-0.0", "1.0", "1e3", "1E-3", "3.14159"),
    *("9007199254740993", "9223372036854775807", "9223372036854775808", "1" * 30, "9" * 38),
    *("9" * 39, "0.1234567890123456789", "0.8444218515250481", "123456789012.123456789", "1e300"),
    *("1.10", "100000000.5", "12345678901234567.5", "2.5e-10"),
)
TEXTS = (
    *("", "x", "null", "12", "007", " 12", "+5", "1.5", "1.50", "1e5", "0", "9" * 18, "9" * 38),
    *("true", "True", "yes", "2026-11-28", "2026-02-29", "2024-02-29", "2026", "170000", "10:15"),
    *("T10:15", "10:15:00", "2026-11-28T10:15:00Z", "2026-11-28 10:15:00.123456+01:00"),
    *("2026-11-28T10:15:00", "0000-01-01", "12026-01-01", "+12026-01-01", "20261128", "9999-12-31"),
    *('{"a":1}', "[1]", "é\U0001f600", "a\nb", "NaN", "Infinity", "12345678.5", "2026-1-1"),
    *("1999-12-31T23:59:60Z", "2026-11-28T10:15:00+18:30", "0.1234567", "1234567890123456.25"),
)
DATA_NAMES = ("2026-11-01", "2026-11-02", "7", "0123456789abcdef", "42")


class Payloads:
    """Payloads of one type: few names, so that values of several types meet at one place."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._names = draw.sample(NAMES, draw.randrange(2, 7))
        # The less, the more alike all values of a place are.
        self._variety = draw.choice((0.0, 0.05, 0.3, 1.0))
        self._habits: dict[tuple[str, ...], int] = {}

    def payload(self) -> str:
        """An object, now and then something else, as JSON."""
        if self._draw.random() < 0.02:
            return self._value(("",), 1)
        return self._object((), 3)

    def _value(self, path: tuple[str, ...], depth: int) -> str:
        draw = self._draw
        if draw.random() < 0.08:
            return draw.choice(("null", "{}", "[]", "[null]", "[{}]", "{}"))
        if draw.random() < self._variety:
            habit = draw.randrange(8)
        else:
            habit = self._habits.setdefault(path, draw.randrange(8))
        if habit < 5 or depth <= 0:
            return self._scalar(habit)
        if habit == 5:
            return self._object(path, depth - 1)
        if habit == 6:
            values = [self._value((*path, "[]"), depth - 1) for _ in range(draw.randrange(4))]
            return f"[{', '.join(values)}]"
        names = draw.sample(DATA_NAMES, draw.randrange(1, 4))
        return _written({name: self._value((*path, "*"), depth - 1) for name in names})

    def _scalar(self, habit: int) -> str:
        text = json.dumps(self._draw.choice(TEXTS), ensure_ascii=self._draw.random() < 0.5)
        choices: tuple[Sequence[str], ...] = (
            ("true", "false"),
            NUMBERS,
            (text,),
            ('"2026-11-28"', '"2024-02-29"', '"2026-11-28T10:15:00Z"'),
            ("1", "2", "-3"),
        )
        return self._draw.choice(choices[habit % len(choices)])

    def _object(self, path: tuple[str, ...], depth: int) -> str:
        names = [name for name in self._names if self._draw.random() < 0.7]
        return _written({name: self._value((*path, name), depth) for name in names})


def _written(members: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members.items()) + "}"


def differences(
    sent: Any, shown: Any, kind: T.DataType | None, rescued: Mapping[str, Any], path: str
) -> list[str]:
    """What of a value, read with numbers as Decimal, is neither shown as it is nor rescued."""
    if path in rescued:
        text = rescued[path]
        return [] if is_text_of(sent, text) else [f"{path}: {sent!r} is rescued as {text!r}"]
    if isinstance(sent, dict) and isinstance(kind, T.StructType) and shown is not None:
        kinds = {field.name: field.dataType for field in kind.fields}
        return [
            each
            for name, value in sent.items()
            for each in differences(
                value,
                shown[name] if name in kinds else None,
                kinds.get(name),
                rescued,
                path_below(path, name),
            )
        ]
    if sent is not None and (kind is None or shown is None):
        return [f"{path}: {sent!r} is neither shown nor rescued"]
    is_whole = sent is shown if kind is None else is_shown(sent, shown, kind)
    return [] if is_whole else [f"{path}: {sent!r} is shown as {shown!r}"]


def is_text_of(sent: Any, text: str) -> bool:
    """Whether a rescued text is a value."""
    if isinstance(sent, str):
        return sent == text
    if isinstance(sent, bool):
        return text == json.dumps(sent)
    if isinstance(sent, dict | list):
        return is_same(sent, json.loads(text, parse_float=Decimal, parse_int=Decimal))
    return is_same(sent, text)


def is_same(sent: Any, found: Any) -> bool:
    """Whether two documents are equal; a number that no type holds may come as its digits."""
    if isinstance(sent, dict) and isinstance(found, dict):
        return sent.keys() == found.keys() and all(is_same(sent[key], found[key]) for key in sent)
    if isinstance(sent, list) and isinstance(found, list):
        return len(sent) == len(found) and all(map(is_same, sent, found))
    if isinstance(sent, Decimal) and isinstance(found, str):
        return _number(found) == sent
    return type(sent) is type(found) and bool(sent == found)


def is_shown(sent: Any, shown: Any, kind: T.DataType) -> bool:
    """Whether a column's value is exactly what was sent."""
    if isinstance(shown, VariantVal):
        # PySpark multiplies decimals in the context's precision.
        with localcontext(prec=80):
            return is_same(sent, json.loads(shown.toJson(), parse_float=Decimal, parse_int=Decimal))
    if sent is None or shown is None:
        return sent is shown
    if isinstance(kind, T.StructType):
        kinds = {field.name: field.dataType for field in kind.fields}
        return isinstance(sent, dict) and all(
            value is None or (name in kinds and is_shown(value, shown[name], kinds[name]))
            for name, value in sent.items()
        )
    if isinstance(kind, T.ArrayType):
        is_list = isinstance(sent, list) and len(sent) == len(shown)
        return is_list and all(
            is_shown(one, other, kind.elementType) for one, other in zip(sent, shown, strict=True)
        )
    if isinstance(kind, T.MapType):
        return (
            isinstance(sent, dict)
            and sent.keys() == shown.keys()
            and all(is_shown(sent[key], shown[key], kind.valueType) for key in sent)
        )
    return _is_scalar(sent, shown)


def _is_scalar(sent: Any, shown: Any) -> bool:
    if isinstance(sent, bool):
        return bool(shown is sent or shown == json.dumps(sent))
    if isinstance(sent, Decimal):
        is_number = isinstance(shown, int | float | Decimal) and not isinstance(shown, bool)
        return (is_number or isinstance(shown, str)) and _number(str(shown)) == sent
    if isinstance(sent, str):
        return _is_text(sent, shown)
    return False


def _is_text(sent: str, shown: Any) -> bool:
    if isinstance(shown, str):
        return sent == shown
    if isinstance(shown, bool):
        return sent == json.dumps(shown)
    if isinstance(shown, datetime):
        told = datetime.fromisoformat(sent)
        return shown.astimezone(UTC) == (told if told.tzinfo else told.replace(tzinfo=UTC))
    if isinstance(shown, date):
        return sent == shown.isoformat()
    # A text that is not written as a number is none, such as 007.
    return (
        sent == sent.strip().removeprefix("+")
        and (not sent.lstrip("-").startswith("0") or sent.lstrip("-")[1:2] in ("", "."))
        and _number(sent) == _number(str(shown))
    )


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
