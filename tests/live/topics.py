"""Produce messages, and land them as `ingest run` does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from ingest.declarations.databases import with_whole_databases
from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.errors import HeadwaterError
from ingest.runtime.databases import caught_up, renewed
from ingest.runtime.progress import ProgressLog
from ingest.runtime.recovery_files import recover_stream
from ingest.runtime.runner import land_until_stopped
from ingest.stack.stack import Stack
from tests.spark.workshop import Columns, Workshop, node

# Seconds in which a connector reads what was committed.
_TO_CATCH_UP = 180.0
# Of the user that the broker knows.
PASSWORD = "secret of headwater"
# Attributes of an event in binary mode, beside its id and type.
EVENT = {"ce_specversion": "1.0", "ce_source": "shop", "ce_time": "2026-11-01T10:00:00Z"}


def masked(entry: dict[str, Any], masks: Mapping[str, str]) -> dict[str, Any]:
    """A source entry of which some columns are masked."""
    columns = {
        name: {"name": name, "data_type": "string", "config": {"meta": {"mask": mask}}}
        for name, mask in masks.items()
    }
    return {**entry, "columns": {**entry["columns"], **columns}}


@dataclass(slots=True)
class Topics(Workshop):
    """A workshop whose streams are topics; `address` is the broker's.

    At `logins` it asks for a user, `headwater`, and PASSWORD.
    """

    address: str = ""
    logins: str = ""
    # How to reach PostgreSQL, in words of libpq, and what starts the parts.
    database: str = ""
    stack: Stack | None = None
    # What makes and removes topics; its answers come only as long as it is there.
    admin: AdminClient = field(init=False)

    def __post_init__(self) -> None:
        self.admin = AdminClient({"bootstrap.servers": self.address})

    def subscribe(self, name: str, columns: Columns | None = None, **ingest: Any) -> Stream:
        """Declare `test.<name>`, of the topic of that name unless another is given."""
        source = {} if "topic_pattern" in ingest else {"topic": name}
        declared = {"from": "kafka", "format": "json", **source, **ingest}
        stream = read_stream(node(f"test.{name}", declared, columns))
        self._streams[name] = stream
        return stream

    def make(self, topic: str, partitions: int = 1, **more: Any) -> None:
        """Make a topic."""
        self._done(self.admin.create_topics([NewTopic(topic, partitions, 1, **more)]))

    def remove(self, topic: str) -> None:
        """Delete a topic."""
        self._done(self.admin.delete_topics([topic]))

    def widen(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        self._done(self.admin.create_partitions([NewPartitions(topic, partitions)]))

    def expire(self, topic: str, before: int) -> None:
        """Remove the messages of partition 0 before an offset, as retention does."""
        self._done(self.admin.delete_records([TopicPartition(topic, 0, before)]))

    def send(
        self, topic: str, messages: Iterable[Any], key: bytes | None = None, **more: Any
    ) -> None:
        """Produce messages: bytes and None as they are, all else as JSON."""
        producer = Producer({"bootstrap.servers": self.address})
        for one in messages:
            value = one if isinstance(one, bytes | None) else json.dumps(one).encode()
            producer.produce(topic, value=value, key=key, **more)
        assert producer.flush(30) == 0

    def follow(
        self,
        *tables: str,
        source: str = "test",
        masks: Mapping[str, str] | None = None,
        **ingest: Any,
    ) -> None:
        """Declare tables of a database, these and no others."""
        declared = {"from": "postgres", "key": ["id"], "keep_current": True, **ingest}
        entries = (masked(node(f"{source}.{name}", declared), masks or {}) for name in tables)
        streams = [read_stream(one) for one in entries]
        whole, problems = with_whole_databases(streams)
        assert not problems
        self._streams |= dict(zip(tables, whole, strict=True))

    def catch_up(self, table: str) -> None:
        """Land all that was committed to a table so far, as `ingest run` does."""
        stopping = threading.Event()
        too_long = threading.Timer(_TO_CATCH_UP, stopping.set)
        too_long.start()
        _, errors = caught_up(self.spark, self.lake, [self._streams[table]], stopping)
        too_long.cancel()
        if errors:
            raise errors[0]
        assert not stopping.is_set(), f"{table} does not catch up"
        self.land(table)

    def recover(self, table: str) -> list[HeadwaterError]:
        """Repair a stream as `ingest recover` does."""
        stream = self._streams[table]
        ready, errors = renewed(self.spark, self.lake, [stream])
        for one in ready:
            recover_stream(self.spark, self.lake, one)
        return errors

    @contextmanager
    def running(self, name: str) -> Iterator[Future[list[HeadwaterError]]]:
        """A stream that lands what arrives until we leave; what goes wrong with it."""
        stopping, progress = threading.Event(), ProgressLog(self.lake)
        with ThreadPoolExecutor(1) as beside:
            streams = [self._streams[name]]
            told = beside.submit(land_until_stopped, self.spark, streams, progress, stopping)
            try:
                yield told
            finally:
                stopping.set()

    def gaps(self, name: str) -> list[tuple[object, ...]]:
        """What is written of a stream's gaps."""
        if not self.lake.is_table(self.lake.ops("gaps")):
            return []
        there = self.spark.read.format("delta").load(self.lake.ops("gaps"))
        found = there.where(there.stream == f"test.{name}")
        columns = ("topic", "partition", "first_offset", "last_offset", "reason")
        return [tuple(row) for row in found.select(*columns).collect()]

    def mentions(self, text: str, *tables: str) -> list[str]:
        """Tables, as `<schema>/<name>`, of which a row or a file holds a text."""
        return [
            table
            for table in tables
            if text in str(self.spark.read.format("delta").load(self._path(table)).collect())
            or any(
                text.encode() in file.read_bytes()
                for file in Path(self._path(table)).rglob("*")
                if file.is_file()
            )
        ]

    def _path(self, table: str) -> str:
        return self.lake.table(*table.split("/"))

    def _done(self, asked: Mapping[Any, Future[Any]]) -> None:
        for future in asked.values():
            future.result(30)
