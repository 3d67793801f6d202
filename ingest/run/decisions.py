"""Carry out a request: by the process that lands the stream, or here where there is none."""

from __future__ import annotations

from ingest.declarations.project import declared_streams
from ingest.errors import SelectionEmpty, StreamLocked
from ingest.lake import Lake
from ingest.run import requests
from ingest.run.lock import StreamLock
from ingest.run.progress import ProgressLog
from ingest.run.query import StreamQuery
from ingest.run.requests import Answer, Request
from ingest.run.runner import utc_now
from ingest.session import session

# How long a batch at work may keep an answer waiting.
_PATIENCE = 300.0


def carried_out(lake: Lake, request: Request) -> Answer:
    """The answer to a request, which stays where a batch has to be finished first.

    Raises SelectionEmpty where the stream is no longer declared.
    """
    stream = next((one for one in declared_streams() if one.name == request.stream), None)
    if stream is None:
        raise SelectionEmpty(f"{request.stream} is no longer declared")
    requests.leave(lake, request)
    try:
        with StreamLock(lake.lock(stream.table), stream.name):
            spark = session("ingest schema", lake.root)
            query = StreamQuery(spark, lake, stream, ProgressLog(spark, lake), utc_now)
            query.answer_requests()
            answer = requests.awaited(lake, request, 0.0)
            spark.stop()
    except StreamLocked:
        answer = requests.awaited(lake, request, _PATIENCE)
    return answer or Answer(True, "it is carried out when the batch at work is done")
