"""The lake that commit c02def0 wrote; `tests/data/lake-c02def0/README.md` says how."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ARCHIVE: Final = Path(__file__).parent / "data" / "lake-c02def0" / "lake.tar.xz"
# Where its landing folders were. Everything else in a lake is found by relative paths.
_LANDING: Final = "/tmp/headwater/landing/"  # noqa: S108 - nothing is written there


def unpack(root: Path) -> None:
    """Unpack the lake to `<root>/lake` and its landing folders to `<root>/landing`."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(root, filter="data")
    for queue in (root / "lake" / "_files").iterdir():
        _move_landing_folder(queue, f"{root}/landing/")


def _move_landing_folder(queue: Path, landing: str) -> None:
    """Replace the landing folder's path in a file queue, which has absolute paths."""
    for file in queue.glob("*.parquet"):
        table = pq.read_table(file)
        paths = pc.replace_substring(table["path"].cast(pa.string()), _LANDING, landing)
        column = table.schema.get_field_index("path")
        pq.write_table(table.set_column(column, "path", paths), file)
    for log in (queue / "_delta_log").glob("*.json"):
        actions = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        for action in actions:
            if added := action.get("add"):
                added["size"] = (queue / added["path"]).stat().st_size
                added.pop("stats", None)
        log.write_text("".join(json.dumps(action) + "\n" for action in actions), "utf-8")
