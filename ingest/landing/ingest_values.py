"""SQL of the columns that landing adds to rows and to rejects."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from ingest.decoders.decoder import SOURCE

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def of_the_batch(value: str) -> str:
    """SQL of a value that all rows of a batch share, kept out of the code that Spark generates.

    A literal would stand in that code, and the JVM would compile it again for each batch.
    """
    return f"get(array({value}), octet_length({SOURCE}) * 0)"


def instant(at: datetime) -> str:
    """SQL of a moment."""
    return f"timestamp'{at.isoformat()}'"


def ingest_values(schema: StructType, values: Mapping[str, str]) -> list[str]:
    """SQL of each column. As text: Py4J would take a hundred calls to build it up."""
    return [
        f"cast({values.get(one.name, 'null')} as {one.dataType.simpleString()}) as {one.name}"
        for one in schema.fields
    ]
