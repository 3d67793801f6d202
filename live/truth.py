"""What PostgreSQL holds and what was produced, beside what has landed; read without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from confluent_kafka import Consumer, TopicPartition
from psycopg import sql
from pyspark.sql.types import VariantVal

from demo import lake as reader
from ingest.sources.query_checkpoint import checkpoint_of
from ingest.storage.layout import Lake

SLOT = "headwater_live"
_TIME = "to_char({} at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US')"
_TIME_HERE = "to_char({}, '%Y-%m-%d %H:%M:%S%.6f')"


@dataclass(frozen=True, slots=True)
class Kept:
    """A table of living rows: its name, and its columns and a sum, in the lake and PostgreSQL."""

    name: str
    columns: str
    columns_there: str
    total: str
    total_there: str


_KEPT = {
    # By the stream itself, and by a model.
    "customers": Kept(
        "bronze.live__customers__current",
        f"customer_id, name, city, md5(about), {_TIME_HERE.format('updated_at')}",
        f"customer_id, name, city, md5(about), {_TIME.format('updated_at')}",
        "length(about)",
        "length(about)",
    ),
    "orders": Kept(
        "silver.live_orders_current",
        f"order_id, customer_id, order_status, amount_eur_cents, {_TIME_HERE.format('placed_at')}",
        f"order_id, customer_id, status, (amount * 100)::bigint, {_TIME.format('placed_at')}",
        "amount_eur_cents",
        "(amount * 100)::bigint",
    ),
}


@dataclass(frozen=True, slots=True)
class Compared:
    """One number on both sides."""

    what: str
    truth: str
    landed: str

    @property
    def is_same(self) -> bool:
        """Whether both agree."""
        return self.truth == self.landed


def compared(
    lake: str, database: str, produced: Mapping[str, int], quarantined: Mapping[str, int]
) -> Iterator[Compared]:
    """Rows and sums of each kept table, events of each topic, and that nothing was refused."""
    with psycopg.connect(database) as connection:
        for table, kept in _KEPT.items():
            asked = sql.SQL("select {} from {}").format  # of our own words alone
            name = sql.Identifier(table)
            there = asked(sql.SQL(kept.columns_there), name)
            rows = set(connection.execute(there).fetchall())
            total = connection.execute(asked(sql.SQL(f"sum({kept.total_there})"), name)).fetchone()
            found = _asked(lake, kept.name, f"select {kept.columns} from this")  # noqa: S608
            sums = _asked(lake, kept.name, f"select sum({kept.total}) from this")  # noqa: S608
            yield Compared(f"{table}: rows", f"{len(rows):,}", f"{len(found):,}")
            different = len(rows.symmetric_difference(set(found)))
            yield Compared(f"{table}: rows that differ", "0", f"{different:,}")
            yield Compared(f"{table}: sum", str(total and total[0]), str(sums and sums[0][0]))
    for topic, count in sorted(produced.items()):
        rows_of, twice = landed(lake, topic)
        yield Compared(f"{topic}: events", f"{count:,}", f"{rows_of:,}")
        yield Compared(f"{topic}: landed twice", "0", f"{twice:,}")
    told, wrong = _times(lake)
    yield Compared(f"live.events: of {told:,}, times that differ", "0", f"{wrong:,}")
    for stream, count in sorted(quarantined.items()):
        yield Compared(f"{stream}: quarantined", "0", f"{count:,}")


def _times(lake: str) -> tuple[int, int]:
    """Some events, which tell their time in Avro and in a header, and how many tell two times."""
    question = "select data, to_char(time, '%Y-%m-%dT%H:%M:%S%.3f') from this limit 20000"
    rows = _asked(lake, "bronze.live__events", question)
    wrong = sum(
        datetime.fromisoformat(VariantVal(data["value"], data["metadata"]).toPython()["at"])
        != datetime.fromisoformat(f"{at}+00:00")
        for data, at in rows
    )
    return len(rows), wrong


def is_confirmed(database: str, position: str) -> bool:
    """Whether all that the database had written at a position of its log is in Kafka."""
    asked = (
        "select confirmed_flush_lsn >= %s::pg_lsn from pg_replication_slots where slot_name = %s"
    )
    with psycopg.connect(database) as connection:
        found = connection.execute(asked, [position, SLOT]).fetchone()
    return bool(found and found[0])


def position_of(database: str) -> str:
    """How far the database has written its log."""
    with psycopg.connect(database) as connection:
        found = connection.execute("select pg_current_wal_lsn()::text").fetchone()
    return str(found[0]) if found else ""


def is_followed(database: str) -> bool:
    """Whether a connector reads the database's log."""
    asked = "select active from pg_replication_slots where slot_name = %s"
    with psycopg.connect(database) as connection:
        found = connection.execute(asked, [SLOT]).fetchone()
    return bool(found and found[0])


def has_read_all(lake: Lake, servers: str, table: str) -> bool:
    """Whether the batches of a stream that are committed end where its topics do."""
    checkpoint = checkpoint_of(lake, table)
    read = checkpoint.offsets(checkpoint.newest_committed) or {}
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "live"})
    try:
        ends = (
            (consumer.get_watermark_offsets(TopicPartition(topic, int(number)), timeout=30), offset)
            for topic, partitions in read.items()
            for number, offset in partitions.items()
        )
        return bool(read) and all(end <= offset for (_, end), offset in ends)
    finally:
        consumer.close()


def landed(lake: str, topic: str) -> tuple[int, int]:
    """Rows of a topic's table, and how many of them are there twice."""
    # No partition has so many messages as its number is multiplied by.
    question = (
        "select count(*) as n, count(distinct (_partition * 1000000000000 + _offset)) as m "
        "from this"
    )
    told = _asked(lake, f"bronze.{topic.replace('.', '__')}", question)
    return (told[0][0], told[0][0] - told[0][1]) if told else (0, 0)


def _asked(lake: str, table: str, question: str) -> list[tuple[Any, ...]]:
    """What another reader than Spark answers; nothing without the table."""
    tables = reader.Lake(lake)
    if not tables.holds(table):
        return []
    return [tuple(row.values()) for row in tables.rows(question, table)]
