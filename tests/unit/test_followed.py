"""What becomes of a connector, told by a Kafka Connect and a PostgreSQL in memory."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from typing_extensions import override

from ingest.client_properties import RestApi
from ingest.connectors.connect import Connect, ConnectorState
from ingest.connectors.connector import SNAPSHOT_LSN, followed_tables
from ingest.connectors.postgres import PostgresLog, Slot
from ingest.connectors.postgres_connector import Broker, PostgresConnector
from ingest.declarations.stream import Database, DatabaseTable
from ingest.errors import GapFound, HeadwaterError, SourceUnreadable
from ingest.runtime.databases import DatabaseWatch
from ingest.sources.data_loss import SLOT, UNFOLLOWED
from ingest.storage.layout import Lake

NAME = "headwater_shop"


class Killed(BaseException):
    """The process ends here."""


class Server(PostgresLog):
    """A PostgreSQL: where its log is, the slot, and why tables cannot be followed."""

    def __init__(self) -> None:
        super().__init__("shop", {})
        self.place = 800
        self.held: Slot | None = None
        self.bad: dict[str, str] = {}

    @override
    def position(self) -> int:
        return self.place

    @override
    def slot(self, name: str) -> Slot | None:
        return self.held

    @override
    def drop_slot(self, name: str) -> None:
        self.held = None

    @override
    def mark(self) -> int:
        return self.place

    @override
    def refused_tables(self, tables: Iterable[DatabaseTable]) -> Mapping[str, str]:
        return {one.name: self.bad[one.name] for one in tables if one.name in self.bad}


class Worker(Connect):
    """A Kafka Connect with one connector, which makes its slot as soon as it runs.

    `kill_before` is the call that the process does not live to make.
    """

    def __init__(self, server: Server) -> None:
        super().__init__(RestApi("http://127.0.0.1:9"))
        self._server = server
        self.told: Mapping[str, str] | None = None
        self.is_stopped = self.offsets = self.is_taking = False
        self.puts: list[Mapping[str, str]] = []
        self.kill_before = ""
        self.tasks: tuple[str, ...] = ("RUNNING",)
        self.restarts = 0

    @override
    def config(self, name: str) -> dict[str, str] | None:
        assert name == NAME
        return None if self.told is None else dict(self.told)

    @override
    def put(self, name: str, config: Mapping[str, str]) -> None:
        self._live("put")
        self.puts.append(config)
        self.told, self.is_taking = config, True
        self._run()

    @override
    def state(self, name: str) -> ConnectorState | None:
        if self.told is None:
            return None
        if self.is_taking:
            self.is_taking = False
            # Also a stopped one is begun again, for new words.
            return ConnectorState(connector="UNASSIGNED")
        return (
            ConnectorState(connector="STOPPED")
            if self.is_stopped
            else ConnectorState(connector="RUNNING", tasks=self.tasks)
        )

    @override
    def has_offsets(self, name: str) -> bool:
        return self.offsets

    @override
    def forget_offsets(self, name: str) -> None:
        self._live("forget_offsets")
        assert self.is_stopped
        self.offsets = False

    @override
    def stop(self, name: str) -> None:
        self.is_stopped = True

    @override
    def resume(self, name: str) -> None:
        self._live("resume")
        self.is_stopped = False
        self._run()

    @override
    def restart(self, name: str) -> None:
        self.restarts += 1
        self.tasks = ("RUNNING",)

    def _run(self) -> None:
        # With offsets and no slot its task fails, and makes none.
        if not self.is_stopped and not self.offsets:
            self._server.held = Slot(needs_from=800, read_up_to=800, is_lost=False)
            self.offsets = True

    def _live(self, call: str) -> None:
        if call == self.kill_before:
            raise Killed


class Topics:
    """A broker that keeps what it is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str | None, bytes]] = []

    def make_topics(self, topics: Iterable[str]) -> None:
        """They are there."""

    def send(self, messages: Iterable[tuple[str, str | None, bytes]]) -> None:
        self.sent += messages


class Shop:
    """The database of a lake, as each process sees it that starts."""

    def __init__(self, lake: Lake) -> None:
        self.lake, self.server, self.broker = lake, Server(), Topics()
        self.worker = Worker(self.server)

    def process(self, *names: str) -> PostgresConnector:
        """What follows these tables, as they are declared when it starts."""
        tables = (
            DatabaseTable(name=one, key=("id",), bronze=f"shop__{one}", stream=f"shop.{one}")
            for one in names
        )
        database = Database(name="shop", tables=tuple(tables))
        return PostgresConnector(self.lake, database, self.worker, self.server)

    def followed(self) -> set[str]:
        """Tables that the connector was told to follow."""
        return set(followed_tables(self.worker.told or {}))

    def has_landed(self, table: str) -> None:
        """Rows of a table are in bronze."""
        rows = pa.table({"_batch_id": pa.array([4], pa.int64())})
        write_deltalake(self.lake.bronze(f"shop__{table}"), rows)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A database that nobody has followed yet."""
    for name, text in (
        ("HEADWATER_KAFKA_PROPERTIES", "bootstrap.servers=127.0.0.1:9"),
        ("HEADWATER_DATABASES", "\n".join(f"shop.database.{of}=x" for of in _NEEDED)),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        monkeypatch.setenv(name, str(tmp_path / name))
    return Shop(Lake(str(tmp_path / "lake")))


_NEEDED = ("hostname", "user", "dbname")


def test_a_table_that_cannot_be_followed_keeps_none_of_its_neighbours(shop: Shop) -> None:
    shop.server.bad["b"] = "is not there"
    refused = shop.process("a", "b").follow(shop.broker)
    assert shop.followed() == {"a"}
    assert str(refused["b"]) == "database shop: table b is not there"
    assert isinstance(refused["b"], SourceUnreadable)
    shop.server.bad.clear()
    assert not shop.process("a", "b").follow(shop.broker)
    assert shop.followed() == {"a", "b"}


def test_of_tables_that_cannot_be_followed_no_connector_is_made(shop: Shop) -> None:
    shop.server.bad["a"] = "is not there"
    assert set(shop.process("a").look(shop.broker)) == {"a"}
    assert shop.worker.told is None


def test_a_connector_whose_tasks_were_forgotten_is_started_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    followed = shop.process("a")
    followed.look(shop.broker)
    shop.worker.tasks = ()
    # It may just be about to have one.
    for seconds, restarts in ((0, 0), (4, 0), (2, 1), (60, 1)):
        now += seconds
        followed.look(shop.broker)
        assert shop.worker.restarts == restarts


def test_a_connector_that_takes_a_new_table_goes_on(shop: Shop) -> None:
    shop.process("a").follow(shop.broker)
    shop.process("a", "b").follow(shop.broker)
    assert not shop.worker.is_stopped


def test_an_older_process_leaves_tables_that_were_declared_since(shop: Shop) -> None:
    older, newer = shop.process("a"), shop.process("a", "b")
    older.follow(shop.broker)
    newer.follow(shop.broker)
    assert b'"data-collections": ["b"]' in shop.broker.sent[-1][2]
    shop.process("a").follow(shop.broker)
    assert shop.followed() == {"a", "b"}
    assert shop.worker.told
    assert shop.worker.told["message.key.columns"] == "a:id;b:id"
    assert len(shop.worker.puts) == 2, "it has nothing to say"


def test_a_table_that_was_not_followed_for_a_while_is_a_gap_of_its_own(shop: Shop) -> None:
    shop.process("a").follow(shop.broker)
    shop.has_landed("b")
    again = shop.process("a", "b")
    refused = again.follow(shop.broker)
    assert set(refused) == {"b"}
    assert isinstance(refused["b"], GapFound)
    assert shop.followed() == {"a"}, "who looks later finds the gap, too"
    assert again.missing() == {"b": UNFOLLOWED}
    assert not again.renew(shop.broker)
    assert shop.followed() == {"a", "b"}
    assert not shop.process("a", "b").missing()


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("kill_before", ["put", "forget_offsets", "resume"])
def test_interrupted_snapshot_is_repeated_by_next_run(
    shop: Shop, kill_before: str, landed: bool
) -> None:
    shop.process("a").follow(shop.broker)
    if landed:
        shop.has_landed("a")
    shop.server.held = None
    shop.server.place = 1600
    shop.worker.kill_before = kill_before
    with pytest.raises(Killed):
        shop.process("a").renew(shop.broker)
    shop.worker.kill_before = ""
    shop.server.place = 2400
    again = shop.process("a")
    if again.missing():
        again.renew(shop.broker)
    shop.process("a").follow(shop.broker)
    assert not shop.worker.is_stopped
    assert shop.server.slot(NAME)
    assert shop.worker.told
    # Rows of the snapshot stand behind the message that removes the older ones.
    removed = json.loads(shop.broker.sent[-1][2])
    assert removed["source"]["lsn"] == int(shop.worker.told[SNAPSHOT_LSN]) - 1
    assert not shop.process("a").missing()


def test_a_slot_that_is_gone_again_after_a_new_snapshot_is_a_gap(shop: Shop) -> None:
    shop.process("a").follow(shop.broker)
    shop.server.held = None
    shop.process("a").renew(shop.broker)
    assert not shop.process("a").missing()
    shop.server.held = None
    assert shop.process("a").missing() == {"a": SLOT}


@pytest.mark.parametrize(
    ("slot", "said"),
    [
        (None, "slot headwater_shop is gone, so changes are missing"),
        (
            Slot(needs_from=None, read_up_to=800, is_lost=True),
            "PostgreSQL has removed its log before slot headwater_shop had read it",
        ),
    ],
)
def test_a_slot_that_is_lost_while_its_tables_are_followed_is_a_gap(
    shop: Shop, slot: Slot | None, said: str
) -> None:
    followed = shop.process("a")
    followed.look(shop.broker)
    followed.look(shop.broker)
    shop.server.held = slot
    with pytest.raises(GapFound, match=said):
        followed.look(shop.broker)


def told(watch: DatabaseWatch) -> HeadwaterError | None:
    """What its first look has found."""
    until = time.monotonic() + 30
    while not watch.has_looked and time.monotonic() < until:
        time.sleep(0.01)
    try:
        watch.look()
    except HeadwaterError as error:
        return error
    return None


def test_unreachable_database_does_not_delay_others(shop: Shop) -> None:
    answers = threading.Event()

    class Slow(PostgresConnector):
        """It has lost its slot, and takes a while to say so."""

        @override
        def look(self, broker: Broker) -> Mapping[str, GapFound]:
            answers.wait(60)
            raise GapFound("slot gone")

    slow = Slow(shop.lake, Database(name="shop", tables=()), shop.worker, shop.server)
    watch = DatabaseWatch(slow, shop.broker, "shop", "a")
    began = time.monotonic()
    watch.begin()
    watch.look()
    assert time.monotonic() - began < 5
    answers.set()
    assert isinstance(told(watch), GapFound)


def test_a_table_that_cannot_be_followed_stops_its_own_stream_only(shop: Shop) -> None:
    shop.server.bad["b"] = "is not there"
    watches = {
        name: DatabaseWatch(shop.process("a", "b"), shop.broker, "shop", name)
        for name in ("a", "b")
    }
    for one in watches.values():
        one.begin()
    assert isinstance(told(watches["b"]), SourceUnreadable)
    assert told(watches["a"]) is None
