"""Where the driver's JVM prints: the lake's log file instead of the terminal."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from ingest.errors import StorageFailed


@contextlib.contextmanager
def redirected(log: Path) -> Iterator[None]:
    """Start a JVM with its standard output and error in the file `log`, and SIGTERM ignored.

    A JVM prints notes at its start that no setting silences. SIGTERM to the process group is
    handled by Python: a JVM that starts with the signal ignored keeps ignoring it, and ends when
    its standard input closes. Raises StorageFailed.
    """
    for name in ("py4j", "SQLQueryContextLogger"):
        # Their stack traces repeat what is raised.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # py4j logs a JVM that has ended under the root logger's name.
    logging.getLogger().addFilter(_is_not_from_py4j)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("ab")
    except OSError as error:
        raise StorageFailed(f"{log}: {error.strerror}; the lake must be writable") from error
    sys.stdout.flush()
    sys.stderr.flush()
    with file:
        terminal = os.dup(1), os.dup(2)
        handler = signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            yield
        finally:
            signal.signal(signal.SIGTERM, handler)
            for number, copy in enumerate(terminal, 1):
                os.dup2(copy, number)
                os.close(copy)


def _is_not_from_py4j(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"
