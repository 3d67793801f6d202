"""Statements that several processes may run at the same moment, on a catalog that they share.

`create … if not exists` looks first and then creates, so that of two that look at once one fails.
What it wanted is there then: run again, it finds that.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

_Answer = TypeVar("_Answer")

# dbt puts a comment in front.
_CREATES = re.compile(
    r"^\s*create (?:(?:schema|database|table) if not exists|or replace view)\b",
    re.IGNORECASE | re.MULTILINE,
)
# Of Delta's log, of Spark's catalog, of Hive's metastore and of its database.
_LOST = re.compile(
    r"DELTA_PROTOCOL_CHANGED|DELTA_METADATA_CHANGED|DELTA_CONCURRENT_WRITE|ProtocolChangedException"
    r"|MetadataChangedException|ConcurrentWriteException"
    r"|ALREADY_EXISTS|AlreadyExistsException|DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
    r"|duplicate key value|NoSuchObjectException"
)
_TRIES = 5
# Seconds.
_REST = 0.5


def repeated(
    run: Callable[[], _Answer], statement: str, failures: tuple[type[Exception], ...]
) -> _Answer:
    """What `run`, which runs a statement, returns: again where another process was quicker.

    `failures` are how the caller's library raises what Spark says.
    """
    if not _CREATES.search(statement):
        return run()
    for attempt in range(1, _TRIES):
        try:
            return run()
        except failures as error:
            if not _LOST.search(str(error)):
                raise
        time.sleep(_REST * attempt)
    return run()
