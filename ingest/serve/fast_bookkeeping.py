"""What macros of this process's own dbt write down and look up without Spark.

Spark takes a second for each where streams keep the processors busy; the last of them is what
says that a model is built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from ingest.storage import delta_log, delta_writes
from ingest.storage.layout import Lake

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
class FastBookkeeping:
    """Tables of a lake; `is_alone` says whether no other dbt builds."""

    lake: Lake
    is_alone: Callable[[], bool]

    def append(self, name: str, rows: Sequence[Sequence[Any]]) -> bool:
        """Append rows of values, in the order of its columns, to a table of bookkeeping.

        False where Spark has to: where the table asks more of who writes it, and where another dbt
        may write it, too. On a local disk only writers of one Java process are kept apart.
        """
        path = self.lake.ops(name)
        if not self.is_alone() or not delta_log.is_simple(path):
            return False
        if rows:
            delta_writes.append_rows(path, [list(map(_plain, row)) for row in rows])
        return True

    def last_commit(self, schema: str, name: str) -> Mapping[str, Any] | None:
        """`commitInfo` of the newest commit to a table; None where the table is elsewhere."""
        path = self.lake.table(schema, name)
        return delta_log.last_commit(path) if self.lake.is_table(path) else None

    def table_bytes(self, schema: str, name: str) -> int | None:
        """How large the files of a table are together; None where the table is elsewhere."""
        path = self.lake.table(schema, name)
        return sum(delta_log.sizes_of_files(path)) if self.lake.is_table(path) else None

    def affected_values(
        self, table: tuple[str, str], column: str, counter: str, batches: tuple[int, int]
    ) -> tuple[str, Sequence[str | None]] | None:
        """Spark's name of a column's type, and its values as texts, in order, None for null last.

        Those of rows whose `counter` is in (after, up to]; `table` is its schema and its name.
        None where Spark has to look.
        """
        path = self.lake.table(*table)
        if not self.lake.is_table(path):
            return None
        try:
            found = delta_log.distinct_values(path, column, counter, batches, most_rows=_MOST_ROWS)
            if found is None or not (kind := _KINDS.get(str(found.type))):
                return None
            values = found.to_pylist()
            return kind, [None if value is None else _text(value) for value in values]
        except (ValueError, OverflowError, OSError):
            # Years that Python does not have, a type that has grown in a way that Arrow does not.
            return None


def _text(value: Any) -> str:
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)


def _plain(value: Any) -> Any:
    """A value as Arrow takes it: dbt reads whole numbers as decimals."""
    return int(value) if isinstance(value, Decimal) else value
