"""What macros of this process's own dbt write down and look up without Spark.

Spark takes a second for each where streams keep the processors busy; the last of them is what
says that a model is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from ingest.lake import Lake
from ingest.tables import table_log

# Rows past which Spark's tasks are quicker than this process, which reads them in one.
_MOST_ROWS = 2_000_000
# Spark's names of Arrow's types that a literal can be written of.
_KINDS = {
    "date32[day]": "date",
    "int32": "int",
    "int64": "bigint",
    "timestamp[us, tz=UTC]": "timestamp",
}


@dataclass(frozen=True, slots=True)
class Records:
    """Tables of a lake, by name."""

    lake: Lake

    def append(self, name: str, rows: Sequence[Sequence[Any]]) -> bool:
        """Append rows of values, in the order of its columns, to a table of bookkeeping.

        False where that asks more of who writes it: then Spark has to.
        """
        path = self.lake.ops(name)
        if not table_log.is_simple(path):
            return False
        if rows:
            table_log.append_rows(path, [list(map(_plain, row)) for row in rows])
        return True

    def last_commit(self, schema: str, name: str) -> Mapping[str, Any] | None:
        """What the newest commit to a table tells of itself; None where the table is elsewhere."""
        path = self.lake.table(schema, name)
        return table_log.last_commit(path) if self.lake.is_table(path) else None

    def values(
        self, schema: str, name: str, column: str, counter: str, after: int, up_to: int
    ) -> tuple[str, Sequence[str]] | None:
        """Spark's name of a column's type, and the values that rows have whose `counter` is in
        (after, up_to], as texts, in order; None where Spark has to look.
        """
        path = self.lake.table(schema, name)
        if not self.lake.is_table(path):
            return None
        found = table_log.distinct_values(path, column, counter, after, up_to, _MOST_ROWS)
        if found is None or not (kind := _KINDS.get(str(found.type))):
            return None
        try:
            return kind, [_text(value) for value in found.to_pylist()]
        except (ValueError, OverflowError):
            # Past the years that Python has.
            return None


def _text(value: Any) -> str:
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def _plain(value: Any) -> Any:
    """A value as Arrow takes it: dbt reads whole numbers as decimals."""
    return int(value) if isinstance(value, Decimal) else value
