"""Which schemas of writers a registry is asked for, and which ones a batch is read by."""

from __future__ import annotations

import io
import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import certifi
import fastavro
import pyarrow as pa
import pytest
from pyspark.sql import types as T
from typing_extensions import override

from ingest.client_properties import schema_registry_properties
from ingest.declarations.stream import Mask
from ingest.decoders.second_pass import judging
from ingest.decoders.writer_schemas import WriterSchemas
from ingest.envelopes.cloudevents import AvroTranslation
from ingest.envelopes.connect import ConnectMessages
from ingest.envelopes.masking import Masking
from ingest.envelopes.message_reader import Reading
from ingest.errors import InputError, RegistryUnreachable
from ingest.registry.client import SchemaRegistry
from ingest.registry.wire_format import id_number
from ingest.schemas.stream_schema import AvroSchemas
from ingest.storage.layout import Lake
from tests.reference import properties

SCHEMA = json.dumps(
    {"type": "record", "name": "R", "fields": [{"name": "email", "type": "string"}]}
)


class Registry:
    """A registry that knows the schemas of some ids."""

    def __init__(self, *known: int) -> None:
        self.known, self.asked = set(known), list[int]()
        self.is_away = False

    def schema(self, number: int) -> str | None:
        if self.is_away:
            raise RegistryUnreachable("it does not answer")
        self.asked.append(number)
        return SCHEMA if number in self.known else None

    def schema_of_guid(self, guid: str) -> str | None:
        return self.schema(id_number(guid))


def writers(registry: Any) -> WriterSchemas:
    """Writers that need no Spark."""
    nothing: Any = None
    return WriterSchemas(nothing, registry, are_columns=False)


class Server(HTTPServer):
    """Answers what it knows, and remembers by which logins it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers, self.logins = dict[str, bytes](), list[str | None]()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Answering(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.logins.append(self.headers["Authorization"])
        known = self.server.answers.get(self.path)
        self.send_response(200 if known else 404)
        self.end_headers()
        self.wfile.write(known or b"<html>no such page</html>")

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[Server]:
    """A registry's server that knows nothing yet."""
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


def test_of_too_many_unknown_ids_those_are_asked_for_that_were_not_yet() -> None:
    registry, rubbish = Registry(5_000), [*range(1, 75), 5_000]
    asking = writers(registry)
    assert asking.known_by_now(rubbish) == set()
    assert registry.asked == list(range(1, 51))
    # Their turn comes, and then that of those that were asked for first.
    assert asking.known_by_now(rubbish) == {5_000}
    assert set(registry.asked[50:]) == {*range(51, 75), 5_000, *range(1, 26)}


def test_unreachable_registry_requeues_nothing() -> None:
    registry = Registry(7)
    asking = writers(registry)
    registry.is_away = True
    assert asking.known_by_now([7]) == set()
    registry.is_away = False
    assert asking.known_by_now([7]) == {7}


def test_a_guid_is_asked_for_as_one() -> None:
    number = id_number("89791762-2336-4186-9674-299b90a802e2")
    assert writers(Registry(number)).known_by_now([number, number + 1]) == {number}


def test_a_registry_that_knows_no_guids_has_no_such_schema() -> None:
    guid = str(uuid4())
    with served() as server:
        registry = SchemaRegistry({"url": server.url})
        assert registry.schema_of_guid(guid) is None
        server.answers[f"/schemas/guids/{guid}"] = json.dumps({"schema": SCHEMA}).encode()
        told = registry.schema_of_guid(guid)
    assert json.loads(told or "null") == json.loads(SCHEMA)


@pytest.mark.parametrize(
    ("number", "login"),
    [(1, "Basic " + b64encode(b"headwater:secret").decode()), (2, "Bearer secret")],
    ids=["password", "token"],
)
def test_documented_login_works(
    number: int, login: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "registry.properties"
    monkeypatch.setenv("HEADWATER_SCHEMA_REGISTRY_PROPERTIES", str(file))
    text = properties("kafka.md")[number].replace("…", "secret")
    with served() as server:
        server.answers["/schemas/ids/7"] = json.dumps({"schema": SCHEMA}).encode()
        text = text.replace("https://registry.example.com", server.url)
        file.write_text(text.replace("/etc/ssl/registry.pem", certifi.where()))
        registry = SchemaRegistry(schema_registry_properties(Lake(str(tmp_path))))
        assert registry.schema(7)
        assert server.logins == [login]
    file.write_text(text)
    with pytest.raises(InputError, match=r"ssl\.ca\.location.* No such file"):
        SchemaRegistry(schema_registry_properties(Lake(str(tmp_path)))).schema(7)


def test_the_first_pass_reads_by_the_schemas_that_came_last() -> None:
    agreed = AvroSchemas(dict.fromkeys([*range(100, 200), 3], SCHEMA))
    assert list(agreed.newest) == [*range(169, 200), 3]


@pytest.mark.parametrize("is_cut", [False, True])
def test_deferred_masked_message_keeps_its_schema_id(is_cut: bool) -> None:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, json.loads(SCHEMA), {"email": "a@b"})
    value = b"\0\0\0\0\7" + stream.getvalue()[: -1 if is_cut else None]
    reading = Reading(
        AvroTranslation({7: SCHEMA}),
        ConnectMessages(T.StructType()),
        Masking({("email",): Mask.REDACT}, b""),
    )
    held = pa.RecordBatch.from_arrays(
        [pa.array([value]), pa.array([None], pa.list_(pa.string()))], ["value", "_headers"]
    )
    (judged,) = judging(T.StructType(), reading, None)([held])
    assert judged["writer"].to_pylist() == ["7"]
    assert b"a@b" not in (judged["value"][0].as_py() or b"")
