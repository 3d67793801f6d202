"""What is asked of a schema registry. Source: Confluent's "Schema Registry API Reference"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ingest.errors import InputError, RegistryUnreachable, SchemaRefused
from ingest.registry.compatibility import Compatibility
from ingest.registry.references import inlined

if TYPE_CHECKING:
    from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

_Answer = TypeVar("_Answer")
# A registry that does not answer is reported soon: streams wait, and ask again.
_DEFAULTS = {"timeout": 10, "max.retries": 1, "cache.capacity": 10_000}
_NOT_FOUND, _CONFLICT, _UNPROCESSABLE = 404, 409, 422
# Answers about one id, and not about the registry: there is none of that number, or none for us;
# or, of a GUID, the registry has none at all.
_NO_SUCH_ID = (400, 403, _NOT_FOUND, _UNPROCESSABLE)
_NO_SUCH_GUID = (*_NO_SUCH_ID, 405, 501)


@dataclass(frozen=True, slots=True)
class Version:
    """A schema of a subject, as JSON text; `id` is what messages have."""

    id: int
    number: int
    schema: str


class SchemaRegistry:
    """Avro schemas by id and by subject, as JSON text.

    `properties` are those of `confluent_kafka.schema_registry`. Every method raises
    RegistryUnreachable where there is no answer, and where we are not let in.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = properties
        self._client: SchemaRegistryClient | None = None

    def schema(self, number: int) -> str | None:
        """The schema of an id; None where the registry has none, or it is not Avro."""
        return self._asked(lambda client: self._text(client.get_schema(number)), _NO_SUCH_ID)

    def schema_of_guid(self, guid: str) -> str | None:
        """The same of a GUID; also None where the registry knows ids of numbers only."""
        return self._asked(
            lambda client: self._text(client.get_schema_by_guid(guid)), _NO_SUCH_GUID
        )

    def newest(self, subject: str) -> str | None:
        """The newest schema of a subject; None where there is no such subject, or not of Avro."""
        return self._asked(lambda client: self._text(client.get_version(subject, "latest").schema))

    def versions(self, subject: str) -> list[Version]:
        """All schemas of a subject, the newest last; those that are not of Avro are left out."""
        numbers = self._asked(lambda client: client.get_versions(subject)) or []
        found = (self._version(subject, number) for number in numbers)
        return [one for one in found if one is not None]

    def _version(self, subject: str, number: int) -> Version | None:
        answer = self._asked(lambda client: client.get_version(subject, number))
        text = self._text(answer.schema) if answer else None
        return Version(answer.schema_id or 0, number, text) if answer and text is not None else None

    def version_of(self, subject: str, schema: str) -> Version | None:
        """The version of a subject that a schema is; None where it is none."""
        answer = self._asked(lambda client: client.lookup_schema(subject, _avro(schema)))
        return Version(answer.schema_id or 0, answer.version or 0, schema) if answer else None

    def compatibility(self, subject: str) -> Compatibility:
        """What the registry asks of new schemas of a subject, by itself or as of all."""
        answer = self._asked(lambda client: client.get_compatibility(subject))
        answer = answer or self._asked(lambda client: client.get_compatibility())
        return Compatibility((answer or "none").lower())

    def ask_for(self, subject: str, compatibility: Compatibility) -> None:
        """From now on, ask this of new schemas of a subject, also of one that is not there yet."""
        wanted = compatibility.value.upper()
        self._asked(lambda client: client.set_compatibility(subject, wanted))

    def register(self, subject: str, schema: str) -> Version:
        """Make a schema the newest of a subject. Raises SchemaRefused."""
        self._asked(lambda client: client.register_schema(subject, _avro(schema)))
        found = self.version_of(subject, schema)
        if found is None:
            raise RegistryUnreachable(f"the schema registry lost what it took for {subject}")
        return found

    def _text(self, schema: Schema | None) -> str | None:
        if schema is None or schema.schema_str is None or schema.schema_type != "AVRO":
            return None
        try:
            return inlined(schema.schema_str, self._referenced(schema))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            # What refers to no schema of Avro is none.
            return None

    def _referenced(self, schema: Schema) -> list[str]:
        """The schemas that one refers to, each after those that it refers to itself."""
        found: list[str] = []
        for one in schema.references or ():
            if one.subject is None or one.version is None:
                continue
            other = self._connected().get_version(one.subject, one.version).schema
            found += [*self._referenced(other), other.schema_str or "null"]
        return found

    def _asked(
        self,
        question: Callable[[SchemaRegistryClient], _Answer],
        nothing: Sequence[int] = (_NOT_FOUND,),
    ) -> _Answer | None:
        """The answer; None where its status is one of `nothing`."""
        from confluent_kafka.schema_registry.error import OAuthTokenError, SchemaRegistryError
        from httpx2 import HTTPError

        try:
            return question(self._connected())
        except SchemaRegistryError as error:
            if error.http_status_code in nothing:
                return None
            if error.http_status_code in (_CONFLICT, _UNPROCESSABLE):
                raise SchemaRefused(f"the schema registry refuses: {error}") from error
            raise RegistryUnreachable(f"the schema registry refuses: {error}") from error
        except (HTTPError, OAuthTokenError, ValueError) as error:
            # Something else than a registry may answer, in no JSON.
            raise RegistryUnreachable(
                f"the schema registry at {self._properties['url']} does not answer: "
                f"{error or type(error).__name__}"
            ) from error

    def _connected(self) -> SchemaRegistryClient:
        from confluent_kafka.schema_registry import SchemaRegistryClient

        if self._client is None:
            try:
                self._client = SchemaRegistryClient({**_DEFAULTS, **self._properties})
            except ValueError as error:
                raise InputError(f"HEADWATER_SCHEMA_REGISTRY_PROPERTIES: {error}") from error
            except OSError as error:
                raise InputError(
                    "HEADWATER_SCHEMA_REGISTRY_PROPERTIES: a file that ssl.ca.location, or another "
                    f"of ssl, names cannot be read: {error.strerror}"
                ) from error
        return self._client


def _avro(text: str) -> Schema:
    from confluent_kafka.schema_registry import Schema

    return Schema(text, "AVRO")
