"""What was recorded from Debezium: its messages, and what the database said itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "debezium"
FAR = "not in the years 1 to 9999: "


def lines(name: str) -> list[str]:
    """The lines of a file."""
    return gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode().split("\n")[:-1]


def truth(table: str) -> list[dict[str, str | None]]:
    """The rows of a table in the end, all values as text."""
    return [json.loads(line) for line in lines(f"truth/{table}")]
