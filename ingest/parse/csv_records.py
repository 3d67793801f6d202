"""CSV records by RFC 4180: their values, where they stand, and what is wrong with them.

A record is a line, or with `multi_line` all lines up to the one that closes its quotes. A line
whose quotes do not close is no record. Neither are the lines after it, up to the one that closes
them: they are parts of one value. Where no line does, the quote is a slip of that line alone.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import NamedTuple

from ingest.declarations.stream import CsvOptions
from ingest.errors import ReasonCode
from ingest.parse.lines import numbered_lines

# Bytes up to which a closing quote is looked for: more than one record may have.
_FARTHEST = 1 << 24
_LINE_ENDS = "\r\n"
_BLANKS = " \t"
# What is wrong with a record, as code and reason.
Fault = tuple[ReasonCode, str]
NOT_UTF8: Fault = ("INVALID_UTF8", "not UTF-8")
NOT_CLOSED: Fault = ("MALFORMED_CSV", "a quote does not close on its line")
NOT_ALONE: Fault = ("MALFORMED_CSV", "text stands between a closing quote and the next separator")
OTHER_COUNT: Fault = ("MALFORMED_CSV", "not one value a column")


class Record(NamedTuple):
    """A record: the number of its first line, from 1, its bytes, and its values or its fault."""

    position: int
    raw: bytes
    values: Sequence[str | None]
    fault: Fault | None


class _Broken(Enum):
    """Why a text cannot be split into values."""

    OPEN = auto()
    NOT_ALONE = auto()


class _Splitter:
    """Splits texts into values; None is null.

    A value that is empty without quotes is null, and so is `null_value`.
    """

    def __init__(self, options: CsvOptions) -> None:
        self.sep, self.quote = options.sep, options.quote
        self._null_value = options.null_value or None
        # Without quotes nothing is looked for.
        quote, escape = re.escape(options.quote or "\0"), re.escape(options.escape)
        doubled = options.escape in ("", options.quote)
        plain = f"[^{quote}]*" if doubled else f"[^{quote}{escape}]*"
        pair = f"{quote}{quote}" if doubled else f"{escape}."
        self._inner = re.compile(f"{plain}(?:{pair}{plain})*", re.DOTALL)
        self._escaped = re.compile(
            f"{quote}({quote})" if doubled else f"{escape}([{quote}{escape}])"
        )

    def split(self, text: str) -> list[str | None] | _Broken:
        """The values of a text, or why there are none."""
        if not self.quote or self.quote not in text:
            values = text.split(self.sep)
            if self._null_value:
                return [None if one == self._null_value else one or None for one in values]
            return [one or None for one in values]
        return self._split_quoted(text)

    def _split_quoted(self, text: str) -> list[str | None] | _Broken:
        found: list[str | None] = []
        start = 0
        while True:
            if text.startswith(self.quote, start):
                found_inner = self._inner.match(text, start + 1)
                end = found_inner.end() if found_inner else start + 1
                if not text.startswith(self.quote, end):
                    return _Broken.OPEN
                value: str | None = self._escaped.sub(r"\1", text[start + 1 : end])
                end += 1
            else:
                end = text.find(self.sep, start)
                end = len(text) if end < 0 else end
                value = text[start:end] or None
            found.append(None if value == self._null_value else value)
            if end == len(text):
                return found
            if not text.startswith(self.sep, end):
                return _Broken.NOT_ALONE
            start = end + len(self.sep)


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file. Reading it raises OSError or EOFError where it is cut off."""

    path: str
    options: CsvOptions
    multi_line: bool

    def header(self) -> Record | None:
        """The first record, which is no blank line; None where there is none."""
        return next(self._records(), None)

    def records(self, width: int) -> Iterator[Record]:
        """The records after the header, each of `width` values where it has no fault."""
        first = 1 if self.options.header else 0
        for record in islice(self._records(), first, None):
            if record.fault or len(record.values) == width:
                yield record
            else:
                yield record._replace(fault=OTHER_COUNT)

    def _records(self) -> Iterator[Record]:
        splitter = _Splitter(self.options)
        source = numbered_lines(self.path)
        # Lines that were looked at in search of a closing quote.
        ahead: deque[tuple[int, bytes]] = deque()
        while line := _next(source, ahead):
            number, raw = line
            try:
                text = raw.decode().rstrip(_LINE_ENDS)
            except UnicodeDecodeError:
                yield Record(number, _bare(raw), (), NOT_UTF8)
                continue
            if not text.strip(_BLANKS) and splitter.sep not in text:
                continue
            values = splitter.split(text)
            if not isinstance(values, _Broken):
                yield Record(number, _bare(raw), values, None)
            elif values is _Broken.NOT_ALONE:
                yield Record(number, _bare(raw), (), NOT_ALONE)
            else:
                count, closes = self._lines_to_close(splitter, source, ahead)
                more = [ahead.popleft() for _ in range(count)]
                if self.multi_line and closes:
                    yield _joined(splitter, [line, *more])
                else:
                    yield from (Record(at, _bare(one), (), NOT_CLOSED) for at, one in (line, *more))
                    if self.multi_line and count and not closes:
                        yield from self._rest_of_value(splitter, source, ahead)

    def _rest_of_value(
        self,
        splitter: _Splitter,
        source: Iterator[tuple[int, bytes]],
        ahead: deque[tuple[int, bytes]],
    ) -> Iterator[Record]:
        """The lines of a value that is longer than any, up to the one that closes it."""
        while line := _next(source, ahead):
            values = self._closed(splitter, line[1])
            if values is _Broken.NOT_ALONE:
                # The quote was a slip after all.
                ahead.appendleft(line)
                return
            yield Record(line[0], _bare(line[1]), (), NOT_CLOSED)
            if not isinstance(values, _Broken):
                return

    def _closed(self, splitter: _Splitter, raw: bytes) -> Sequence[str | None] | _Broken:
        """The values of a line that begins within an open one."""
        if self.options.quote.encode() not in raw:
            return _Broken.OPEN
        try:
            return splitter.split(self.options.quote + raw.decode().rstrip(_LINE_ENDS))
        except UnicodeDecodeError:
            return _Broken.NOT_ALONE

    def _lines_to_close(
        self,
        splitter: _Splitter,
        source: Iterator[tuple[int, bytes]],
        ahead: deque[tuple[int, bytes]],
    ) -> tuple[int, bool]:
        """How many of the next lines are parts of an open value, and whether the last closes it.

        None are, where the quote is a slip: a line shows it, or there is no other quote.
        """
        size = count = 0
        while size <= _FARTHEST:
            if count == len(ahead):
                line = next(source, None)
                if line is None:
                    # With values over several lines, the file was cut off in one.
                    return (count if self.multi_line else 0), False
                ahead.append(line)
            raw = ahead[count][1]
            count, size = count + 1, size + len(raw)
            values = self._closed(splitter, raw)
            if not isinstance(values, _Broken):
                return count, True
            if values is _Broken.NOT_ALONE:
                return 0, False
        return (count if self.multi_line else 0), False


def _next(
    source: Iterator[tuple[int, bytes]], ahead: deque[tuple[int, bytes]]
) -> tuple[int, bytes] | None:
    """The next line with its number; None after the last."""
    return ahead.popleft() if ahead else next(source, None)


def _joined(splitter: _Splitter, lines: Sequence[tuple[int, bytes]]) -> Record:
    """The record that lines are together, with the line breaks in its values as they came."""
    raw = _bare(b"".join(one for _, one in lines))
    try:
        values = splitter.split(raw.decode())
    except UnicodeDecodeError:
        return Record(lines[0][0], raw, (), NOT_UTF8)
    if isinstance(values, _Broken):
        return Record(lines[0][0], raw, (), NOT_ALONE)
    return Record(lines[0][0], raw, values, None)


def _bare(raw: bytes) -> bytes:
    return raw.rstrip(b"\r\n")
