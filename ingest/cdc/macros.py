"""Render the SQL macros of `macros/apply_changes` with plain Jinja, as dbt does.

Those in its folders are pure text of their arguments: no adapter, no graph, no query.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, StrictUndefined

from ingest import settings


def rendered(macro: str, plan: Mapping[str, Any]) -> str:
    """The text of one of these macros."""
    text: str = getattr(_macros(), macro)(plan)
    return text.strip()


def statements(macro: str, plan: Mapping[str, Any]) -> list[str]:
    """The statements of a macro that holds several, in order."""
    parts = rendered(macro, plan).split("-- next statement")
    return [part.strip() for part in parts if part.strip()]


@functools.cache
def _macros() -> Any:
    folder = settings.project_dir() / "macros" / "apply_changes"
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*/*.sql")))
    environment = Environment(  # noqa: S701 (SQL, not HTML)
        extensions=["jinja2.ext.do"], undefined=StrictUndefined
    )
    return environment.from_string(text).module
