"""What schemas of Avro say of columns (`doc`), as comments of a table's columns.

A column gets its comment in the commit that adds it, and no commit is made for comments alone:
Delta takes those of new columns from the rows that bring them, and passes over all others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ingest.declarations.stream import Stream
from ingest.registry.descriptions import descriptions
from ingest.schemas.stream_schema import AvroSchemas
from ingest.storage import delta_log


class Comments:
    """Comments of columns that the table at `path` does not have yet.

    A column that is declared is described there.
    """

    def __init__(self, path: str, stream: Stream) -> None:
        self._path = path
        self._are_columns = stream.is_plain_avro
        self._passed = {column.path[0] for column in stream.columns}
        # The last comments, and of which schemas.
        self._agreed, self._comments = AvroSchemas(), dict[str, str]()

    def of_new(self, columns: Collection[str], agreed: AvroSchemas) -> Mapping[str, str]:
        """Comments of those columns of a batch that are new; it is read by these schemas."""
        if agreed is not self._agreed:
            self._agreed = agreed
            self._comments = self._said(agreed) if self._are_columns else {}
        commented = self._comments.keys() & set(columns)
        if commented - self._passed:
            self._passed |= set(delta_log.column_names(self._path))
        return {name: self._comments[name] for name in commented - self._passed}

    def _said(self, agreed: AvroSchemas) -> dict[str, str]:
        texts = [*agreed.writers.values(), *([agreed.reader] if agreed.reader else [])]
        return {path[0]: text for path, text in descriptions(texts).items() if len(path) == 1}
