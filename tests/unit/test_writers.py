"""Which schemas of writers a registry is asked for, and which ones a batch is read by."""

from __future__ import annotations

import io
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

import fastavro
import pyarrow as pa
import pytest
from pyspark.sql import types as T
from typing_extensions import override

from ingest.declarations.stream import Mask
from ingest.decode.connect_messages import ConnectMessages
from ingest.decode.masking import Masking
from ingest.decode.reading import Reading
from ingest.decode.repository import Agreed
from ingest.decode.schema_ids import id_number
from ingest.decode.translations import AvroTranslation
from ingest.decode.verdicts import judging
from ingest.decode.writers import Writers
from ingest.errors import RegistryUnreachable
from ingest.registry.client import SchemaRegistry

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


def writers(registry: Any) -> Writers:
    """Writers that need no Spark."""
    nothing: Any = None
    return Writers(nothing, registry, are_columns=False)


def test_of_too_many_unknown_ids_those_are_asked_for_that_were_not_yet() -> None:
    registry, rubbish = Registry(5_000), [*range(1, 75), 5_000]
    asking = writers(registry)
    assert asking.known_by_now(rubbish) == set()
    assert registry.asked == list(range(1, 51))
    # Their turn comes, and then that of those that were asked for first.
    assert asking.known_by_now(rubbish) == {5_000}
    assert set(registry.asked[50:]) == {*range(51, 75), 5_000, *range(1, 26)}


def test_a_registry_that_is_away_lets_nothing_out_of_quarantine() -> None:
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
    guid, answers = str(uuid4()), dict[str, bytes]()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = answers.get(self.path)
            self.send_response(200 if known else 404)
            self.end_headers()
            self.wfile.write(known or b"<html>no such page</html>")

        @override
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        registry = SchemaRegistry({"url": f"http://127.0.0.1:{server.server_port}"})
        assert registry.schema_of_guid(guid) is None
        answers[f"/schemas/guids/{guid}"] = json.dumps({"schema": SCHEMA}).encode()
        told = registry.schema_of_guid(guid)
        server.shutdown()
    assert json.loads(told or "null") == json.loads(SCHEMA)


def test_the_first_pass_reads_by_the_schemas_that_came_last() -> None:
    agreed = Agreed(dict.fromkeys([*range(100, 200), 3], SCHEMA))
    assert list(agreed.newest) == [*range(169, 200), 3]


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_masked_message_that_is_held_back_keeps_the_id_of_its_schema(is_cut: bool) -> None:
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
