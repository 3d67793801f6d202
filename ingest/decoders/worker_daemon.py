"""What starts Spark's Python workers: `spark.python.daemon.module` names it.

Between two tasks a worker of Spark's own does what takes longer than a small task's work, and
longer the more modules it has loaded. This takes most of that away:

- It looks for all garbage. What is loaded before the first task is not garbage: it is loaded
  here, once for all workers, and garbage collection passes over it. Of what a task makes, next to
  nothing refers to itself, so it is looked through less often, too.
- It reads what is in each archive that modules may be in, and Spark has two in front: its own
  Python as a zip, and a jar. What is installed has the same modules in folders.
"""

from __future__ import annotations

import atexit
import gc
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

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


if __name__ == "__main__":
    _leave_archives()
    _load()
    _forget_archives()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_MADE_BETWEEN)
    # Modules of C report each of their objects that is left when Python ends.
    atexit.register(gc.unfreeze)
    runpy.run_module("pyspark.daemon", run_name="__main__", alter_sys=True)
