"""The JSON text that a record is read as, from its bytes and headers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from ingest.envelopes.connect import ConnectMessages
from ingest.envelopes.masking import Masking
from ingest.parse.json_exact import Refused, decoded, record, written
from ingest.registry.wire_format import Headers, headers_in

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
    masking: Masking | None = None

    @property
    def is_needed(self) -> bool:
        """Whether the bytes are not the record."""
        return any((self.translation, self.messages, self.masking))

    def read(self, value: bytes | None, headers: Headers) -> tuple[str, dict[str, Any]]:
        """The JSON text of a record, and the record in it. Raises Refused."""
        text = self._json(value, headers)
        document = self.messages.document(text) if self.messages else record(text)
        if self.masking:
            document = self.masking.applied(document)
        return (written(document) if self.messages or self.masking else text), document

    def _json(self, value: bytes | None, headers: Headers) -> str:
        if self.translation:
            return self.translation(value, headers)
        return NOTHING if value is None else decoded(value)

    def schema_ids(
        self, values: Sequence[bytes | None], headers: Sequence[Headers]
    ) -> pa.StringArray:
        """The id of each message's schema."""
        if not self.translation:
            return pa.nulls(len(values), pa.string())
        pairs = zip(values, headers, strict=True)
        return pa.array([self.translation.schema_id(*pair) for pair in pairs], pa.string())

    def texts(self, values: pa.Array, headers: pa.Array | None) -> pa.StringArray:
        """The JSON text of each record; empty where there is none."""
        headers_read = headers_in(headers) if headers is not None and self.translation else None
        found = []
        for number, value in enumerate(values.cast(pa.binary()).to_pylist()):
            own_headers = headers_read[number] if headers_read else None
            try:
                is_text = not (self.messages or self.masking)
                found.append(
                    self._json(value, own_headers) if is_text else self.read(value, own_headers)[0]
                )
            except Refused:
                found.append("")
        return pa.array(found, pa.string())
