"""What starts Spark's Python workers: `spark.python.daemon.module` names it.

Between two tasks a worker of Spark's own does what takes longer than a small task's work, and
longer the more modules it has loaded. This takes most of that away:

- It looks for all garbage. What is loaded before the first task is not garbage: it is loaded
  here, once for all workers, and garbage collection passes over it. Of what a task makes, next to
  nothing refers to itself, so it is looked through less often, too.
- It reads what is in each archive that modules may be in, and Spark has two in front: its own
  Python as a zip, and a jar. What is installed has the same modules in folders.

And within each task a worker of Spark 4.0 waits: Spark sends the rows when the kernel has
acknowledged the task, which it does 40 ms later where nothing goes back to Spark meanwhile. Later
versions have Unix sockets (`spark.python.unix.domain.socket.enabled`), which do not wait.

What it writes to stderr is in the log of Spark.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import os
import socket
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ingest import settings

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# What is read of a socket at once, as in Spark.
_BUFFER = 65536
# Objects that are made between two looks for garbage.
_MADE_BETWEEN = 50_000


def _leave_archives() -> None:
    """Look for modules in folders only, where they have Spark's."""
    archives = [path for path in sys.path if Path(path).is_file()]
    sys.path[:] = [path for path in sys.path if path not in archives]
    if not (find_spec("pyspark") and find_spec("py4j")):
        # A cluster's own Spark may be there as archives only.
        sys.path[:0] = archives


def _forget_archives() -> None:
    for path in [one for one in sys.path_importer_cache if Path(one).is_file()]:
        del sys.path_importer_cache[path]


def _load() -> None:
    """Load what tasks use."""
    import pyspark.worker

    from ingest.decoders import avro, json, tabular

    # Named, so that nobody takes them for unused.
    _ = avro, json, tabular, pyspark.worker


class _Received(io.RawIOBase):
    """What a socket receives, of which the other side learns at once."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        count = self._connection.recv_into(buffer)
        # Linux forgets it.
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return count


_Main = Callable[[IO[bytes], IO[bytes]], None]


def prompt(main: _Main) -> _Main:
    """The same work on what a socket receives, which is acknowledged at once."""

    def work(infile: IO[bytes], outfile: IO[bytes]) -> None:
        with socket.socket(fileno=os.dup(infile.fileno())) as connection:
            main(io.BufferedReader(_Received(connection), _BUFFER), outfile)

    return work


def acknowledge_at_once(daemon: Any) -> None:
    """Have the workers of PySpark's daemon, a module, acknowledge at once what they receive."""
    is_unix = settings.environment().get("PYTHON_UNIX_DOMAIN_ENABLED", "").lower() == "true"
    if is_unix or not hasattr(socket, "TCP_QUICKACK"):
        return
    if hasattr(daemon, "worker_main"):
        daemon.worker_main = prompt(daemon.worker_main)
    else:
        print(
            "pyspark.daemon has no worker_main: each task waits 40 ms for what it receives",
            file=sys.stderr,
        )


if __name__ == "__main__":
    _leave_archives()
    _load()

    # Typed in some versions of PySpark only.
    daemon: Any = importlib.import_module("pyspark.daemon")

    _forget_archives()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_MADE_BETWEEN)
    # Modules of C report each of their objects that is left when Python ends.
    atexit.register(gc.unfreeze)
    acknowledge_at_once(daemon)
    daemon.manager()
