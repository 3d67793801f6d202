"""The JSON text that a record is read as, from its bytes and headers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ingest.decode.connect_messages import ConnectMessages
from ingest.decode.exact_json import Refused, decoded, record, written

# Those of a message: each has a key and a value.
Headers = Sequence[Mapping[str, Any]] | None
# JSON from the bytes and headers of a message that is none itself. Raises Refused.
Translation = Callable[[bytes | None, Headers], str]
# What a message without a value, Kafka's tombstone, is to a reading.
NOTHING = "null"


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
