"""Changes of a real PostgreSQL, from declared tables to the rows that it has itself."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from ingest.client_properties import connect_api
from ingest.connectors.connect import Connect
from ingest.connectors.connector import followed_tables
from ingest.connectors.postgres import PostgresLog
from ingest.declarations.stream import DatabaseTable
from ingest.errors import GapFound, SourceUnreadable, StreamLocked
from ingest.runtime.progress import read_totals
from ingest.storage.locks import stream_lock
from tests.live.topics import Topics

LONG = "md5(i::text) || repeat(md5((i + 1)::text), 200)"


@pytest.fixture(scope="module")
def database(topics: Topics) -> Iterator[psycopg.Connection[Any]]:
    """The shop's database, with accounts that have not been declared yet."""
    with psycopg.connect(topics.database, autocommit=True) as database:
        database.execute(
            "create table accounts (id int primary key, owner text, balance numeric(12,2), "
            "note text, seen_at timestamptz, branch text default 'none')"
        )
        database.execute("alter table accounts alter column note set storage external")
        database.execute(
            f"insert into accounts select i, 'owner ' || i, i * 1.01, {LONG}, now() "
            "from generate_series(1, 200) i"
        )
        database.execute("create table cards (id text primary key, account int)")
        database.execute("insert into cards select 'card ' || i, i from generate_series(1, 50) i")
        topics.follow("accounts")
        # Whichever test comes first.
        topics.catch_up("accounts")
        yield database


def assert_the_same(topics: Topics, database: psycopg.Connection[Any], *more: str) -> None:
    """Land what was committed; the living rows are those of the database."""
    topics.catch_up("accounts")
    columns = ", ".join(("id", "owner", "balance", "md5(note)", *more))
    there = database.execute(
        f"select {columns}, to_char(seen_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US') "
        "from accounts"
    )
    found = topics.rows(
        "accounts__current",
        *("id", "owner", "balance", "md5(cast(note as binary))", *more),
        "date_format(seen_at, 'yyyy-MM-dd HH:mm:ss.SSSSSS')",
    )
    assert {tuple(row) for row in found} == set(there.fetchall())


def test_a_declared_table_is_its_snapshot_and_then_its_changes(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    assert_the_same(topics, database)
    with database.transaction():
        # What is long and does not change is not sent.
        database.execute("update accounts set balance = balance + 1 where id % 2 = 0")
        database.execute("update accounts set note = 'short' where id % 7 = 0")
        database.execute("delete from accounts where id % 10 = 3")
        database.execute("insert into accounts values (3, 'came back', -1, null, null)")
    database.execute("update accounts set id = id + 5000, note = owner where id in (10, 20, 30)")
    with database.transaction():
        database.execute(
            "insert into accounts select i, 'many', 1 from generate_series(10001, 20000) i"
        )
    assert_the_same(topics, database)


@pytest.mark.long
def test_rows_are_truncated_and_columns_come_widen_and_go_while_it_runs(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    database.execute("truncate accounts")
    database.execute(
        f"insert into accounts select i, 'owner ' || i, i, {LONG} from generate_series(1, 200) i"
    )
    database.execute("alter table accounts add column country text")
    database.execute("update accounts set country = 'fr' where id = 1")
    database.execute("alter table accounts alter column id type bigint")
    database.execute("insert into accounts (id, owner) values (2 ^ 40, 'far')")
    database.execute("alter table accounts drop column branch")
    database.execute("insert into accounts (id, owner) values (7000, 'without a branch')")
    assert_the_same(topics, database, "country")
    rescued = topics.table("accounts").where("_rescued is not null")
    assert rescued.isEmpty()
    assert topics.table("accounts__quarantine").isEmpty()


@pytest.mark.long
def test_a_table_that_is_declared_later_has_its_rows_and_then_its_changes(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    topics.follow("accounts", "cards")
    topics.catch_up("cards")
    database.execute("update cards set account = 0 where account = 1")
    database.execute("delete from cards where account = 2")
    until = time.monotonic() + 60
    there = set(database.execute("select id, account from cards").fetchall())
    found: set[tuple[Any, ...]] = set()
    # Its snapshot is made beside the stream.
    while found != there and time.monotonic() < until:
        topics.catch_up("cards")
        found = {tuple(row) for row in topics.rows("cards__current", "id", "account")}
    assert found == there
    assert_the_same(topics, database)


@pytest.mark.long
def test_a_partitioned_table_is_one_table(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    database.execute(
        "create table tours (id int, year int, primary key (id, year)) partition by list (year)"
    )
    for year in (2024, 2025):
        database.execute(f"create table tours_{year} partition of tours for values in ({year})")
    database.execute("insert into tours values (1, 2024), (2, 2024), (3, 2025)")
    topics.follow("accounts", "cards", "tours")
    topics.catch_up("tours")
    database.execute("update tours set year = 2025 where id = 1")
    database.execute("delete from tours where id = 3")
    database.execute("insert into tours values (4, 2025)")
    until, found = time.monotonic() + 60, set[tuple[Any, ...]]()
    # Its snapshot is made beside the stream.
    while found != {(1, 2025), (2, 2024), (4, 2025)} and time.monotonic() < until:
        topics.catch_up("tours")
        found = {tuple(row) for row in topics.rows("tours__current", "id", "year")}
    assert found == {(1, 2025), (2, 2024), (4, 2025)}


@pytest.mark.long
def test_a_table_that_cannot_be_followed_fails_alone(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    database.execute("create table notes (id int, text text)")
    topics.follow("accounts", "cards", "notes", "nowhere")
    for table, reason in (("notes", "has no primary key"), ("nowhere", "is not there")):
        with pytest.raises(SourceUnreadable, match=f"table public.{table} {reason}"):
            topics.catch_up(table)
    database.execute("update accounts set owner = 'beside it' where id = 90")
    assert_the_same(topics, database)
    database.execute("alter table notes add primary key (id)")
    database.execute("insert into notes values (1, 'mended')")
    topics.catch_up("notes")
    topics.follow("accounts", "cards")
    topics.catch_up("cards")
    there = Connect(connect_api(topics.lake)).config("headwater_test")
    assert there
    assert "public.notes" in followed_tables(there), "it stays, though it is declared no more"


def test_reason_for_an_unfollowable_table_is_reported(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    database.execute("create view seen as select id from accounts")
    database.execute("create unlogged table passing (id int primary key)")
    database.execute("create role guest login")
    database.execute("grant select on cards to guest")
    database.execute("create table parcels (id int primary key)")
    database.execute("alter table parcels owner to guest")
    where = conninfo_to_dict(topics.database)
    own = {
        "database.hostname": str(where["host"]),
        "database.port": str(where["port"]),
        "database.dbname": str(where["dbname"]),
    }

    def told(user: str, source: str = "test", **more: str) -> str:
        names = ("accounts", "cards", "parcels", "seen", "passing")
        tables = [
            DatabaseTable(name=f"public.{one}", key=("id",), bronze=one, stream=one)
            for one in names
        ]
        log = PostgresLog(source, {**own, "database.user": user, **more})
        return "\n".join(f"{name} {why}" for name, why in log.refused_tables(tables).items())

    kinds = "public.seen is a view, .*\npublic.passing is a view, a foreign or an unlogged table.*"
    assert re.fullmatch(kinds, told("postgres"))
    accounts = "public.accounts may not be read by guest: `grant usage on schema public to guest`.*"
    cards = "\npublic.cards can be published by its owner only: `grant postgres to guest`.*"
    # The publication of its source is there already; it would have to make that of another.
    assert re.fullmatch(f"{accounts}{cards}\n{kinds}", told("guest"))
    parcels = (
        "\npublic.parcels needs a publication, which guest may not make: "
        f"`grant create on database {where['dbname']} to guest`.*"
    )
    assert re.fullmatch(f"{accounts}{cards}{parcels}\n{kinds}", told("guest", "other"))
    by_hand = {"publication.autocreate.mode": "disabled"}
    assert re.fullmatch(f"{accounts}\n{kinds}", told("guest", **by_hand))


def test_nothing_is_missing_or_there_twice_after_connect_was_killed(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    assert topics.stack
    database.execute("update accounts set owner = 'before' where id between 100 and 120")
    (connect,) = (part for part in topics.stack.status() if part.service == "connect")
    assert connect.pid
    os.kill(connect.pid, signal.SIGKILL)
    database.execute("update accounts set owner = 'meanwhile' where id between 110 and 130")
    database.execute("delete from accounts where id = 131")
    assert {one.service: one.state for one in topics.stack.status()}["connect"] == "killed"
    topics.stack.up(lambda _: None, only=["connect"])
    assert_the_same(topics, database)


@pytest.mark.long
def test_a_gap_stops_the_stream_and_a_new_snapshot_repairs_it(
    topics: Topics, database: psycopg.Connection[Any]
) -> None:
    Connect(connect_api(topics.lake)).stop("headwater_test")
    database.execute("delete from accounts where id in (151, 152)")
    database.execute("update accounts set owner = 'in the gap' where id = 153")
    lose_the_slot(database)
    with pytest.raises(GapFound, match="removed its log before slot headwater_test had read it"):
        topics.catch_up("accounts")
    stopped = read_totals(topics.lake, "test.accounts", "test__accounts")
    assert (stopped.state, stopped.code) == ("failed", GapFound.code)
    database.execute("select pg_drop_replication_slot('headwater_test')")
    with pytest.raises(GapFound, match=r"slot headwater_test is gone.* ingest recover --select"):
        topics.catch_up("accounts")
    with stream_lock(topics.lake, "test__cards", "test.cards"):
        (refused,) = topics.recover("accounts")
    assert isinstance(refused, StreamLocked)
    assert re.fullmatch(
        rf"bronze.test__cards is landed by process {os.getpid()} on .*; a new snapshot concerns "
        "all tables of its database: stop that one first",
        str(refused),
    )
    landed = {one: max(topics.values(one, "_offset")) for one in ("accounts", "cards")}
    assert topics.recover("accounts") == []
    for table, last in landed.items():
        # The new snapshot is one of all its tables.
        assert topics.gaps(table) == [(f"test.public.{table}", 0, last + 1, None, "slot")]
    database.execute("update accounts set owner = 'after the gap' where id = 154")
    assert_the_same(topics, database)
    repaired = read_totals(topics.lake, "test.accounts", "test__accounts")
    assert (repaired.state, repaired.code) == ("stopped", None)


def lose_the_slot(database: psycopg.Connection[Any]) -> None:
    """Have PostgreSQL write more than it may keep for a slot."""
    database.execute("alter system set max_slot_wal_keep_size = '1MB'")
    database.execute("select pg_reload_conf()")
    database.execute("create table if not exists load (text text)")
    for _ in range(3):
        database.execute("insert into load values ('x')")
        database.execute("select pg_switch_wal()")
        database.execute("checkpoint")
    database.execute("alter system reset max_slot_wal_keep_size")
    database.execute("select pg_reload_conf()")
    status = database.execute("select wal_status from pg_replication_slots").fetchone()
    assert status == ("lost",)
