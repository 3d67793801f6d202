"""How clients find the parts: the company's own, as the environment says, or those of the stack."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from ingest import settings
from ingest.errors import InputError, ServersUnknown
from ingest.storage.json_files import read_json
from ingest.storage.layout import Lake


@dataclass(frozen=True, slots=True)
class RestApi:
    """Address of a REST API, and the value of the header that lets us in, where it needs one."""

    url: str
    authorization: str | None = field(default=None, repr=False)


def kafka_properties(lake: Lake) -> Mapping[str, str]:
    """Properties of a Kafka client, by Kafka's names. Raises ServersUnknown."""
    declared = settings.kafka_properties()
    if not declared:
        what = "no Kafka is known: name a file of client properties in HEADWATER_KAFKA_PROPERTIES"
        return {"bootstrap.servers": f"127.0.0.1:{_port(lake, 'kafka', what)}"}
    found = read_properties(declared, "HEADWATER_KAFKA_PROPERTIES")
    if "bootstrap.servers" not in found:
        raise ServersUnknown(f"HEADWATER_KAFKA_PROPERTIES: {declared} has no bootstrap.servers")
    return found


def schema_registry_properties(lake: Lake) -> Mapping[str, str]:
    """Properties of a schema registry's client, by Confluent's names. Raises ServersUnknown."""
    declared, name = settings.schema_registry_properties(), "HEADWATER_SCHEMA_REGISTRY_PROPERTIES"
    if not declared:
        what = f"no schema registry is known: name a file of its properties in {name}"
        return {"url": f"http://127.0.0.1:{_port(lake, 'registry', what)}/apis/ccompat/v7"}
    found = read_properties(declared, name)
    if "url" not in found:
        raise ServersUnknown(f"{name}: {declared} has no url")
    return found


def avro_converter(lake: Lake) -> Mapping[str, str]:
    """Properties of a converter of Kafka Connect that writes Avro. Raises ServersUnknown.

    Of our own stack it is Apicurio's, for a declared registry Confluent's, by which the worker
    has to have a plugin.
    """
    if settings.schema_registry_properties():
        return _confluent_converter(schema_registry_properties(lake))
    port = urlsplit(schema_registry_properties(lake)["url"]).port
    return {
        "": "io.apicurio.registry.utils.converter.AvroConverter",
        "apicurio.registry.url": f"http://127.0.0.1:{port}/apis/registry/v2",
        "apicurio.registry.auto-register": "true",
        "apicurio.registry.find-latest": "false",
        "apicurio.registry.as-confluent": "true",
        # The id that Confluent's API gives schemas, and not that of an artifact's version, which
        # is another where a schema has more than one subject.
        "apicurio.registry.use-id": "contentId",
        "apicurio.registry.headers.enabled": "false",
    }


def _confluent_converter(found: Mapping[str, str]) -> Mapping[str, str]:
    """Properties of Confluent's converter, from those of Confluent's Python client.

    Source: `SchemaRegistryClientConfig`, `CachedSchemaRegistryClient` and `SslFactory` of
    Confluent's schema-registry.
    """
    properties = {
        "": "io.confluent.connect.avro.AvroConverter",
        "schema.registry.url": found["url"],
    }
    if user := found.get("basic.auth.user.info"):
        properties["basic.auth.credentials.source"] = "USER_INFO"
        properties["basic.auth.user.info"] = user
    # Of a token both clients say the same.
    properties |= {name: value for name, value in found.items() if name.startswith("bearer.auth.")}
    if authority := found.get("ssl.ca.location"):
        properties["schema.registry.ssl.truststore.type"] = "PEM"
        properties["schema.registry.ssl.truststore.location"] = authority
        # With a store of its own, and without this, it takes a certificate of any server's name.
        properties["schema.registry.ssl.endpoint.identification.algorithm"] = "https"
    return properties


def connect_api(lake: Lake) -> RestApi:
    """The REST API of Kafka Connect. Raises ServersUnknown."""
    declared = settings.connect_url()
    if not declared:
        what = "no Kafka Connect is known: name its REST API in HEADWATER_CONNECT_URL"
        return RestApi(f"http://127.0.0.1:{_port(lake, 'connect', what)}")
    parts = urlsplit(declared)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        # Not repeated here: it may hold a password.
        raise ServersUnknown("HEADWATER_CONNECT_URL is no URL such as https://connect:8083")
    user, _, place = parts.netloc.rpartition("@")
    url = urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))
    if not user:
        return RestApi(url)
    return RestApi(url, f"Basic {b64encode(unquote(user).encode()).decode()}")


def database_properties(lake: Lake, name: str) -> Mapping[str, str]:
    """Properties of a connector to one database, by Debezium's names. Raises ServersUnknown."""
    declared = settings.databases()
    if not declared:
        what = "no PostgreSQL is known: name a file of databases in HEADWATER_DATABASES"
        return {
            "database.hostname": "127.0.0.1",
            "database.port": str(_port(lake, "postgres", what)),
            "database.user": "postgres",
            "database.dbname": "shop",
        }
    properties, beginning = read_properties(declared, "HEADWATER_DATABASES"), f"{name}."
    found = {
        key.removeprefix(beginning): value
        for key, value in properties.items()
        if key.startswith(beginning)
    }
    missing = [key for key in _OF_A_DATABASE if key not in found]
    if missing:
        raise ServersUnknown(f"HEADWATER_DATABASES: {declared} has no {beginning}{missing[0]}")
    return {"database.port": "5432", **found}


_OF_A_DATABASE = ("database.hostname", "database.user", "database.dbname")


def _port(lake: Lake, part: str, otherwise: str) -> int:
    try:
        ports = (read_json(lake.local.storage, lake.stack()) or {})[part]["ports"]
    except KeyError:
        raise ServersUnknown(
            f"{otherwise}, or start one of your own with `ingest stack up`"
        ) from None
    port: int = ports["clients"]
    return port


def read_properties(
    path: str, variable: str, refusal: type[InputError] = ServersUnknown
) -> Mapping[str, str]:
    """The properties in a file that `variable` of the environment names. Raises `refusal`."""
    try:
        lines = [line.strip() for line in Path(path).read_text("utf-8").splitlines()]
    except OSError as error:
        raise refusal(f"{variable}: {path}: {error.strerror}") from error
    found = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith(("#", "!")):
            continue
        key, sign, value = line.partition("=")
        if not sign:
            # Not repeated: it may hold a password.
            raise refusal(f"{variable}: {path}: line {number} is no key=value")
        found[key.strip()] = value.strip()
    return found
