"""The writers' schemas of a batch of messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from ingest.decoders.arrow_batches import Batches
from ingest.registry.wire_format import headers_in, id_number, id_text, number_of


def numbers_of(messages: Batches) -> set[int]:
    """The ids of schemas that messages have."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = {
                number_of(value, headers)[0]
                for value, headers in zip(
                    batch["value"].to_pylist(), headers_in(batch["_headers"]), strict=True
                )
            }
            texts = [id_text(one) for one in found if one is not None]
            yield pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], ["number"])

    return {id_number(text) for text in messages.mapped(read, "number string").distinct("number")}
