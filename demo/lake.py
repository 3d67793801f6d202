"""The tables as somebody else's reader sees them: delta-rs and DataFusion, without Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

if TYPE_CHECKING:
    from pathlib import Path

LAYERS: Final = ("bronze", "silver", "gold")


class TableUnreadable(Exception):
    """Another reader than Spark cannot answer a question on a table."""

    def __init__(self, table: str, reason: str) -> None:
        self.table = table
        super().__init__(f"{table}: {' '.join(reason.split())}")


@dataclass(frozen=True, slots=True)
class Lake:
    """A lake folder with tables at `<schema>/<name>`."""

    root: Path

    def tables(self, layer: str) -> list[str]:
        """Names of the tables of a layer."""
        return sorted(log.parent.name for log in (self.root / layer).glob("*/_delta_log"))

    def holds(self, table: str) -> bool:
        """Whether there is a table `schema.name`."""
        return (self._folder(table) / "_delta_log").is_dir()

    def rows(self, sql: str, table: str) -> list[dict[str, Any]]:
        """Answer a question on one table, which the text calls `this`. Raises TableUnreadable."""
        if not self.holds(table):
            raise TableUnreadable(table, "there is no such table")
        try:
            delta = DeltaTable(self._folder(table))
            answer = QueryBuilder().register("this", delta).execute(sql).read_all()
        # delta-rs raises plain Exception for most of what DataFusion refuses.
        except Exception as problem:
            raise TableUnreadable(table, str(problem)) from problem
        rows: list[dict[str, Any]] = pa.table(answer).to_pylist()
        return rows

    def count(self, table: str) -> int:
        """Rows of a table."""
        return int(self.rows("select count(*) as n from this", table)[0]["n"])

    def _folder(self, table: str) -> Path:
        return self.root.joinpath(*table.split("."))
