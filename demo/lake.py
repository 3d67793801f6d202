"""The tables as somebody else's reader sees them: delta-rs and DataFusion, without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from ingest.storage import layout, object_store

LAYERS: Final = ("bronze", "silver", "gold")


class TableUnreadable(Exception):
    """Another reader than Spark cannot answer a question on a table."""

    def __init__(self, table: str, reason: str) -> None:
        self.table = table
        super().__init__(f"{table}: {' '.join(reason.split())}")


@dataclass(frozen=True, slots=True)
class Lake:
    """A lake, a folder or its URL, with tables at `<schema>/<name>`."""

    root: str

    def tables(self, layer: str) -> list[str]:
        """Names of the tables of a layer."""
        found = (table.split(".") for table in layout.Lake(self.root).tables())
        return [name for schema, name in found if schema == layer]

    def holds(self, table: str) -> bool:
        """Whether there is a table `schema.name`."""
        return layout.is_table(self._url(table))

    def rows(self, sql: str, table: str) -> list[dict[str, Any]]:
        """Answer a question on one table, which the text calls `this`. Raises TableUnreadable."""
        if not self.holds(table):
            raise TableUnreadable(table, "there is no such table")
        try:
            url = self._url(table)
            delta = DeltaTable(url, storage_options=object_store.delta_options(url))
            answer = QueryBuilder().register("this", delta).execute(sql).read_all()
        # delta-rs raises plain Exception for most of what DataFusion refuses.
        except Exception as problem:
            raise TableUnreadable(table, str(problem)) from problem
        rows: list[dict[str, Any]] = pa.table(answer).to_pylist()
        return rows

    def count(self, table: str) -> int:
        """Rows of a table."""
        return int(self.rows("select count(*) as n from this", table)[0]["n"])

    def _url(self, table: str) -> str:
        return layout.Lake(self.root).table(*table.split("."))


def put_files(folder: Path, url: str) -> None:
    """Put the files of a folder that are not there yet below a URL."""
    storage = layout.storage_at(url)
    for path in sorted(folder.rglob("*")):
        key = path.relative_to(folder).as_posix()
        if path.is_file() and not storage.exists(key):
            storage.put(key, path.read_bytes())
