"""A project with a stream of events of many types, which land as `ingest run` lands them."""

from __future__ import annotations

import json
import shutil
import textwrap
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import yaml
from pyspark.sql import Row

from ingest.declarations.reading import read_stream
from ingest.declarations.stream import Stream
from ingest.runtime.progress import ProgressLog
from ingest.runtime.stream_query import StreamQuery, Trigger
from ingest.spark import delta_tables
from ingest.storage.layout import Lake as Folders
from tests.build.lake import ROOT, Lake

# What a project needs besides its models.
_LINKED: Final = ("dbt_project.yml", "profiles.yml", "macros", "seeds", "tests")
_OURS: Final = ("_checkpoints", "_files", "_locks", "_progress", "_logs")

MODELS: Final = {
    "stg_github__pushes.sql": """
        select id as event_id, ref, commits, _batch_id
        from {{ events_of('github', 'com.github.push') }}
    """,
    "push_events.sql": """
        {{ config(unique_key = 'event_id', skip_matched_step = true) }}
        select * from {{ ref('stg_github__pushes') }}
        where {{ incremental_filter(source('github', 'events')) }}
    """,
    "misspelt_events.sql": """
        select id from {{ events_of('github', 'com.github.pusch') }}
    """,
    "_github__models.yml": """
        version: 2
        models:
          - name: stg_github__pushes
            config: {materialized: view}
            columns:
              - {name: ref, data_type: string}
              - {name: commits, data_type: bigint}
    """,
}


@dataclass(frozen=True, slots=True)
class EventProject:
    """A project with the stream `github.events`, its landing folder, and the tests' lake."""

    lake: Lake
    landing: Path

    @property
    def folders(self) -> Folders:
        """The lake, as ingest sees it."""
        return Folders(str(self.lake.path))

    def empty(self) -> None:
        """Forget everything that has landed."""
        self.lake.empty()
        self.lake.spark.sql("drop schema if exists bronze_github cascade")
        shutil.rmtree(self.landing)
        self.landing.mkdir()
        for name in _OURS:
            shutil.rmtree(self.lake.path / name, ignore_errors=True)

    def land(self, *events: tuple[str, Mapping[str, Any]], **attributes: Any) -> None:
        """Land events, each a type and a payload, in a batch of their own."""
        number = len(list(self.landing.iterdir()))
        lines = [
            json.dumps(
                {"specversion": "1.0", "id": f"{number}-{position}", "source": "github"}
                | {"type": kind, "time": "2026-11-01T12:00:00Z", "data": payload}
                | attributes
            )
            for position, (kind, payload) in enumerate(events)
        ]
        (self.landing / f"{number}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        folders, query = self.folders, self._query()
        query.discover()
        query.start(Trigger.AVAILABLE_NOW)
        query.wait()
        assert query.error is None, query.error
        delta_tables.register(folders, [(query.stream.table, query.stream.name, "bronze")])

    def fill(self) -> None:
        """Fill the tables of types that have some of their own."""
        assert self._query().fill_tables(threading.Event()) == []

    def _query(self) -> StreamQuery:
        spark, folders = self.lake.spark, self.folders
        progress = ProgressLog(folders)
        return StreamQuery(spark, folders, self.stream(), progress, lambda: datetime.now(UTC))

    def declare(self, **ingest: str) -> None:
        """Declare the stream anew, with these keys."""
        declared = {"from": "files", "path": str(self.landing), "format": "json"}
        declared |= {"envelope": "cloudevents", **ingest}
        table = {
            "name": "events",
            "identifier": "github__events",
            "config": {"meta": {"ingest": declared}},
            "columns": [{"name": "data.commits", "data_type": "bigint"}],
        }
        source = {"name": "github", "schema": "bronze", "tables": [table]}
        (self.lake.project / "models" / "bronze" / "github.yml").write_text(
            yaml.safe_dump({"version": 2, "sources": [source]}), encoding="utf-8"
        )

    def stream(self) -> Stream:
        """The stream, as it is declared."""
        text = (self.lake.project / "models" / "bronze" / "github.yml").read_text(encoding="utf-8")
        table = yaml.safe_load(text)["sources"][0]["tables"][0]
        place = {"unique_id": "a", "original_file_path": "github.yml", "source_name": "github"}
        columns = {column["name"]: column for column in table.get("columns", [])}
        return read_stream({**table, **place, "schema": "bronze", "columns": columns})

    def rows(self, query: str) -> list[Row]:
        """Rows of a query on dbt's catalog."""
        return self.lake.spark.sql(query).collect()


def event_project(lake: Lake, root: Path) -> EventProject:
    """A project in a folder of its own: the checked-in models, the stream, and MODELS."""
    project, landing = root / "project", root / "landing"
    project.mkdir()
    landing.mkdir()
    for name in _LINKED:
        (project / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "models", project / "models")
    folder = project / "models" / "silver" / "github"
    folder.mkdir()
    for name, text in MODELS.items():
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    made = EventProject(Lake(lake.path, root / "target", lake.profiles, project), landing)
    made.declare(per_type="views")
    return made
