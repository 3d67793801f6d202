"""Records that are read again from their places, as they travel to Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

# Held records, as Spark has them.
FOUND = "_source string, value binary, _position long"
_ARROW = pa.schema([("_source", pa.string()), ("value", pa.binary()), ("_position", pa.int64())])
# Records, and their bytes, that travel to Spark at once.
_MOST_ROWS, _MOST_BYTES = 1000, 1 << 24


def in_batches(found: Iterable[tuple[str, bytes, int | None]]) -> Iterator[pa.RecordBatch]:
    """Held records (path, bytes, position), as they travel to Spark."""
    rows: list[tuple[str, bytes, int | None]] = []
    size = 0
    for row in found:
        rows.append(row)
        size += len(row[1])
        if len(rows) == _MOST_ROWS or size > _MOST_BYTES:
            yield _arrow(rows)
            rows, size = [], 0
    if rows:
        yield _arrow(rows)


def _arrow(rows: Sequence[tuple[str, bytes, int | None]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, _ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW)
