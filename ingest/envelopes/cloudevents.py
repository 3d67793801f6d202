"""Messages of Kafka that are not JSON, as JSON: of Avro, and CloudEvents in binary mode.

Source: "Kafka Protocol Binding for CloudEvents", version 1.0.2.
"""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring as quoted
from typing import Any

import fastavro

from ingest.envelopes.avro_as_json import AvroText
from ingest.envelopes.message_reader import NOTHING
from ingest.parse.avro_container import without_logical_types
from ingest.parse.json_exact import Refused, decoded, loaded
from ingest.registry.unsupported import unsupported
from ingest.registry.wire_format import Headers, id_text, is_of_id, number_of

_ATTRIBUTE, _CONTENT_TYPE = "ce_", "content-type"
_PREFIX = len(_ATTRIBUTE)
_STRUCTURED = "application/cloudevents"
_DECODER = json.JSONDecoder()
_CONTENT_KIND = '"datacontenttype": '
# Names of headers that are kept with what they stand for, as a producer writes the same again: of
# so many messages, in so many characters each.
_MOST_NAMES, _USUAL_NAMES = 1_000, 1_000


@dataclass(slots=True)
class AvroTranslation:
    """Messages of Avro as JSON with Kafka Connect's schema; `writers` are schemas by id."""

    writers: Mapping[int, str]
    _known: dict[int, tuple[Any, AvroText]] = field(default_factory=dict)

    def __call__(self, value: bytes | None, headers: Headers) -> str:
        """See Translation."""
        return NOTHING if value is None else self._read_as(AvroText.text, value, headers)

    def document(self, value: bytes, headers: Headers) -> str:
        """The JSON of what a message means, without its schema. Raises Refused."""
        return self._read_as(AvroText.document, value, headers)

    def _read_as(
        self, shown: Callable[[AvroText, Any], str], value: bytes, headers: Headers
    ) -> str:
        number, body = number_of(value, headers)
        if number is None:
            raise Refused("NOT_FRAMED", "it begins with no id of a schema (a byte 0 and four)")
        if number not in self._known:
            self._known[number] = self._read(number)
        encoded, texts = self._known[number]
        try:
            stream = io.BytesIO(body)
            text = shown(texts, fastavro.schemaless_reader(stream, encoded, None))
            if left := len(body) - stream.tell():
                raise ValueError(f"{left} bytes are left over")
            return text
        except Refused:
            raise
        except Exception as error:
            # Broken bytes lead anywhere: errors of memory, of the interpreter.
            said = " ".join(str(error).split()) or type(error).__name__
            why = f"not what schema {id_text(number)} says: {said}"
            raise Refused("MALFORMED_AVRO", why) from error

    def schema_id(self, value: bytes | None, headers: Headers) -> str | None:
        """See Translation."""
        number, _ = number_of(value, headers)
        return None if number is None else id_text(number)

    def _read(self, number: int) -> tuple[Any, AvroText]:
        name = id_text(number)
        if number not in self.writers:
            raise Refused("SCHEMA_UNKNOWN", f"no Avro schema {name} is known that it could be of")
        try:
            schema = json.loads(self.writers[number])
            if why := unsupported(schema):
                raise Refused("SCHEMA_UNSUPPORTED", f"schema {name}: {why}")
            parsed = fastavro.parse_schema(schema)
            return fastavro.parse_schema(without_logical_types(parsed)), AvroText(parsed)
        except Refused:
            raise
        except Exception as error:  # a schema may be anything
            raise Refused("SCHEMA_UNSUPPORTED", f"schema {name}: {error!r}") from error


@dataclass(frozen=True, slots=True)
class _Names:
    """What stands where in the headers of a message, by their names alone.

    `attributes` are places of CloudEvents' attributes, and how each begins in JSON.
    """

    attributes: Sequence[tuple[int, str]]
    content_type: int | None
    ids: Sequence[int]

    @staticmethod
    def of(headers: Sequence[str]) -> _Names:
        """Of two headers of one name the later one counts, in the place of the first."""
        attributes: dict[str, int] = {}
        content_type, ids = None, []
        for place, name in enumerate(map(str.lower, headers)):
            if name.startswith(_ATTRIBUTE):
                attributes[f"{quoted(name[_PREFIX:])}: "] = place
            elif name == _CONTENT_TYPE:
                content_type = place
            if is_of_id(name):
                ids.append(place)
        return _Names([(place, begin) for begin, place in attributes.items()], content_type, ids)


@dataclass(frozen=True, slots=True)
class CloudEventTranslation:
    """Events whose attributes stand in headers, as the JSON of events in structured mode.

    `avro` translates their data, where that is of Avro.
    """

    avro: AvroTranslation | None
    _known: dict[tuple[str, ...], _Names] = field(default_factory=dict, init=False, compare=False)

    def __call__(self, value: bytes | None, headers: Headers) -> str:
        """See Translation."""
        found = headers or ()
        names = self._names(tuple([name for name, _ in found]))
        given = [one for _, one in found]
        members = [
            f"{begin}{'null' if (one := given[place]) is None else quoted(decoded(one))}"
            for place, begin in names.attributes
        ]
        texts = None if names.content_type is None else given[names.content_type]
        kind = "" if texts is None else decoded(texts)
        if not members or kind.startswith(_STRUCTURED):
            return NOTHING if value is None else decoded(value)
        if kind:
            members = [one for one in members if not one.startswith(_CONTENT_KIND)]
            members.append(f"{_CONTENT_KIND}{quoted(kind)}")
        if value is not None:
            name, data = self._data(value, [found[place] for place in names.ids], kind)
            members.append(f'"{name}": {data}')
        return f"{{{', '.join(members)}}}"

    def _names(self, headers: tuple[str, ...]) -> _Names:
        if names := self._known.get(headers):
            return names
        if len(self._known) >= _MOST_NAMES:
            self._known.clear()
        names = _Names.of(headers)
        if sum(map(len, headers)) <= _USUAL_NAMES:
            self._known[headers] = names
        return names

    def schema_id(self, value: bytes | None, headers: Headers) -> str | None:
        """See Translation."""
        return self.avro.schema_id(value, headers) if self.avro else None

    def _data(self, value: bytes, headers: Headers, kind: str) -> tuple[str, str]:
        """The member of an event that holds its data, and its JSON; of `headers` those of ids."""
        if self.avro:
            return "data", self.avro.document(value, headers)
        plain = kind.partition(";")[0].strip().lower()
        if not plain or plain.endswith("json"):
            text = decoded(value)
            # What ends before the text does would become attributes of the event.
            if not _is_one(text):
                loaded(text)
                raise Refused("MALFORMED_JSON", "more than one document")
            return "data", text
        if plain.startswith("text/"):
            return "data", quoted(decoded(value))
        return "data_base64", f'"{b64encode(value).decode()}"'


def _is_one(text: str) -> bool:
    start = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        _, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return not text[end:].strip(" \t\r\n")
