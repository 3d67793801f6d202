"""The types of a group whose tables a process of its own fills, beside the one that lands them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ingest.declarations.stream import Stream
from ingest.errors import TableChanged
from ingest.event_types import ops_table
from ingest.event_types.catalog import EventTypes, TypeTable
from ingest.event_types.ops_table import Filled
from ingest.storage import delta_log
from ingest.storage.layout import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OwnGroup:
    """Implements TypesToFill: what is written down of the types, read again at each turn."""

    def __init__(self, spark: SparkSession, lake: Lake, stream: Stream, group: str) -> None:
        self._spark, self._lake, self._stream, self._group = spark, lake, stream, group
        self._bronze = lake.bronze(stream.table)
        self._table_id = delta_log.table_id(self._bronze)

    def tables(self) -> tuple[int, Mapping[str, Sequence[TypeTable]]]:
        """See TypesToFill. Raises TableChanged where bronze is another table than before."""
        if delta_log.table_id(self._bronze) != self._table_id:
            raise TableChanged(f"{self._bronze} was replaced: start again")
        types = EventTypes(self._spark, self._lake, self._stream, application="")
        types.read()
        return types.tables(self._group)

    def have_filled(self, filled: Mapping[str, Filled]) -> None:
        """See TypesToFill."""
        ops_table.record_filled(self._lake, self._stream.name, filled)
