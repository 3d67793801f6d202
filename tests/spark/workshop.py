"""Land small files as `ingest run` does, in the session of the tests, and look at what came."""

from __future__ import annotations

import gzip
import json
import os
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.errors import HeadwaterError
from ingest.event_types.ops_table import registered
from ingest.runtime.progress import ProgressLog
from ingest.runtime.stream_query import StreamQuery, Trigger
from ingest.storage.layout import Lake
from ingest.storage.locks import stream_lock

Columns = Mapping[str, str]


def node(name: str, ingest: Mapping[str, Any], columns: Columns | None = None) -> dict[str, Any]:
    """A source entry as dbt's manifest holds it; `name` is `<source>.<table>`."""
    source, table = name.split(".")
    return {
        "unique_id": f"source.headwater.{source}.{table}",
        "original_file_path": f"models/bronze/{source}.yml",
        "source_name": source,
        "name": table,
        "identifier": f"{source}__{table}",
        "schema": "bronze",
        "description": "",
        "config": {"meta": {"ingest": dict(ingest)}},
        "columns": {
            column: {"name": column, "data_type": kind} for column, kind in (columns or {}).items()
        },
    }


@dataclass(slots=True)
class Workshop:
    """A lake, landing folders beside it, and a clock that a test may turn."""

    spark: SparkSession
    root: Path
    ahead: timedelta = timedelta(0)
    _streams: dict[str, Stream] = field(default_factory=dict)

    @property
    def lake(self) -> Lake:
        """The lake."""
        return Lake(str(self.root / "lake"))

    def now(self) -> datetime:
        """The clock of the streams."""
        return datetime.now(UTC) + self.ahead

    def stream(self, name: str, columns: Columns | None = None, **ingest: Any) -> Stream:
        """Declare `test.<name>`, files of its own landing folder."""
        folder = self.folder(name)
        folder.mkdir(parents=True, exist_ok=True)
        declared = {"from": "files", "path": str(folder), "format": "json", **ingest}
        return self.declare(name, node(f"test.{name}", declared, columns))

    def declare(self, name: str, entry: Mapping[str, Any]) -> Stream:
        """Declare a stream by its whole entry."""
        self._streams[name] = read_stream(entry)
        return self._streams[name]

    def declared(self, name: str) -> Stream:
        """A stream that was declared."""
        return self._streams[name]

    def folder(self, name: str) -> Path:
        """Landing folder of a stream."""
        return self.root / "landing" / name

    def drop(self, name: str, file: str, content: bytes | str | Iterable[Any]) -> Path:
        """Write a file into a stream's folder: bytes, text, or records as JSON Lines."""
        if isinstance(content, str):
            content = content.encode()
        elif not isinstance(content, bytes):
            content = "".join(json.dumps(one) + "\n" for one in content).encode()
        path = self.folder(name) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
        return path

    def run(self, name: str) -> HeadwaterError | None:
        """Land what is new of a stream, as a process that has just started; what went wrong."""
        stream = self._streams[name]
        with stream_lock(self.lake, stream.table, stream.name):
            query = StreamQuery(self.spark, self.lake, stream, ProgressLog(self.lake), self.now)
            query.answer_requests()
            query.discover()
            query.start(Trigger.AVAILABLE_NOW)
            while query.is_active or query.continues():
                time.sleep(0.05)
            query.wait()
            query.acknowledge()
            if query.error is None:
                query.upkeep.at_last()
        return query.error or query.upkeep.error

    def fill(self, name: str) -> list[HeadwaterError]:
        """Fill the tables of a stream's types, as a process that has just started."""
        stream, progress = self._streams[name], ProgressLog(self.lake)
        query = StreamQuery(self.spark, self.lake, stream, progress, self.now)
        return query.fill_tables(threading.Event())

    def land(self, name: str) -> None:
        """Land what is new of a stream."""
        error = self.run(name)
        if error:
            raise error

    def table(self, name: str) -> DataFrame:
        """Bronze of a stream, or of `<name>__quarantine`."""
        return self.spark.read.format("delta").load(self.lake.bronze(f"test__{name}"))

    def rows(self, name: str, *columns: str) -> list[Row]:
        """Chosen columns of bronze, in one order."""
        return sorted(self.table(name).selectExpr(*columns).collect(), key=str)

    def type_table(self, event_type: str, stream: str | None = None) -> DataFrame:
        """The view of a type of event: of a stream, else of the last one that brings it."""
        types = [one for one in registered(self.lake) if one.event_type == event_type]
        *_, found = (one for one in types if stream is None or one.stream == f"test.{stream}")
        bronze = found.bronze_table.removeprefix("bronze.")
        self.spark.read.format("delta").load(self.lake.bronze(bronze)).createOrReplaceTempView("b")
        return self.spark.sql(found.query.replace(f"from {found.bronze_table}\n", "from b\n"))

    def values(self, name: str, column: str) -> list[Any]:
        """One column of bronze, in one order."""
        return [row[0] for row in self.rows(name, column)]

    def rejects(self, name: str) -> list[Row]:
        """Quarantine of a stream: file name, line, code, raw bytes; in one order."""
        return self.rows(
            f"{name}__quarantine",
            "element_at(split(_source, '/'), -1) as file",
            "_position",
            "_reason_code",
            "cast(_raw as binary) as _raw",
        )


def age(path: Path, **by: float) -> Path:
    """Make a file look older."""
    past = (datetime.now(UTC) - timedelta(**by)).timestamp()
    os.utime(path, (past, past))
    return path
