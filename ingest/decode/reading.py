"""The JSON text that a record is read as, from its bytes and headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from ingest.decode.connect_messages import ConnectMessages
from ingest.decode.exact_json import Refused, decoded, record, written

# Those of a message: each has a key and a value.
Headers = Sequence[Mapping[str, Any]] | None
# What a message without a value, Kafka's tombstone, is to a reading.
NOTHING = "null"


class Translation(Protocol):
    """What reads messages that are no JSON themselves."""

    def __call__(self, value: bytes | None, headers: Headers) -> str:
        """The JSON that a message stands for. Raises Refused."""
        ...

    def schema_id(self, value: bytes | None, headers: Headers) -> str | None:
        """The id of its writer's schema, in a registry."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """Where nothing is given, the bytes are the record."""

    translation: Translation | None = None
    messages: ConnectMessages | None = None

    @property
    def is_needed(self) -> bool:
        """Whether the bytes are not the record."""
        return self.translation is not None or self.messages is not None

    def text(self, value: bytes | None, headers: Headers) -> str:
        """The JSON that stands for a record's bytes. Raises Refused."""
        if self.translation:
            return self.translation(value, headers)
        return NOTHING if value is None else decoded(value)

    def document(self, text: str) -> dict[str, Any]:
        """The record in that JSON. Raises Refused."""
        return self.messages.document(text) if self.messages else record(text)

    def schema_ids(self, values: pa.Array, headers: pa.Array) -> pa.StringArray:
        """The id of each message's schema."""
        if not self.translation:
            return pa.nulls(len(values), pa.string())
        pairs = zip(values.to_pylist(), headers.to_pylist(), strict=True)
        return pa.array([self.translation.schema_id(*pair) for pair in pairs], pa.string())

    def texts(self, values: pa.Array, headers: pa.Array | None) -> pa.StringArray:
        """The JSON text of each record; empty where there is none."""
        told = headers.to_pylist() if headers is not None and self.translation else None
        found = []
        for number, value in enumerate(values.cast(pa.binary()).to_pylist()):
            try:
                text = self.text(value, told[number] if told else None)
                found.append(written(self.messages.document(text)) if self.messages else text)
            except Refused:
                found.append("")
        return pa.array(found, pa.string())
