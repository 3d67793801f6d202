"""Files of schemas that declarations name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest import settings
from ingest.registry.compatibility import why_not_readable


def schema_problems(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, reason) where a declared file cannot be read, or holds no schema of Avro."""
    named = declared.get("avro", {}).get("schema")
    if not named:
        return
    path = Path(settings.located(named))
    try:
        text = path.read_text("utf-8")
        why_not_readable(text, text)
    except OSError as error:
        yield "meta.ingest.avro.schema", f"{path}: {error.strerror}"
    except ValueError as error:
        yield "meta.ingest.avro.schema", f"{path}: {error}"


def schema_text(declared: Mapping[str, Any]) -> str | None:
    """The schema that a sound declaration names."""
    named = declared.get("avro", {}).get("schema")
    return Path(settings.located(named)).read_text("utf-8") if named else None
