"""One connector follows all tables that are declared of a database."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ingest.client_properties import RestApi, avro_converter
from ingest.connectors.connect import Connect, ConnectorState
from ingest.connectors.connector import connector_config, followed_tables, is_gap, refused_subject
from ingest.declarations.databases import with_whole_databases
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Database, Envelope, Format, KafkaSource, Stream
from ingest.errors import ConnectorFailed, DeclarationInvalid
from ingest.registry.compatibility import Compatibility
from ingest.storage.layout import Lake
from tests.unit.test_declarations import TABLE, node


def table(name: str, source: str = "shop", **ingest: Any) -> Stream:
    """A stream of a table."""
    names = {"name": name, "source_name": source, "identifier": f"{source.lower()}__{name}"}
    return read_stream(node({**TABLE, **ingest}, **names))


def database(stream: Stream) -> Database:
    """The database of a stream."""
    assert isinstance(stream.source, KafkaSource)
    assert stream.source.database
    return stream.source.database


def test_a_table_lands_as_changes_from_a_topic_of_its_own() -> None:
    stream = table("orders")
    assert (stream.format, stream.envelope) == (Format.JSON, Envelope.DEBEZIUM)
    assert isinstance(stream.source, KafkaSource)
    assert stream.source.topics == ("shop.public.orders",)
    assert stream.identity.sequence_by == (("source_lsn",), ("transaction_order",))


def test_all_tables_of_a_source_are_one_database() -> None:
    streams = [table("orders"), table("items", table="sales.items"), table("orders", "erp")]
    whole, problems = with_whole_databases(streams)
    assert problems == []
    names = [[one.name for one in database(stream).tables] for stream in whole]
    assert names == [["public.orders", "sales.items"]] * 2 + [["public.orders"]]


def test_a_table_belongs_to_one_stream() -> None:
    _, problems = with_whole_databases([table("orders"), table("again", table="public.orders")])
    owner = "shop.orders (models/bronze/shop.yml)"
    reason = f"meta.ingest.table: public.orders already belongs to {owner}"
    assert problems == [("models/bronze/shop.yml: shop.again", reason)]


def test_all_tables_of_a_database_are_of_one_format() -> None:
    avro = table("orders", format="avro", avro={"compatibility": "full"})
    whole, problems = with_whole_databases([avro, table("items")])
    reason = "meta.ingest.format: shop.orders is avro, and one connector writes both"
    assert problems == [("models/bronze/shop.yml: shop.items", reason)]
    (of_items, of_orders) = database(whole[0]).tables
    assert of_orders.compatibility is Compatibility.FULL
    assert of_items.compatibility is None


def test_a_connector_writes_avro_by_the_converter_of_the_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "registry.properties"
    file.write_text("url=https://r:8081\nbasic.auth.user.info=me:secret\n", "utf-8")
    monkeypatch.setenv("HEADWATER_SCHEMA_REGISTRY_PROPERTIES", str(file))
    converter = avro_converter(Lake(str(tmp_path)))
    kafka = {"bootstrap.servers": "k:9092"}
    told = connector_config(database(table("orders", format="avro")), {}, {}, kafka, 7, converter)
    assert told["value.converter"] == "io.confluent.connect.avro.AvroConverter"
    assert told["key.converter.schema.registry.url"] == "https://r:8081"
    assert told["value.converter.basic.auth.user.info"] == "me:secret"
    assert told["schema.name.adjustment.mode"] == "avro"


def test_refused_schema_names_its_subject() -> None:
    trace = (
        "io.x.RestClientException: Schema being registered is incompatible with an earlier schema "
        'for subject "shop.public.orders-value"; error code: 409'
    )
    assert refused_subject(trace) == "shop.public.orders-value"
    assert refused_subject("FATAL: password authentication failed") is None


def test_a_source_whose_name_no_slot_can_have_is_refused() -> None:
    with pytest.raises(DeclarationInvalid, match="source: 'Shop': lower-case letters"):
        table("orders", "Shop")


def test_connector_config_has_tables_and_signal_topic() -> None:
    whole, _ = with_whole_databases([table("orders"), table("items", key=["a", "b"])])
    kafka = {"bootstrap.servers": "k:9092", "security.protocol": "SSL"}
    tables = {one.name: one.key for one in database(whole[0]).tables}
    own = {"heartbeat.interval.ms": "9"}
    told = connector_config(database(whole[0]), tables, own, kafka, 7)
    assert followed_tables(told) == tables == {"public.orders": ("id",), "public.items": ("a", "b")}
    assert told["message.key.columns"] == "public[.]items:a,b;public[.]orders:id"
    assert told["slot.name"] == told["publication.name"] == "headwater_shop"
    assert told["slot.failover"] == "true"
    assert told["signal.kafka.bootstrap.servers"] == "k:9092"
    assert told["signal.consumer.security.protocol"] == "SSL"
    assert told["transforms.snapshot.static.value"] == "7"
    assert told["heartbeat.interval.ms"] == "9"


def test_failure_shows_its_last_cause() -> None:
    trace = "a.b.Outer: it failed\n\tat x\nCaused by: a.b.Inner: no such user\n\tat y\n"
    state = ConnectorState(connector="RUNNING", tasks=("FAILED",), trace=trace)
    assert str(state) == "FAILED: a.b.Inner: no such user"
    assert state.has_failed
    assert not state.is_running
    assert str(ConnectorState(connector="RUNNING", tasks=("RUNNING",))) == "RUNNING"
    assert str(ConnectorState(connector="STOPPED")) == "STOPPED, without a task"


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        ("starting at …, but this is no longer available on the server. Reconfigure", True),
        ('ERROR: can no longer get changes from replication slot "headwater_shop"', True),
        ('FATAL: password authentication failed for user "me"', False),
    ],
)
def test_task_without_deferred_record_fails_by_name(trace: str, expected: bool) -> None:
    assert is_gap(trace) is expected


class Answers(BaseHTTPRequestHandler):
    """A worker of Kafka Connect that refuses one connector, and is busy at first."""

    asked: list[str]

    def do_PUT(self) -> None:
        """Busy, then it refuses."""
        self.asked.append(self.headers["Authorization"])
        code, said = (409, "busy") if len(self.asked) == 1 else (400, "bad\nword")
        text = json.dumps({"error_code": code, "message": said}).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        """There is no connector."""
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def worker() -> Iterator[Connect]:
    """A client of that worker."""
    Answers.asked = []
    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield Connect(RestApi(f"http://127.0.0.1:{server.server_port}", "Basic secret"))
    server.shutdown()
    thread.join()
    server.server_close()


def test_refusal_of_connect_is_reported_without_the_request(worker: Connect) -> None:
    with pytest.raises(ConnectorFailed, match="400: bad word") as refused:
        worker.put("headwater_shop", {"database.password": "hidden"})
    assert Answers.asked == ["Basic secret"] * 2
    assert "hidden" not in str(refused.value)
    assert worker.config("headwater_shop") is None
    assert worker.state("headwater_shop") is None


def test_unreachable_connect_is_reported() -> None:
    with pytest.raises(ConnectorFailed, match=r"http://127\.0\.0\.1:9 does not answer"):
        Connect(RestApi("http://127.0.0.1:9")).state("headwater_shop")
