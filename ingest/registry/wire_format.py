"""How a message of Avro names its writer's schema: by an id, in front of it or in a header.

In front, Confluent's serializers write a byte 0 and four bytes. An id is a number, or a GUID, which
is a number here, too: its 128 bits behind one that no other id has. As text, which people see, it
is what the registry calls it.

Source: "Wire format" of Confluent's "Formats, Serializers, and Deserializers for Schema Registry".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

# Headers that hold an id: CloudEvents' extension as text, Apicurio's as eight bytes; and
# Confluent's, a GUID behind a byte 1, or what could stand in front.
ATTRIBUTE = "ce_schemaid"
ID_HEADERS = (ATTRIBUTE, "apicurio.value.contentid", "apicurio.value.globalid")
GUID_HEADER = "__value_schema_id"
# An id as text, of at most so many digits as an int of Java; the same in Python and in Spark.
DIGITS = "[1-9][0-9]{0,9}"
_NUMBER = re.compile(DIGITS.encode())
# The byte that Confluent's serializers begin with, and how long it is with the id.
MAGIC, FRAME = 0, 5
# The same of a GUID.
GUID_MAGIC, GUID_FRAME = 1, 17
_GUID = 1 << 128
# Longer than any header that holds an id.
_LONGEST = GUID_FRAME + 1
_NAMES = frozenset((*ID_HEADERS, GUID_HEADER))
# Those of a message: a name and a value each.
Headers = Sequence[tuple[str, bytes | None]] | None


def guid_of(number: int) -> str | None:
    """The GUID that an id is; None where it is a number."""
    return str(UUID(int=number ^ _GUID)) if number >= _GUID else None


def id_text(number: int) -> str:
    """An id as text."""
    return guid_of(number) or str(number)


def id_number(text: str) -> int:
    """The id that `id_text` has written. Raises ValueError."""
    return int(text) if text.isdecimal() else UUID(text).int | _GUID


def forms(number: int) -> Sequence[bytes]:
    """How an id stands in a header, and in front of a message."""
    if number >= _GUID:
        return [bytes([GUID_MAGIC]) + (number ^ _GUID).to_bytes(GUID_FRAME - 1, "big")]
    there = [str(number).encode(), number.to_bytes(8, "big")]
    return [*there, bytes([MAGIC]) + number.to_bytes(4, "big")] if number < 1 << 32 else there


def headers_in(found: pa.ListArray) -> list[Headers]:
    """The headers of each message, which Arrow itself gives three times as slowly."""
    if found.null_count == len(found):
        return [None] * len(found)
    parts = found.flatten()
    pairs = list(zip(parts.field("key").to_pylist(), parts.field("value").to_pylist(), strict=True))
    ends = accumulate(pc.fill_null(pc.list_value_length(found), 0).to_pylist(), initial=0)
    there = found.is_valid().to_pylist()
    return [
        pairs[start:end] if is_there else None
        for (start, end), is_there in zip(pairwise(ends), there, strict=True)
    ]


def is_of_id(name: str) -> bool:
    """Whether a header of this name, in small letters, may hold an id."""
    return name in _NAMES


def number_of(value: bytes | None, headers: Headers) -> tuple[int | None, bytes]:
    """The id of a message's schema, if it has one, and the message behind it.

    An id in a header stands there instead of in front, except that the attribute of CloudEvents
    may say again what stands in front.
    """
    value = value or b""
    is_framed = len(value) >= FRAME and value[0] == MAGIC
    framed = int.from_bytes(value[1:FRAME], "big") if is_framed else None
    for key, given in headers or ():
        name = key.lower()
        if (
            is_of_id(name)
            and (id_found := _number_in_header(name, (given or b"")[:_LONGEST])) is not None
        ):
            is_again = name == ATTRIBUTE and id_found == framed
            return id_found, value[FRAME:] if is_again else value
    return framed, value[FRAME:] if is_framed else value


@lru_cache(maxsize=1 << 12)
def _number_in_header(name: str, value: bytes) -> int | None:
    """The id in a header: of text or of eight bytes, in Confluent's after a magic byte."""
    if name == GUID_HEADER:
        if len(value) == GUID_FRAME and value[0] == GUID_MAGIC:
            return int.from_bytes(value[1:], "big") | _GUID
        is_framed = len(value) == FRAME and value[0] == MAGIC
        return int.from_bytes(value[1:], "big") if is_framed else None
    if _NUMBER.fullmatch(value):
        return int(value)
    return int.from_bytes(value, "big") if len(value) == len(bytes(8)) else None
