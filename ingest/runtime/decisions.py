"""Carry out a request: by the process that lands the stream, or here where there is none."""

from __future__ import annotations

import time

from ingest.declarations.project import declared_streams
from ingest.declarations.stream import Stream
from ingest.errors import SelectionEmpty, StreamLocked
from ingest.runtime import requests
from ingest.runtime.progress import ProgressLog
from ingest.runtime.requests import Answer, Request
from ingest.runtime.runner import utc_now
from ingest.runtime.stream_query import StreamQuery
from ingest.spark.session import session, stop
from ingest.storage.layout import Lake
from ingest.storage.locks import stream_lock

# How long a batch at work may keep an answer waiting.
_PATIENCE = 300.0
_WAITS = Answer(True, "a batch is unfinished; this is carried out when it is done")


def carried_out(lake: Lake, request: Request) -> Answer:
    """The answer to a request, which stays where a batch has to be finished first.

    Raises SelectionEmpty where the stream is no longer declared.
    """
    stream = next((one for one in declared_streams() if one.name == request.stream), None)
    if stream is None:
        raise SelectionEmpty(f"{request.stream} is no longer declared")
    requests.leave(lake, request)
    until = time.monotonic() + _PATIENCE
    answer = None
    while answer is None and time.monotonic() < until:
        try:
            with stream_lock(lake, stream.table, stream.name):
                _carry_out(lake, stream)
                return requests.awaited(lake, request, 0.0) or _WAITS
        except StreamLocked:
            answer = requests.awaited(lake, request, 2.0)
    return answer or _WAITS


def _carry_out(lake: Lake, stream: Stream) -> None:
    """Answer what is asked of a stream that nobody else lands."""
    spark = session("ingest schema", lake.root)
    query = StreamQuery(spark, lake, stream, ProgressLog(lake), utc_now)
    query.answer_requests()
    stop(spark)
