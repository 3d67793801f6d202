"""Files of schemas that declarations name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ingest import settings
from ingest.registry.compatibility import why_not_readable
from ingest.registry.unsupported import unsupported


def schema_problems(declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, reason) where a declared file cannot be read, or holds no schema of Avro."""
    named = declared.get("avro", {}).get("schema")
    if not named:
        return
    path = Path(settings.located(named))
    try:
        text = path.read_text("utf-8")
        why_not_readable(text, text)
        if reason := _problem(json.loads(text)):
            yield "meta.ingest.avro.schema", f"{path}: {reason}"
    except OSError as error:
        yield "meta.ingest.avro.schema", f"{path}: {error.strerror}"
    except ValueError as error:
        yield "meta.ingest.avro.schema", f"{path}: {error}"


def _problem(schema: Any) -> str:
    """Why a sound schema is none of rows; empty where it is one."""
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind not in ("record", "error"):
        top = "a union" if isinstance(kind, list) else f"of type {kind}"
        return f"its top is {top}, and must be a record, whose fields become columns"
    return unsupported(schema)


def schema_text(declared: Mapping[str, Any]) -> str | None:
    """The schema that a sound declaration names."""
    named = declared.get("avro", {}).get("schema")
    return Path(settings.located(named)).read_text("utf-8") if named else None
