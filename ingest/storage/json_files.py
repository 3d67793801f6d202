"""JSON files in storage, which are replaced as a whole."""

from __future__ import annotations

import json
from typing import Any

from ingest.storage.storage import Storage


def read_json(storage: Storage, key: str) -> Any | None:
    """Return the value of a JSON file; None where there is no file. Raises ValueError."""
    content = storage.read(key)
    return None if content is None else json.loads(content)


def write_json(storage: Storage, key: str, value: object) -> None:
    """Create or replace a JSON file. Raises OSError."""
    storage.put(key, json.dumps(value).encode() + b"\n")
