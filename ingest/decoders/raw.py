"""Messages as they are: their bytes, which nothing can be wrong with."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ingest.decoders.decoder import NO_SCHEMA_ID, REF, RESCUED, ROW, Deferred, Requeued
from ingest.decoders.kafka_input import MessageInput

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The column of a message's bytes.
VALUE = "value"


class RawMessages:
    """Decoder of one batch of messages."""

    def __init__(self, messages: MessageInput) -> None:
        self._input = messages

    def learn(self, batch_id: int, now: datetime) -> None:
        """See Decoder: there is nothing to learn."""

    def decode(self) -> DataFrame:
        """See Decoder."""
        return self._input.messages.selectExpr(
            *self._input.provenance,
            f"cast(null as string) as {REF}",
            f"cast(null as string) as {RESCUED}",
            NO_SCHEMA_ID,
            f"named_struct('{VALUE}', {VALUE}) as {ROW}",
        )

    def with_row(self, decoded: DataFrame) -> DataFrame:
        """See Decoder."""
        return decoded

    def decode_deferred(
        self,
        refs: str,
        requeued: Requeued,  # noqa: ARG002
        batch_id: int,  # noqa: ARG002
        now: datetime,  # noqa: ARG002
    ) -> Deferred:
        """See Decoder: nothing is deferred."""
        raise AssertionError(f"raw messages are never deferred: {refs[:100]}")

    def removed(self, refs: str) -> int:  # noqa: ARG002
        """See Decoder: nothing is deferred."""
        return 0

    def close(self) -> None:
        """See Decoder."""
